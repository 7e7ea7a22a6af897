// What a search index reads: its small texts and packed bytes, lines of the crawl log, and records of the text log, of
// which documents are made. Whatever parses is written and read again as the same; any page makes a document whose
// terms a database takes. The first byte says what the rest is.

#include <xapian.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "flow/output_records.h"
#include "index/document_maker.h"
#include "index/gone_pages.h"
#include "index/index_current.h"
#include "index/index_part.h"
#include "index/inlinks.h"
#include "index/schema.h"

namespace portolan {
namespace {

constexpr size_t kMostTerm = 245;  // of Xapian's databases

DocumentMaker& Maker() {
  static DocumentMaker maker = [] {
    auto made = DocumentMaker::Create();
    CHECK(made);
    return *std::move(made);
  }();
  return maker;
}

void CheckDocument(const TextRecord& page, std::string_view inlinks) {
  auto document = Maker().Make(page, {}, inlinks);
  CHECK(document);
  for (auto term = document->termlist_begin(); term != document->termlist_end(); ++term) {
    CHECK((*term).size() <= kMostTerm);
  }
  CHECK(Maker().ReplaceInlinks(*document, {}));
  CHECK(document->get_value(kScoreSlot).empty());
}

}  // namespace
}  // namespace portolan

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  if (size == 0 || size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      if (const auto parsed = DocumentData::Decode(bytes)) CHECK(DocumentData::Decode(parsed->Encode()) == parsed);
      break;
    case 1:
      if (const auto current = IndexCurrent::Parse(bytes, "index/CURRENT")) CHECK(current->ToText() == bytes);
      break;
    case 2:
      if (const auto state = IndexState::Parse(bytes)) CHECK(IndexState::Parse(state->ToText()) == state);
      break;
    case 3:
      if (const auto page = ParseGonePage(bytes)) CHECK(!page->url.empty() && page->fetched.size() == 14);
      PublishedValue(bytes);
      break;
    case 4:
      if (const auto page = ParseTextRecord(bytes)) CheckDocument(*page, {});
      break;
    default:
      CheckDocument({.url = bytes, .title = bytes, .language = "en", .headings = bytes, .text = bytes}, bytes);
      break;
  }
  return 0;
}
