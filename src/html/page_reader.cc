#include "html/page_reader.h"

#include "html/page_sink.h"

namespace portolan {

struct PageReader::State {
  explicit State(const PageOptions& options) : sink(options, page), tokenizer(sink, options.tokenizer) {}

  void Begin() {
    sink.Begin();
    tokenizer.Reset();
  }
  const Page& End() {
    sink.Finish();
    page.cut = tokenizer.cut();
    done = true;
    return page;
  }

  Page page;
  PageSink sink;
  Tokenizer<PageSink> tokenizer;
  bool done = false;
};

PageReader::PageReader(const PageOptions& options) : state_(std::make_unique<State>(options)) {}
PageReader::~PageReader() = default;

const Page& PageReader::Read(std::string_view html) {
  state_->Begin();
  state_->tokenizer.Read(html);
  return state_->End();
}

void PageReader::Feed(std::string_view piece) {
  if (state_->done) {
    state_->Begin();
    state_->done = false;
  }
  state_->tokenizer.Feed(piece);
}

const Page& PageReader::Finish() {
  if (state_->done) {
    state_->Begin();
    state_->done = false;
  }
  state_->tokenizer.Finish();
  return state_->End();
}

}  // namespace portolan
