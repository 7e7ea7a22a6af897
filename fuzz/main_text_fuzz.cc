// Any bytes as a page: ranges of main text in order and inside the text, the same every time; a date that is a date; a
// language with a code. The first byte is the setup; what stands behind a NUL at the end is what a PDF reader wrote.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "html/page_reader.h"
#include "html/utf8_check.h"
#include "parse/pdf_handler.h"
#include "text/language.h"
#include "text/main_text.h"
#include "text/page_facts.h"

namespace {

using portolan::Page;
using portolan::PageOptions;
using portolan::PageReader;
using portolan::TextRange;

void CheckPdf(std::string_view frames) {
  const portolan::PdfText pdf = portolan::ParsePdfFrames(frames);
  CHECK(pdf.text.size() <= (size_t{1} << 20) && pdf.title.size() <= 1024);
  CHECK(portolan::ValidUtf8Prefix(pdf.text) == pdf.text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t setup = data[0];
  std::string_view html(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckPdf(html);
  html = html.substr(0, portolan::ValidUtf8Prefix(html));
  PageOptions options{.text = true, .headings = true, .outline = true, .facts = true};
  if ((setup & 1) != 0) {
    options.max_outline = 7;
    options.max_outline_names = 700;
    options.max_text_bytes = 300;
    options.max_script_bytes = 20;
    options.max_metas = 2;
  }
  PageReader reader(options);
  const Page& page = reader.Read(html);
  CHECK(page.outline.size() <= options.max_outline && page.outline_names.size() <= options.max_outline_names);
  uint32_t before = 0;
  for (const portolan::OutlineEvent& event : page.outline) {
    CHECK(event.text_at >= before && event.text_at <= page.text.size());
    before = event.text_at;
    CHECK(event.names_begin + event.names_size <= page.outline_names.size());
  }
  portolan::MainTextFinder finder;
  const std::vector<TextRange> ranges = finder.Find(page);
  uint32_t end = 0;
  for (const TextRange& range : ranges) {
    CHECK(range.size > 0 && range.begin >= end);
    end = range.begin + range.size;
    CHECK(end <= page.text.size());
  }
  CHECK(finder.Find(page) == ranges, "the second time is the first time");
  std::string main;
  portolan::JoinRanges(page.text, ranges, main);
  CHECK(portolan::ValidUtf8Prefix(main) == main.size(), "ranges begin and end between characters");
  const portolan::PageFacts facts = portolan::FindPageFacts(page, html);
  CHECK(facts.published.empty() || portolan::NormaliseDate(facts.published) == facts.published);
  CHECK(facts.description.size() <= portolan::kMaxDescription);
  const portolan::LanguageGuess guess =
      portolan::DetectLanguage(html, {.html_lang = page.View(page.lang), .content_language = html, .host = html});
  CHECK(!guess.code.empty() && guess.confidence <= 100);
  return 0;
}
