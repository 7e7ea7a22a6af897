// portolan search: pages of a crawl by their words.

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/search_place.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "io/clock.h"
#include "io/env.h"
#include "search/searcher.h"

namespace portolan {
namespace {

struct SearchFlags {
  std::string dir;
  std::vector<std::string> words;
  size_t limit = 10;
  size_t offset = 0;
  size_t cached = 0;
  bool json = false;
  bool explain = false;
  RemoteFlags remotes;
};

// Marks words on a terminal, and only there.
class TextStyle {
 public:
  explicit TextStyle(bool terminal) : terminal_(terminal) {}
  std::string Of(const MarkedText& pieces) const {
    std::string out;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool mark = i % 2 == 1 && terminal_;
      out += (mark ? "\033[1m" : "") + Printable(pieces[i]) + (mark ? "\033[0m" : "");
    }
    return out;
  }

 private:
  const bool terminal_;
};

std::string HitText(size_t rank, const SearchHit& hit, const SearchPage::Shown& shown, const TextStyle& style) {
  const std::string number = fmt::format("{:>3}. ", rank);
  const std::string indent(number.size(), ' ');
  std::string out = number + (hit.document.data.title.empty() ? "(no title)" : style.Of(shown.title)) + "\n";
  out += indent + Printable(hit.document.data.url) + "\n";
  if (!shown.snippet.empty()) out += indent + style.Of(shown.snippet) + "\n";
  const std::string published = DateOfValue(hit.document.published);
  out += indent + (published.empty() ? "fetched " + DateOfValue(hit.document.fetched).substr(0, 10)
                                     : "published " + published.substr(0, 10));
  if (hit.similar > 0) out += fmt::format(", {} similar {}", hit.similar, hit.similar == 1 ? "page" : "pages");
  if (!hit.local) out += ", from " + Printable(hit.part);
  out += fmt::format(", score {:.3f}\n", hit.score);
  for (const auto& reason : hit.reasons) {
    out += fmt::format("{}{:>9.3f}  {:<8} {}\n", indent, reason.score, reason.field, Printable(reason.word));
  }
  return out + "\n";
}

std::string AnswerText(const SearchPage& page, const TextStyle& style) {
  const SearchAnswer& answer = page.answer;
  std::string out;
  for (size_t i = 0; i < answer.hits.size(); ++i) {
    out += HitText(page.question.offset + i + 1, answer.hits[i], page.shown[i], style);
  }
  out += fmt::format("{}{} of {} pages, {:.1f} ms", answer.exact ? "" : "about ",
                     FormatCount(static_cast<double>(answer.matches)), FormatCount(static_cast<double>(answer.pages)),
                     page.ms);
  if (!answer.all_words) out += "; no page has all of the words, these have some";
  if (answer.more) out += fmt::format("; for more: --offset {}", page.question.offset + answer.hits.size());
  return out + "\n";
}

int PrintCached(Searcher& searcher, const SearchPage& page, size_t number) {
  if (number > page.answer.hits.size()) {
    PrintError(fmt::format("there is no result {}", number));
    return kExitBadInput;
  }
  const SearchHit& hit = page.answer.hits[number - 1];
  if (!hit.local) {
    PrintError(fmt::format("{}: its text is on the machine that crawled it", Printable(hit.document.data.url)));
    return kExitBadInput;
  }
  const auto cached = searcher.Cached(hit.document.data.url);
  if (!cached) return Complain(cached.error());
  fmt::print("{}\n{}\n\n", Printable(cached->document.data.title), Printable(cached->document.data.url));
  std::string_view rest = cached->text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    fmt::print("{}\n", Printable(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return kExitOk;
}

int Search(const SearchFlags& flags) {
  const auto options = SearcherOptionsOf(flags.dir, flags.remotes);
  if (!options) return Complain(options.error());
  Searcher searcher(Env::Posix(), Clock::Real(), *options);
  SearchQuestion question{.offset = flags.offset, .limit = flags.limit, .explain = flags.explain};
  for (const std::string& word : flags.words) question.words += (question.words.empty() ? "" : " ") + word;
  if (flags.cached > 0) {
    question.offset = flags.cached - 1;
    question.limit = 1;
  }
  const auto page = searcher.Ask(question);
  if (!page) {
    const int code = Complain(page.error());
    return page.error().code() == ErrorCode::kBusy ? kExitUsage : code;  // the question asks for too much
  }
  for (const auto& left_out : page->answer.left_out) {
    PrintError(fmt::format("a part of the index is left out: {}", Printable(left_out.why)));
  }
  if (flags.cached > 0) return PrintCached(searcher, *page, 1);
  const std::string out = flags.json ? SearchJson(*page) : AnswerText(*page, TextStyle(::isatty(STDOUT_FILENO) == 1));
  if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
    return Complain(Error(ErrorCode::kIo, "standard output cannot be written"));
  }
  return page->answer.hits.empty() ? kExitVerdict : kExitOk;
}

}  // namespace

int RunSearch(int argc, char** argv) {
  VerbApp app("search",
              "Finds pages of a crawl by their words, best first, in the index that 'portolan index build' made:\n"
              "title, URL, the piece of text with most of the words, date, score. Exit code 1: nothing was found.");
  SearchFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("words", flags.words,
                  "What to look for; put it in quotes for the shell. Words with '-' in front "
                  "come behind --")
      ->required()
      ->type_name("WORDS");
  app->add_option("--limit", flags.limit, "How many pages")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--offset", flags.offset, "Leave out the first of them")->type_name("N")->check(CLI::Range(0, 1000));
  app->add_flag("--explain", flags.explain, "Of what each score is made: words in fields, and the static score");
  app->add_option("--cached", flags.cached, "The text of the N-th page as it was fetched, instead of the list")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app->add_flag("--json", flags.json, "One JSON object, as GET /search?json of 'portolan serve' (docs/serve.md)");
  flags.remotes.AddTo(app);
  app.Footer(
      "A page is found if it has all words, in any of their forms, in its text, title, headings, address, or in texts\n"
      "of links to it. \"moby dick\": just so, in this order. site:example.org lang:de type:application/pdf\n"
      "after:2024-05-01 before:2025 narrow it, -word leaves pages out, a OR b is either. Pages that say nearly the\n"
      "same are one result.\n\n"
      "Examples:\n"
      "  portolan search crawl-example.org 'white whale site:example.org'\n"
      "  portolan search crawl-example.org '\"moby dick\" -film' --explain\n"
      "  portolan search crawl-example.org whale --cached 1\n"
      "  portolan search crawl-example.org whale --remote 127.0.0.1:8019 --json");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return Search(flags);
}

}  // namespace portolan
