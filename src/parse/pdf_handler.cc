#include "parse/pdf_handler.h"

#include <algorithm>

#include "base/ascii.h"
#include "flow/output_records.h"
#include "html/collapse.h"
#include "html/utf8_check.h"
#include "io/child_program.h"

namespace portolan {
namespace {

constexpr uint64_t kMaxFrames = uint64_t{16} << 20;
constexpr int kNoMemoryCode = 3;    // of portolan-pdf
constexpr int kProcessorTime = 24;  // SIGXCPU
constexpr int kKilled = 9;          // at the hard limit of processor time

void AppendCollapsed(std::string_view text, size_t limit, std::string& out) {
  text = text.substr(0, ValidUtf8Prefix(text));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find_first_of("\n\f"));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Collapser gaps;
    std::string collapsed;
    gaps.Append(collapsed, 0, limit, line);
    if (collapsed.empty()) continue;
    if (out.size() + collapsed.size() + 1 > limit) return;
    if (!out.empty()) out += '\n';
    out += collapsed;
  }
}

PdfOutcome OutcomeOf(const ChildResult& result) {
  switch (result.end) {
    case ChildEnd::kExited:
      if (result.code == kNoMemoryCode) return PdfOutcome::kTooLarge;
      return result.code == 0 ? PdfOutcome::kRead : PdfOutcome::kCrashed;
    case ChildEnd::kSignalled:
      return result.code == kProcessorTime || result.code == kKilled ? PdfOutcome::kTimeout : PdfOutcome::kCrashed;
    case ChildEnd::kTimeout:
      return PdfOutcome::kTimeout;
    case ChildEnd::kTooMuchOutput:
      return PdfOutcome::kTooLarge;
    case ChildEnd::kStopped:
      return PdfOutcome::kStopped;
    case ChildEnd::kNotStarted:
      break;
  }
  return PdfOutcome::kNoReader;
}

}  // namespace

std::string_view PdfOutcomeName(PdfOutcome outcome) {
  switch (outcome) {
    case PdfOutcome::kRead:
      break;
    case PdfOutcome::kEncrypted:
      return "pdf_encrypted";
    case PdfOutcome::kBroken:
      return "pdf_broken";
    case PdfOutcome::kTooLarge:
      return "pdf_too_large";
    case PdfOutcome::kTimeout:
      return "pdf_timeout";
    case PdfOutcome::kCrashed:
      return "pdf_crashed";
    case PdfOutcome::kNoReader:
      return "pdf_no_reader";
    case PdfOutcome::kStopped:
      return "pdf_stopped";
  }
  return "";
}

PdfText ParsePdfFrames(std::string_view frames) {
  constexpr size_t kHeader = 5;
  PdfText pdf;
  PdfOutcome status = PdfOutcome::kCrashed;
  while (frames.size() >= kHeader) {
    const char tag = frames[0];
    size_t size = 0;
    for (size_t i = 0; i < 4; ++i) size |= static_cast<size_t>(static_cast<uint8_t>(frames[1 + i])) << (8 * i);
    if (size > frames.size() - kHeader) return pdf;
    const std::string_view bytes = frames.substr(kHeader, size);
    frames.remove_prefix(kHeader + size);
    switch (tag) {
      case 'S':
        status = bytes == "ok"          ? PdfOutcome::kRead
                 : bytes == "encrypted" ? PdfOutcome::kEncrypted
                 : bytes == "broken"    ? PdfOutcome::kBroken
                                        : PdfOutcome::kCrashed;
        break;
      case 'T':
        pdf.title.clear();
        AppendCollapsed(bytes, kMaxRecordTitle, pdf.title);
        std::ranges::replace(pdf.title, '\n', ' ');
        break;
      case 'X':
        AppendCollapsed(bytes, kMaxPageText, pdf.text);
        break;
      case 'L':
        pdf.links.emplace_back(bytes);
        break;
      case 'E':
        pdf.outcome = frames.empty() ? status : PdfOutcome::kCrashed;
        return pdf;
      default:
        return pdf;
    }
  }
  return pdf;
}

PdfText ReadPdf(std::string_view document, const PdfOptions& options) {
  const std::string seconds = std::to_string(std::max<int64_t>(1, options.max_wait_ns / 1'000'000'000));
  const ChildResult result =
      RunChildProgram({options.program, seconds, std::to_string(options.max_memory)}, document,
                      {.max_wait_ns = options.max_wait_ns, .max_output = kMaxFrames}, options.stop.get());
  PdfText pdf;
  pdf.outcome = OutcomeOf(result);
  if (pdf.outcome == PdfOutcome::kRead) pdf = ParsePdfFrames(result.output);
  if (pdf.outcome == PdfOutcome::kRead) return pdf;
  return {.outcome = pdf.outcome, .title = {}, .text = {}, .links = {}};
}

bool PdfHandler::Takes(const PageView& view, const PageResult& result) const {
  return view.readable && result.status / 100 == 2 && result.kind == UrlKind::kPage &&
         view.sniffed.essence == "application/pdf";
}

void PdfHandler::Read(PageView& view, PageResult& result) {
  text_ = ReadPdf(view.body, options_);
  if (text_.outcome != PdfOutcome::kRead) {
    if (result.detail.empty()) result.detail = PdfOutcomeName(text_.outcome);
    return;
  }
  links_.Begin(view.url, result, text_.links.size(), max_links_);
  for (const std::string& link : text_.links) links_.Add(link, 0);
  view.text = text_.text;
  view.text_title = text_.title;
  result.title = CutUtf8(text_.title, kMaxTitle);
}

bool MayBePdf(const FetchResponse& response) {
  constexpr std::string_view kType = "application/pdf";
  if (response.body.starts_with("%PDF-")) return true;
  const std::string_view head = response.response_head;
  for (size_t at = 0; at + kType.size() <= head.size(); ++at) {
    if ((head[at] | 0x20) == 'a' && EqualsIgnoringCase(head.substr(at, kType.size()), kType)) return true;
  }
  return false;
}

}  // namespace portolan
