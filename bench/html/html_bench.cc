// Links out of real pages in memory: our reader beside a gumbo tree, both followed by the same URL work.
//
//   portolan bench html [--pages DIR] [--rounds N]
//
// First the answers: our links of each page against those of gumbo's tree. Then times, one thread, the best of N
// rounds.

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "bench/benchmark.h"
#include "bench/html/gumbo_links.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "html/tokenizer.h"
#include "html/utf8_check.h"

namespace portolan::bench {
namespace {

struct Document {
  std::string name;
  std::string html;
  Url url;
};

Result<std::vector<Document>> LoadPages(const std::string& folder) {
  std::ifstream index(folder + "/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, folder + "/index.tsv: real pages are needed, see --pages");
  std::vector<Document> documents;
  std::string row;
  std::getline(index, row);
  while (std::getline(index, row)) {
    std::vector<std::string> fields(1);
    for (const char c : row) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    Document& document = documents.emplace_back();
    document.name = fields[0];
    std::ifstream in(folder + "/" + fields[0], std::ios::binary);
    document.html.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (fields.size() < 5 || document.url.Assign(fields[4]) != UrlStatus::kOk) {
      document.url.Assign("http://pages.test/" + fields[0]);
    }
  }
  return documents;
}

// Every tag with its attributes, no text: the bare tokenizer.
struct CountingSink {
  static constexpr bool kWantsMarkup = false;
  bool WantsText() const { return false; }
  void Text(std::string_view) {}
  bool WantsTag(Tag, bool) const { return true; }
  TextState StartTag(const TagToken& tag) {
    attributes += tag.attributes.size();
    return TextStateAfter(tag.tag);
  }
  void EndTag(const TagToken&) {}
  bool InForeignContent() const { return false; }

  size_t attributes = 0;
};

using Lines = std::vector<std::string>;

Lines OurLines(const Page& page) {
  Lines lines;
  for (const PageLink& link : page.links) {
    if (link.element == Tag::kImage && link.attribute == LinkAttribute::kHref) continue;  // of SVG: not asked of gumbo
    lines.push_back(std::string(link.element == Tag::kImage ? "img" : TagName(link.element)) + '\t' +
                    std::string(LinkAttributeName(link.attribute)) + '\t' + std::string(page.View(link.url)));
  }
  return lines;
}

Lines GumboLines(const GumboLinks& found, bool copies) {
  Lines lines;
  for (const GumboLink& link : found.links) {
    if (link.copy && !copies) continue;
    lines.push_back(std::string(link.tag) + '\t' + std::string(link.attribute) + '\t' + std::string(link.value));
  }
  return lines;
}

// Why gumbo's list differs from ours, or nothing that we know.
std::string_view Why(const Document& document, const Page& page, const GumboLinks& found) {
  const Lines ours = OurLines(page);
  if (GumboLines(found, true) == ours) return "equal";
  if (GumboLines(found, false) == ours) return "gumbo copies open <a> elements";
  Lines sorted_ours = ours;
  Lines sorted_theirs = GumboLines(found, false);
  std::ranges::sort(sorted_ours);
  std::ranges::sort(sorted_theirs);
  if (sorted_ours == sorted_theirs) return "gumbo's tree has another order (content moved out of a table)";
  if (!IsUtf8(document.html)) return "not UTF-8: gumbo replaces bytes in values";
  return "unexplained";
}

// Processor seconds of this thread: so the time that other programs take does not count.
double ThreadSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double BestSeconds(int rounds, const auto& call) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = ThreadSeconds();
    call();
    best = std::min(best, ThreadSeconds() - start);
  }
  return best;
}

Result<nlohmann::ordered_json> RunHtmlBench(int argc, char** argv, Report& report) {
  std::string folder = "../shared/data/pages";
  int rounds = 7;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--pages") {
      folder = argv[i + 1];
    } else if (flag == "--rounds") {
      rounds = std::max(5, std::atoi(argv[i + 1]));
    } else {
      return Fail(ErrorCode::kInvalidArgument, "usage: html [--pages DIR] [--rounds N]");
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Document> documents, LoadPages(folder));
  double bytes = 0;
  for (const Document& document : documents) bytes += static_cast<double>(document.html.size());

  PageReader links_only({.anchor_text = false});
  PageReader with_anchors(PageOptions{});
  PageReader with_text({.text = true});
  PageLinks resolved;
  const PageLinksOptions all{.in_templates = true};
  GumboLinks gumbo;
  Link link;

  // The answers first.
  std::map<std::string_view, int> reasons;
  size_t links = 0;
  size_t crawlable = 0;
  for (const Document& document : documents) {
    const Page& page = with_anchors.Read(document.html);
    gumbo.Read(document.html);
    const std::string_view why = Why(document, page, gumbo);
    ++reasons[why];
    if (why == "unexplained") report.Line("differs: {}", document.name);
    resolved.Resolve(page, document.url, all);
    links += page.links.size();
    crawlable += resolved.links.size();
  }
  report.Line("{} pages, {:.1f} MB, {} links, {} of them crawlable", documents.size(), bytes * 1e-6, links, crawlable);
  for (const auto& [why, count] : reasons) report.Line("  {:>4}  {}", count, why);

  if (reasons.contains("unexplained"))
    return Fail(ErrorCode::kCorrupt, "links differ from gumbo's, and no reason is known");

  uint64_t sum = 0;
  CountingSink counter;
  const auto rate = [&](int times, const auto& call) {
    return bytes * 1e-6 / BestSeconds(times, [&] {
             for (const Document& document : documents) call(document);
           });
  };
  const double tokenize = rate(rounds, [&](const Document& document) {
    Tokenizer tokenizer(counter);
    tokenizer.Read(document.html);
  });
  const double check = rate(rounds, [&](const Document& d) { sum += ValidUtf8Prefix(d.html); });
  const double only = rate(rounds, [&](const Document& d) { sum += links_only.Read(d.html).links.size(); });
  const double extract = rate(rounds, [&](const Document& d) {
    resolved.Resolve(with_anchors.Read(d.html), d.url, all);
    for (const ResolvedLink& one : resolved.links) sum ^= one.hash;
  });
  const double text = rate(rounds, [&](const Document& d) {
    resolved.Resolve(with_text.Read(d.html), d.url, all);
    for (const ResolvedLink& one : resolved.links) sum ^= one.hash;
  });
  const double rival = rate(5, [&](const Document& d) {
    gumbo.Read(d.html);
    Url base = d.url;
    if (gumbo.has_base) base.Assign(gumbo.base, &d.url);
    for (const GumboLink& one : gumbo.links) {
      if (ResolveLink(one.value, base, all.link, link) == LinkOutcome::kCrawlable) sum ^= link.hash;
    }
  });

  report.Line("{:<44} {:>8.0f} MB/s", "checked for UTF-8", check);
  report.Line("{:<44} {:>8.0f} MB/s", "tags and attributes", tokenize);
  report.Line("{:<44} {:>8.0f} MB/s", "links as written", only);
  report.Line("{:<44} {:>8.0f} MB/s", "links, anchor text, canonical URLs, hashes", extract);
  report.Line("{:<44} {:>8.0f} MB/s", "the same and the visible text", text);
  report.Line("{:<44} {:>8.0f} MB/s", "libgumbo: links, canonical URLs, hashes", rival);
  report.Line("{:<44} {:>8.1f} x", "ours over gumbo's", extract / rival);
  return nlohmann::ordered_json{{"extract_mb_per_s", extract},
                                {"gumbo_mb_per_s", rival},
                                {"ratio", extract / rival},
                                {"links_only_mb_per_s", only},
                                {"with_text_mb_per_s", text},
                                {"tokenize_mb_per_s", tokenize},
                                {"utf8_check_mb_per_s", check},
                                {"links", links},
                                {"crawlable", crawlable},
                                {"pages", documents.size()},
                                {"pages_equal_to_gumbo", reasons["equal"]},
                                {"check", sum}};
}

}  // namespace

PORTOLAN_BENCHMARK("html", "links out of real pages, beside libgumbo", RunHtmlBench);

}  // namespace portolan::bench
