#include "bench/search/known_items.h"

#include <xapian.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/hash.h"
#include "bench/scratch_dir.h"
#include "flow/output_records.h"
#include "index/document_maker.h"
#include "index/inlinks.h"
#include "index/schema.h"
#include "parse/page_maker.h"
#include "search/search_parts.h"
#include "url/url.h"

namespace portolan::bench {
namespace {

constexpr size_t kDepth = 50;

struct KnownPage {
  std::string url;
  std::string record;                       // of the text log
  std::map<std::string, uint64_t> anchors;  // and how many links have each
};

struct KnownItem {
  std::string question;
  std::string url;
  enum class Kind : uint8_t { kAnchor, kTitle, kWords } kind = Kind::kTitle;
};

Result<std::vector<KnownPage>> ReadPages(const std::string& folder) {
  std::ifstream index(folder + "/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, folder + "/index.tsv cannot be read: see --real");
  ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create({.archive = false, .link_log = true, .text_log = true}));
  std::vector<KnownPage> pages;
  std::map<std::string, size_t> by_url;
  std::vector<std::pair<std::string, std::string>> links;  // target, text
  std::string row;
  std::getline(index, row);
  while (std::getline(index, row)) {
    const std::string path = row.substr(0, row.find('\t'));
    const size_t url_at = row.rfind('\t', row.rfind('\t') - 1) + 1;
    auto url = Url::Parse(row.substr(url_at, row.rfind('\t') - url_at));
    if (!url) continue;
    std::ifstream file(folder + "/" + path, std::ios::binary);
    FetchResponse response;
    response.task.url = url->href().substr(0, url->href().find('#'));
    response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    response.body.assign(std::istreambuf_iterator<char>(file), {});
    response.times.begin_unix_ns = int64_t{1'700'000'000} * 1'000'000'000;
    const std::string own = response.task.url;
    const PageResult result = maker.Make(std::move(response));
    for (const OutputItem& item : result.outputs) {
      PackedRecords records(item.records);
      while (records.Next()) {
        if (item.output == OutputId::kText && by_url.try_emplace(own, pages.size()).second) {
          pages.push_back({own, std::string(records.record()), {}});
        } else if (item.output == OutputId::kLinks) {
          const auto link = ParseLinkRecord(records.record(), records.tag());
          if (link && link->tag == 0 && link->url != own) links.emplace_back(link->url, link->anchor);
        }
      }
    }
  }
  for (const auto& [target, text] : links) {
    const auto found = by_url.find(target);
    if (found != by_url.end() && !text.empty()) ++pages[found->second].anchors[text];
  }
  return pages;
}

// Pages in the way: each longer paragraph of the real pages as a page of its own, its first words as the title.
Result<size_t> AddDistractors(const std::vector<KnownPage>& pages, DocumentMaker& maker,
                              Xapian::WritableDatabase& database) {
  size_t added = 0;
  for (const KnownPage& page : pages) {
    const TextRecord record = *ParseTextRecord(page.record);
    for (std::string_view rest = record.text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.size() < 120) continue;
      const std::string url = fmt::format("https://paragraphs.test/{}", added++);
      const std::string_view title = CutUtf8(line, 60);
      std::string main;
      AppendPackedRange(main, 0, 0, line.size());
      ASSIGN_OR_RETURN(const Xapian::Document document, maker.Make({.url = url,
                                                                    .title = title.substr(0, title.rfind(' ')),
                                                                    .language = record.language,
                                                                    .text = line,
                                                                    .main = main},
                                                                   {}, {}));
      database.add_document(document);
    }
  }
  return added;
}

Result<size_t> WriteIndex(const std::vector<KnownPage>& pages, const std::string& path) {
  ASSIGN_OR_RETURN(DocumentMaker maker, DocumentMaker::Create());
  Xapian::WritableDatabase database(path, Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC);
  for (const KnownPage& page : pages) {
    Inlinks inlinks;
    uint64_t count = 0;
    for (const auto& [text, links] : page.anchors) {
      inlinks.texts.push_back({text, links});
      count += links;
    }
    inlinks.step = ScoreStep(static_cast<double>(count));
    ASSIGN_OR_RETURN(const Xapian::Document document, maker.Make(*ParseTextRecord(page.record), {}, inlinks.Pack()));
    database.add_document(document);
  }
  ASSIGN_OR_RETURN(const size_t distractors, AddDistractors(pages, maker, database));
  database.commit();
  return distractors;
}

// By a page's half: 0 is for tuning.
std::vector<KnownItem> MakeItems(const std::vector<KnownPage>& pages, uint64_t half) {
  std::vector<KnownItem> items;
  std::mt19937_64 random(1);
  std::set<std::string> asked;
  for (const KnownPage& page : pages) {
    if ((Hash64(page.url) & 1) != half) continue;
    for (const auto& [text, links] : page.anchors) {
      if (WordsOf(text, true).size() < 2 || WordsOf(text, true).size() > kMaxQueryWords) continue;
      items.push_back({.question = text, .url = page.url, .kind = KnownItem::Kind::kAnchor});
    }
    if (!page.anchors.empty()) continue;
    std::vector<std::string> words = WordsOf(std::string(ParseTextRecord(page.record)->title), true);
    if (words.size() < 2 || words.size() > kMaxQueryWords) continue;
    std::ranges::shuffle(words, random);
    std::string question;
    for (const std::string& word : words) question += (question.empty() ? "" : " ") + word;
    // A title that two pages have means neither.
    std::ranges::sort(words);
    std::string key;
    for (const std::string& word : words) key += word + " ";
    if (!asked.insert(key).second) continue;
    items.push_back({.question = question, .url = page.url});
    std::ranges::shuffle(words, random);
    const size_t some = std::min<size_t>(words.size(), 3);
    std::string part;
    for (size_t i = 0; i < some; ++i) part += (i > 0 ? " " : "") + words[i];
    items.push_back({.question = part, .url = page.url, .kind = KnownItem::Kind::kWords});
  }
  return items;
}

struct Rank {
  double reciprocal = 0;
  double top_ten = 0;
  size_t count = 0;
  void Add(size_t rank) {  // 0: not found
    ++count;
    if (rank > 0) reciprocal += 1.0 / static_cast<double>(rank);
    if (rank > 0 && rank <= 10) top_ten += 1;
  }
  double mrr() const { return count == 0 ? 0 : reciprocal / static_cast<double>(count); }
  double share() const { return count == 0 ? 0 : top_ten / static_cast<double>(count); }
};

struct Ranks {
  Rank anchors;
  Rank titles;
  Rank words;
  // Each kind counts the same, whatever their numbers.
  double mrr() const { return (anchors.mrr() + titles.mrr() + words.mrr()) / 3; }
};

Result<Ranks> Measure(const std::string& path, const std::vector<KnownItem>& items, const ScoreOptions& score) {
  ASSIGN_OR_RETURN(const auto parts, SearchParts::Make(Clock::Real(), {.dirs = {path}, .score = score}));
  Ranks ranks;
  for (const KnownItem& item : items) {
    const auto answer = parts->Ask({.words = item.question, .limit = kDepth, .fold = false});
    if (!answer && answer.error().code() != ErrorCode::kInvalidArgument) return std::unexpected(answer.error());
    size_t rank = 0;
    for (size_t i = 0; answer && i < answer->hits.size() && rank == 0; ++i) {
      if (answer->hits[i].document.data.url == item.url) rank = i + 1;
    }
    using Kind = KnownItem::Kind;
    (item.kind == Kind::kAnchor ? ranks.anchors : item.kind == Kind::kTitle ? ranks.titles : ranks.words).Add(rank);
  }
  return ranks;
}

nlohmann::ordered_json JsonOf(const Ranks& ranks) {
  return {{"anchor_mrr", ranks.anchors.mrr()}, {"anchor_top10", ranks.anchors.share()},
          {"title_mrr", ranks.titles.mrr()},   {"title_top10", ranks.titles.share()},
          {"words_mrr", ranks.words.mrr()},    {"words_top10", ranks.words.share()}};
}

std::string TextOf(const ScoreOptions& score) {
  std::string text;
  for (size_t f = 0; f < score.fields.size(); ++f) text += fmt::format("{} {:g}, ", kFieldNames[f], score.fields[f]);
  return text + fmt::format("exact {:g}, static {:g}, k1 {:g}, b {:g}", score.exact, score.still, score.k1, score.b);
}

// One constant at a time, as long as that helps.
Result<ScoreOptions> Tune(const std::string& path, const std::vector<KnownItem>& items, Report& report) {
  ScoreOptions best;
  ASSIGN_OR_RETURN(const Ranks start, Measure(path, items, best));
  double best_mrr = start.mrr();
  for (int pass = 0; pass < 3; ++pass) {
    const double before = best_mrr;
    const auto attempt = [&](const ScoreOptions& score) -> Status {
      ASSIGN_OR_RETURN(const Ranks ranks, Measure(path, items, score));
      // A difference of one question in a hundred is none.
      if (ranks.mrr() > best_mrr + 1e-4) {
        best_mrr = ranks.mrr();
        best = score;
      }
      return {};
    };
    for (size_t f = 0; f < best.fields.size(); ++f) {
      for (const double weight : {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0}) {
        ScoreOptions score = best;
        score.fields[f] = weight;
        RETURN_IF_ERROR(attempt(score));
      }
    }
    for (const double k1 : {0.5, 0.8, 1.2, 2.0, 3.0}) {
      ScoreOptions score = best;
      score.k1 = k1;
      RETURN_IF_ERROR(attempt(score));
    }
    for (const double b : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
      ScoreOptions score = best;
      score.b = b;
      RETURN_IF_ERROR(attempt(score));
    }
    for (const double exact : {0.1, 0.25, 0.5, 1.0}) {
      ScoreOptions score = best;
      score.exact = exact;
      RETURN_IF_ERROR(attempt(score));
    }
    for (const double still : {0.0, 0.5, 1.0, 2.0, 4.0}) {
      ScoreOptions score = best;
      score.still = still;
      RETURN_IF_ERROR(attempt(score));
    }
    report.Line("tuned, pass {}: {:.4f} with {}", pass + 1, best_mrr, TextOf(best));
    if (best_mrr <= before + 1e-4) break;
  }
  return best;
}

}  // namespace

Result<nlohmann::ordered_json> FindKnownItems(const std::string& folder, bool tune, Report& report) {
  ASSIGN_OR_RETURN(const std::vector<KnownPage> pages, ReadPages(folder));
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("search"));
  const std::string path = scratch.path() + "/index";
  ASSIGN_OR_RETURN(const size_t distractors, WriteIndex(pages, path));
  const auto tuning = MakeItems(pages, 0);
  const auto held_out = MakeItems(pages, 1);
  nlohmann::ordered_json figures;
  ScoreOptions score;
  if (tune) {
    ASSIGN_OR_RETURN(score, Tune(path, tuning, report));
    figures["tuned"] = TextOf(score);
  }
  ASSIGN_OR_RETURN(const Ranks all, Measure(path, held_out, score));
  figures["pages"] = pages.size();
  figures["distractors"] = distractors;
  figures["anchors"] = all.anchors.count;
  figures["titles"] = all.titles.count;
  report.Line(
      "known items: {} pages among {} paragraphs; held-out half: {} texts of links, {} titles, {} times three "
      "words of one; {}",
      pages.size(), distractors, all.anchors.count, all.titles.count, all.words.count, TextOf(score));
  report.Line("{:<16} {:>12} {:>8} {:>12} {:>8} {:>12} {:>8}", "", "anchor MRR", "top 10", "title MRR", "top 10",
              "words MRR", "top 10");
  const auto line = [&](const std::string& name, const Ranks& ranks) {
    report.Line("{:<16} {:>12.3f} {:>7.1f}% {:>12.3f} {:>7.1f}% {:>12.3f} {:>7.1f}%", name, ranks.anchors.mrr(),
                100 * ranks.anchors.share(), ranks.titles.mrr(), 100 * ranks.titles.share(), ranks.words.mrr(),
                100 * ranks.words.share());
    figures[name] = JsonOf(ranks);
  };
  line("all_fields", all);
  for (size_t f = 0; f < score.fields.size(); ++f) {
    ScoreOptions without = score;
    without.fields[f] = 0;
    ASSIGN_OR_RETURN(const Ranks ranks, Measure(path, held_out, without));
    line(std::string("without_") + kFieldNames[f], ranks);
  }
  ScoreOptions flat = score;
  flat.fields.fill(1);
  ASSIGN_OR_RETURN(const Ranks ranks, Measure(path, held_out, flat));
  line("equal_weights", ranks);
  flat = score;
  flat.still = 0;
  ASSIGN_OR_RETURN(const Ranks no_static, Measure(path, held_out, flat));
  line("without_static", no_static);
  return figures;
}

}  // namespace portolan::bench
