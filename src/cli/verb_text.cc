// portolan text: what the pages of a crawl say, from its text log.

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/crawl_sources.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "flow/output_records.h"
#include "follow/output_sources.h"
#include "io/env.h"

namespace portolan {
namespace {

struct TextFlags {
  std::string dir;
  std::string url;
  std::string language;
  bool json = false;
  bool visible = false;
};

std::string TextOf(const TextRecord& page, const TextFlags& flags) {
  return flags.visible ? std::string(page.text) : MainTextOf(page);
}

std::string JsonOf(const TextRecord& page, const TextFlags& flags) {
  std::string line =
      fmt::format(R"({{"url":{},"time":{},"title":{})", JsonQuote(page.url), page.unix_ms, JsonQuote(page.title));
  const auto add = [&line](std::string_view name, std::string_view value) {
    if (!value.empty()) line += fmt::format(R"(,"{}":{})", name, JsonQuote(value));
  };
  add("description", page.description);
  add("published", page.published);
  add("language", page.language);
  if (page.confidence > 0) line += fmt::format(R"(,"confidence":{})", page.confidence);
  add("headings", page.headings);
  line += fmt::format(R"(,"text":{}}})", JsonQuote(TextOf(page, flags)));
  return line + "\n";
}

// One page for people: its fields, an empty line, its text.
std::string PageOf(const TextRecord& page, const TextFlags& flags) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format("{:<13}{}\n", fmt::format("{}:", name), value);
  };
  add("url", page.url);
  add("title", page.title);
  add("description", page.description);
  add("published", page.published);
  add("language",
      page.confidence > 0 ? fmt::format("{} ({} %)", page.language, page.confidence) : std::string(page.language));
  out += '\n';
  out += TextOf(page, flags);
  return out + "\n";
}

std::string RowOf(const TextRecord& page, const TextFlags& flags) {
  return fmt::format("{:<8} {:<10.10} {:>8} {}\n", page.language, page.published, TextOf(page, flags).size(), page.url);
}

Status PrintText(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return Fail(ErrorCode::kIo, "standard output cannot be written");
}

// Whether `tag` is the language that was asked for, or a variety of it.
bool IsLanguage(std::string_view tag, std::string_view wanted) {
  return tag.starts_with(wanted) && (tag.size() == wanted.size() || tag[wanted.size()] == '-');
}

// How many pages were printed.
Result<uint64_t> PrintPages(const TextFlags& flags, const std::vector<CommittedSource>& logs) {
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(Env::Posix(), logs));
  uint64_t printed = 0;
  bool malformed = false;
  const auto each = [&](std::string_view record, uint32_t /*tag*/) -> Status {
    const auto page = ParseTextRecord(record);
    if (!page) {
      malformed = true;
      return {};
    }
    if (!flags.url.empty() && page->url != flags.url) return {};
    if (!flags.language.empty() && !IsLanguage(page->language, flags.language)) return {};
    ++printed;
    if (flags.json) return PrintText(JsonOf(*page, flags));
    return PrintText(flags.url.empty() ? RowOf(*page, flags) : PageOf(*page, flags));
  };
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reader.Next(each));
  }
  if (malformed) {
    return Fail(ErrorCode::kCorrupt, flags.dir + ": a record of the text log does not parse; run 'portolan check'");
  }
  return printed;
}

}  // namespace

int RunText(int argc, char** argv) {
  VerbApp app(
      "text",
      "Shows what the pages of a crawl say, if it was made with outputs.text: one line per page with its\n"
      "language, date of publication, bytes of main text and URL; of one URL title, description and main text.\n"
      "Reads what the last checkpoint holds, whether the crawl runs or not.");
  TextFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("url", flags.url, "Only this page, whole; as the crawl stores the URL")->type_name("URL");
  app->add_option("--language", flags.language, "Only pages in this language, and its varieties: zh, zh-Hant")
      ->type_name("TAG");
  app->add_flag("--visible", flags.visible, "All visible text instead of the main text");
  app->add_flag("--json", flags.json, "One JSON object per line, with the text");
  app.Footer(
      "The main text is the visible text without navigation, advertising and comments; a page without prose has\n"
      "none. A page that was fetched twice is there twice.\n\n"
      "Examples:\n"
      "  portolan text crawl-example.org --language de\n"
      "  portolan text crawl-example.org https://example.org/about\n"
      "  portolan text crawl-example.org --json > pages.jsonl");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto crawl = flags.url.empty() ? OpenCrawlSources(flags.dir) : OpenCrawlSourceOf(flags.dir, flags.url);
  if (!crawl) return Complain(crawl.error());
  const auto committed = FindCommitted(Env::Posix(), crawl->TextLogs());
  if (!committed) return Complain(committed.error());
  if (committed->empty()) {
    PrintError(fmt::format("{}: this crawl has no text log; start the crawl with --set outputs.text=true to get one",
                           flags.dir));
    return kExitBadInput;
  }
  const auto printed = PrintPages(flags, *committed);
  if (!printed) return Complain(printed.error());
  if (std::fflush(stdout) != 0) return Complain(Error(ErrorCode::kIo, "standard output cannot be written"));
  if (*printed == 0 && !flags.url.empty()) {
    PrintError(fmt::format("{}: the text log has no page {}; 'portolan why {} URL' says what became of it", flags.dir,
                           flags.url, flags.dir));
    return kExitBadInput;
  }
  return kExitOk;
}

}  // namespace portolan
