// PdfHandler: text and links of PDF documents, read by poppler in a process of its own (cli/main/pdf_main.cc).
//
// One process per document, so that a crash, a stall or a leak ends with it; what went wrong has a name in the crawl
// log (PdfOutcome). The caller waits up to max_wait_ns: an engine gives such answers to a thread of their own and not
// to its fetch threads.
//
// Thread: one owner. Memory bound: kMaxFrames here; max_memory in the other process.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"

namespace portolan {

enum class PdfOutcome : uint8_t {
  kRead,
  kEncrypted,  // and needs a password
  kBroken,     // poppler cannot read it
  kTooLarge,   // it needs more memory than it may have, or gives more output
  kTimeout,    // of processor time, or of time at all
  kCrashed,    // a signal ended the reader, or its answer is not complete
  kNoReader,   // the program is not there
  kStopped,    // the crawl ends
};
std::string_view PdfOutcomeName(PdfOutcome outcome);  // "pdf_encrypted"; empty for kRead

struct PdfText {
  PdfOutcome outcome = PdfOutcome::kCrashed;
  std::string title;  // UTF-8, white space collapsed
  std::string text;   // UTF-8, lines as in the document, words separated by one blank
  std::vector<std::string> links;
};

// What the reader wrote. Any bytes; what is no frame, or behind the end, makes it kCrashed.
PdfText ParsePdfFrames(std::string_view frames);

// Runs the reader. `stop` may be null.
PdfText ReadPdf(std::string_view document, const PdfOptions& options);

class PdfHandler : public ContentHandler {
 public:
  explicit PdfHandler(const PageMakerOptions& options)
      : options_(options.pdf), max_links_(options.max_links), links_(options.link) {}

  bool Takes(const PageView& view, const PageResult& result) const override;
  void Read(PageView& view, PageResult& result) override;

 private:
  const PdfOptions options_;
  const uint32_t max_links_;
  LinkSink links_;
  PdfText text_;
};

// Whether an answer may be a PDF document: by its Content-Type, or by how its body begins. Cheap.
bool MayBePdf(const FetchResponse& response);

}  // namespace portolan
