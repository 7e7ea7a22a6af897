// Near duplicates: how many are found, how many of those found are near, and what the search costs.
//
//   portolan bench dups [--articles DIR] [--pages DIR] [--hashes N] [--sample N] [--memory MIB] [--world-pages N]
//
// 1. Real pages: their main texts, and each with seeded edits. Near is a Jaccard coefficient of at least 0.9 of the
// sets
//    of shingles of three words. Judged are all pairs of unedited texts and all pairs with one text and its edits.
// 2. The simulated web: its pages are rendered and read; near are a near duplicate and the page that it repeats.
// 3. The search (content/near_pairs.h) over N random hashes, one in ten with a neighbour at 1 to 6 bits. First the
//    answer: exactly the planted pairs within 3 bits; and for a sample of hashes what two rivals find: a hash table
//    that is asked for all 43,744 hashes within 3 bits, and comparing with all hashes. Then times, one thread.

#include <time.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/hash.h"
#include "bench/benchmark.h"
#include "bench/dups/near_truth.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "content/near_pairs.h"
#include "io/rng.h"
#include "parse/similarity.h"
#include "sim/world/web.h"
#include "sim/world/world.h"

namespace portolan::bench {
namespace {

using Json = nlohmann::ordered_json;

double CpuTime() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Bytes that this process has given to write() so far.
uint64_t BytesWritten() {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (io >> name >> value) {
    if (name == "wchar:") return value;
  }
  return 0;
}

HashedText Hashed(std::string text) {
  HashedText hashed{.text = std::move(text), .hash = 0, .shingles = {}};
  hashed.hash = SimilarityHash(hashed.text);
  hashed.shingles = ShinglesOf(hashed.text);
  return hashed;
}

Json TableOf(const NearCounts& counts, const std::string& what, Report& report) {
  report.Line("{}: {} pairs, {} of them near", what, counts.pairs, counts.near);
  report.Line("  bits        {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}", 1, 2, 3, 4, 5, 6, 7, 8);
  std::string recall;
  std::string precision;
  Json json;
  for (int k = 1; k <= kMostBitsShown; ++k) {
    recall += fmt::format(" {:>7.3f}", counts.Recall(k));
    precision += fmt::format(" {:>7.3f}", counts.Precision(k));
    json["recall_by_bits"].push_back(counts.Recall(k));
    json["precision_by_bits"].push_back(counts.Precision(k));
  }
  report.Line("  recall     {}", recall);
  report.Line("  precision  {}", precision);
  json["pairs"] = counts.pairs;
  json["near"] = counts.near;
  json["recall"] = counts.Recall(kNearBits);
  json["precision"] = counts.Precision(kNearBits);
  return json;
}

Result<Json> RealPages(const std::string& articles, const std::string& pages, Report& report) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, RealTexts(articles, pages));
  std::vector<HashedText> originals;
  for (const std::string& text : texts) originals.push_back(Hashed(text));
  NearCounts unedited;
  for (size_t i = 0; i < originals.size(); ++i) {
    for (size_t j = i + 1; j < originals.size(); ++j) {
      const double share = JaccardOf(originals[i].shingles, originals[j].shingles);
      unedited.Add(BitsApart(originals[i].hash, originals[j].hash), share >= kNearShare);
    }
  }
  NearCounts all = unedited;
  Json by_edit = Json::array();
  struct OfEdit {
    NearCounts counts;
    double share = 0;
    double bits = 0;
  };
  std::vector<OfEdit> edits(Edits().size());
  for (size_t i = 0; i < originals.size(); ++i) {
    const std::vector<std::string> words = WordsOf(originals[i].text);
    std::vector<HashedText> family = {Hashed(originals[i].text)};
    for (size_t e = 0; e < edits.size(); ++e) {
      family.push_back(Hashed(Edits()[e].make(words, Mix64(i * 100 + e))));
      const double share = JaccardOf(family[0].shingles, family.back().shingles);
      const int bits = BitsApart(family[0].hash, family.back().hash);
      edits[e].counts.Add(bits, share >= kNearShare);
      edits[e].share += share;
      edits[e].bits += bits;
    }
    for (size_t a = 0; a < family.size(); ++a) {
      for (size_t b = a + 1; b < family.size(); ++b) {
        all.Add(BitsApart(family[a].hash, family[b].hash),
                JaccardOf(family[a].shingles, family[b].shingles) >= kNearShare);
      }
    }
  }
  report.Line("{} real pages with 50 words of main text; near: at least {} of the shingles in common", originals.size(),
              kNearShare);
  report.Line("  {:<40} {:>8} {:>6} {:>10} {:>10}", "an edit, of each page", "Jaccard", "bits", "near", "within 3");
  for (size_t e = 0; e < edits.size(); ++e) {
    const auto count = static_cast<double>(originals.size());
    const NearCounts& counts = edits[e].counts;
    report.Line("  {:<40} {:>8.3f} {:>6.1f} {:>10} {:>10}", Edits()[e].name, edits[e].share / count,
                edits[e].bits / count, counts.near, counts.reported[kNearBits]);
    by_edit.push_back({{"edit", Edits()[e].name},
                       {"jaccard", edits[e].share / count},
                       {"bits", edits[e].bits / count},
                       {"near", counts.near},
                       {"within_3", counts.reported[kNearBits]},
                       {"recall", counts.Recall(kNearBits)}});
  }
  TableOf(unedited, "pairs of unedited pages", report);
  Json json = TableOf(all, "those, and all pairs of a page and its edits", report);
  json["texts"] = originals.size();
  json["unedited_near"] = unedited.near;
  json["unedited_found"] = unedited.found[kNearBits];
  json["unedited_reported"] = unedited.reported[kNearBits];
  json["edits"] = by_edit;
  return json;
}

// Pages of the world, rendered, by the page whose body they show.
Result<Json> SimulatedWeb(uint64_t most, Report& report) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile("web2026"));
  params.near_duplicate = 0.1;
  ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, 5));
  const sim::Web& web = world->web();
  struct Shown {
    std::pair<uint64_t, uint64_t> source;
    HashedText text;
  };
  std::vector<Shown> pages;
  std::map<std::pair<uint64_t, uint64_t>, bool> rendered;
  const auto render = [&](const sim::Place& place, uint64_t content, uint64_t source) {
    const std::string host = world->HostName(place.host);
    const std::string url = world->UrlOf(place);
    const size_t path = url.find('/', url.find("//") + 2);
    const sim::Answer answer = world->Respond({.host = host,
                                               .path_and_query = std::string_view(url).substr(path),
                                               .if_none_match = {},
                                               .if_modified_since = {},
                                               .accept_encoding = {},
                                               .user_agent = "bench",
                                               .tls = world->HostIsTls(place.host)});
    if (answer.status != 200) return;
    pages.push_back({{content, source}, Hashed(MainTextOf(answer.body))});
  };
  for (uint64_t number = 0; number < world->TotalPages() && pages.size() < most; ++number) {
    const sim::Place place = world->FromDense(number);
    if (world->MirrorOf(place.host) || world->KindOf(place) != sim::PageKind::kNearDuplicate) continue;
    const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
    const uint64_t source = web.fate.Source(content, place.number);
    const sim::Place original{place.host, sim::PlaceClass::kPage, source};
    if (world->KindOf(original) != sim::PageKind::kNormal) continue;
    render(place, content, source);
    if (!std::exchange(rendered[{content, source}], true)) render(original, content, source);
  }
  NearCounts counts;
  NearCounts exact;
  double share = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    for (size_t j = i + 1; j < pages.size(); ++j) {
      const bool same = pages[i].source == pages[j].source;
      const int bits = BitsApart(pages[i].text.hash, pages[j].text.hash);
      counts.Add(bits, same);
      if (!same && bits > kMostBitsShown) continue;
      const double jaccard = JaccardOf(pages[i].text.shingles, pages[j].text.shingles);
      exact.Add(bits, jaccard >= kNearShare);
      share += same ? jaccard : 0;
    }
  }
  if (counts.near == 0) return Fail(ErrorCode::kCorrupt, "the simulated web has no near duplicates");
  report.Line("");
  report.Line("simulated web: {} pages, mean Jaccard of near duplicates {:.3f}", pages.size(),
              share / static_cast<double>(counts.near));
  Json json = TableOf(counts, "near by the world's word", report);
  json["pages"] = pages.size();
  json["jaccard"] = share / static_cast<double>(counts.near);
  json["by_shingles"] = TableOf(exact, "those and pairs within 8 bits, near by their shingles", report);
  return json;
}

Result<Json> Search(uint64_t count, uint64_t sample, size_t memory, Report& report) {
  Rng rng(1);
  std::vector<uint64_t> hashes;
  hashes.reserve(count);
  std::vector<std::pair<uint64_t, uint64_t>> planted;
  while (hashes.size() < count) {
    const uint64_t hash = rng.Next();
    hashes.push_back(hash);
    if (rng.Below(10) != 0 || hashes.size() == count) continue;
    const int bits = 1 + static_cast<int>(rng.Below(6));
    uint64_t other = hash;
    while (BitsApart(hash, other) < bits) other ^= uint64_t{1} << rng.Below(64);
    hashes.push_back(other);
  }
  for (size_t i = 1; i < hashes.size(); ++i) {
    const int bits = BitsApart(hashes[i - 1], hashes[i]);
    if (bits >= 1 && bits <= kNearBits) {
      planted.emplace_back(std::min(hashes[i - 1], hashes[i]), std::max(hashes[i - 1], hashes[i]));
    }
  }
  std::ranges::sort(planted);

  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("dups"));
  std::vector<std::pair<uint64_t, uint64_t>> found;
  const uint64_t written = BytesWritten();
  const double begin = CpuTime();
  NearPairs search(Env::Posix(), {.dir = scratch.path(), .memory = memory});
  for (const uint64_t hash : hashes) RETURN_IF_ERROR(search.Add(hash));
  RETURN_IF_ERROR(search.Find([&found](uint64_t a, uint64_t b) -> Status {
    found.emplace_back(std::min(a, b), std::max(a, b));
    return {};
  }));
  const double seconds = CpuTime() - begin;
  const auto bytes = static_cast<double>(BytesWritten() - written);
  std::ranges::sort(found);
  // Random hashes are near by chance about n² / 2^64 * 43,745 / 2 times: 0.03 in five million.
  std::vector<std::pair<uint64_t, uint64_t>> missed;
  std::ranges::set_difference(planted, found, std::back_inserter(missed));
  if (!missed.empty()) return Fail(ErrorCode::kCorrupt, fmt::format("{} planted pairs were not found", missed.size()));
  for (const auto& [a, b] : found) {
    if (BitsApart(a, b) > kNearBits) return Fail(ErrorCode::kCorrupt, "a pair that is not near was found");
  }

  // Rivals, on a sample.
  absl::flat_hash_set<uint64_t> set(hashes.begin(), hashes.end());
  std::vector<uint64_t> asked;
  for (uint64_t i = 0; i < sample; ++i) asked.push_back(hashes[rng.Below(hashes.size())]);
  std::vector<uint64_t> by_flips;
  const double flips_begin = CpuTime();
  for (const uint64_t hash : asked) {
    const auto probe = [&](uint64_t other) {
      if (set.contains(other)) by_flips.push_back(other);
    };
    for (int i = 0; i < 64; ++i) {
      const uint64_t one = hash ^ (uint64_t{1} << i);
      probe(one);
      for (int j = i + 1; j < 64; ++j) {
        const uint64_t two = one ^ (uint64_t{1} << j);
        probe(two);
        for (int k = j + 1; k < 64; ++k) probe(two ^ (uint64_t{1} << k));
      }
    }
  }
  const double flips = (CpuTime() - flips_begin) / static_cast<double>(sample);
  std::vector<uint64_t> by_scan;
  const double scan_begin = CpuTime();
  for (const uint64_t hash : asked) {
    for (const uint64_t other : hashes) {
      const int bits = BitsApart(hash, other);
      if (bits >= 1 && bits <= kNearBits) by_scan.push_back(other);
    }
  }
  const double scan = (CpuTime() - scan_begin) / static_cast<double>(sample);
  std::vector<uint64_t> ours;
  std::map<uint64_t, std::vector<uint64_t>> near;
  for (const auto& [a, b] : found) {
    near[a].push_back(b);
    near[b].push_back(a);
  }
  for (const uint64_t hash : asked) {
    const auto at = near.find(hash);
    if (at != near.end()) ours.insert(ours.end(), at->second.begin(), at->second.end());
  }
  for (std::vector<uint64_t>* list : {&ours, &by_flips, &by_scan}) std::ranges::sort(*list);
  if (ours != by_flips || ours != by_scan) return Fail(ErrorCode::kCorrupt, "the rivals find other pairs");

  const double each = seconds / static_cast<double>(count);
  report.Line("");
  report.Line(
      "search: {} hashes, {} pairs within 3 bits, all planted pairs found; {} sampled hashes agree with the rivals",
      count, found.size(), sample);
  report.Line("  sorts in {} MiB                        {:>12.0f} pages/s, {:.1f} bytes written per page", memory >> 20,
              1 / each, bytes / static_cast<double>(count));
  report.Line("  hash table, 43,744 probes per page     {:>12.0f} pages/s", 1 / flips);
  report.Line("  comparing with all (no sort, no disk)  {:>12.0f} pages/s", 1 / scan);
  return Json{{"hashes", count},
              {"pairs", found.size()},
              {"pages_per_s", 1 / each},
              {"bytes_per_page", bytes / static_cast<double>(count)},
              {"comparisons_per_page", static_cast<double>(search.compared()) / static_cast<double>(count)},
              {"rival_flips_pages_per_s", 1 / flips},
              {"rival_scan_pages_per_s", 1 / scan},
              {"sample", sample}};
}

Result<Json> RunDupsBench(int argc, char** argv, Report& report) {
  CLI::App app("Near duplicates: recall, precision, and what the search costs");
  std::string articles = "../shared/data/extraction/scrapinghub";
  std::string pages = "../shared/data/pages";
  uint64_t hashes = 5'000'000;
  uint64_t sample = 200;
  uint64_t memory = 32;
  uint64_t world_pages = 2000;
  app.add_option("--articles", articles, "ScrapingHub's article extraction benchmark")->type_name("DIR");
  app.add_option("--pages", pages, "Real pages with an index.tsv")->type_name("DIR");
  app.add_option("--hashes", hashes, "How many are searched")->check(CLI::Range(1000, 1'000'000'000));
  app.add_option("--sample", sample, "How many of them the rivals are asked for")->check(CLI::Range(1, 100'000));
  app.add_option("--memory", memory, "MiB for the search")->check(CLI::Range(1, 65'536));
  app.add_option("--world-pages", world_pages, "How many pages of the simulated web")->check(CLI::Range(10, 100'000));
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  Json json;
  ASSIGN_OR_RETURN(json["real"], RealPages(articles, pages, report));
  ASSIGN_OR_RETURN(json["simulated"], SimulatedWeb(world_pages, report));
  ASSIGN_OR_RETURN(json["search"], Search(hashes, sample, memory << 20, report));
  json["recall"] = {{"real", json["real"]["recall"]}, {"simulated", json["simulated"]["recall"]}};
  json["precision"] = {{"real", json["real"]["precision"]}, {"simulated", json["simulated"]["precision"]}};
  json["pages_per_s"] = json["search"]["pages_per_s"];
  json["bytes_per_page"] = json["search"]["bytes_per_page"];
  return json;
}

PORTOLAN_BENCHMARK("dups", "near duplicates: recall and precision, and the search beside a table of flips",
                   RunDupsBench);

}  // namespace
}  // namespace portolan::bench
