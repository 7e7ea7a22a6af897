// Numbers for URLs in memory, one core: our table beside KSpider's and a hash map of strings.
//
// The URLs are those that a simulated crawl finds for the first time, in the order in which it does (bench/seen's
// LinkStream). Their entropy beside that of the 172,121 different http(s) URLs of the shared data
// (urls/href_resolution.jsonl.gz, without fragments), both lists sorted and equally long, bytes per URL:
//
//                            length   xz -9e   zstd -19   bzip2 -9
//   real                       72.2     13.1       13.7       16.0
//   LinkStream's first         72.5     12.4       12.8       10.9
//
// So these are not more random than real ones, and to a compressor of words they are less so: their vocabulary has 4096
// words, whose use is learnt quickly. 2 million of them take xz -9 12.2 bytes each. The thesis has URLs of 59.5 bytes
// from 24,000 servers of one country, without more about them. Ten million here are of 267,000 hosts, 188,000 with one
// URL and 7,400 with more than 500; of the real ones, two in three hosts have one URL.
//
// Every answer is checked before it is timed. The table's own count of its memory is beside what the process grew by.
// The rivals get the first URLs only, since an AVL tree takes minutes for all.

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/seen/link_stream.h"
#include "bench/urls/kspider_table.h"
#include "graph/url_table.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

constexpr size_t kQueries = 500'000;
constexpr size_t kLongest = 250;  // what KSpider's table can hold in any case

class UrlList {
 public:
  explicit UrlList(uint64_t count) {
    LinkStream stream({});
    std::unordered_set<uint64_t> seen;
    while (size() < count) {
      for (const Link& link : stream.NextPage()) {
        if (size() == count) break;
        if (link.text.size() > kLongest || !seen.insert(link.key).second) continue;
        text_ += link.text;
        begins_.push_back(text_.size());
      }
    }
  }
  uint64_t size() const { return begins_.size() - 1; }
  std::string_view operator[](uint64_t i) const {
    return std::string_view(text_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }
  double bytes_per_url() const { return static_cast<double>(text_.size()) / static_cast<double>(size()); }

 private:
  std::string text_;
  std::vector<uint64_t> begins_{0};
};

// Resident bytes of this process; 0 where the system does not say.
double Resident() {
  std::ifstream in("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  in >> total >> resident;
  return static_cast<double>(resident) * 4096;
}

struct Figures {
  double bytes = 0;
  double grown = 0;     // by how much the process grew per URL
  double resident = 0;  // of that, what is left when the allocator has given back what it does not use
  double insert_us = 0;
  double find_us = 0;
  double get_us = 0;
};

template <typename Run>
double Microseconds(uint64_t calls, Run run) {
  const int64_t start = Clock::Real().NowNs();
  run();
  return static_cast<double>(Clock::Real().NowNs() - start) / 1000 / static_cast<double>(calls);
}

// `insert`(url) and `find`(url) give a number, `get`(number, out) a URL, `memory`() bytes.
template <typename Insert, typename Find, typename Get, typename Memory>
Result<Figures> Measure(std::string_view name, const UrlList& urls, uint64_t count, Insert insert, Find find, Get get,
                        Memory memory) {
  std::vector<uint64_t> numbers(count);
  std::ranges::fill(numbers, ~0ULL);  // now, so that its pages are there
  Figures figures;
  malloc_trim(0);  // what others freed would hide by how much the process grows
  const double before = Resident();
  figures.insert_us = Microseconds(count, [&] {
    for (uint64_t i = 0; i < count; ++i) numbers[i] = insert(urls[i]);
  });
  figures.grown = (Resident() - before) / static_cast<double>(count);
  malloc_trim(0);
  figures.resident = (Resident() - before) / static_cast<double>(count);
  figures.bytes = static_cast<double>(memory()) / static_cast<double>(count);
  // Copies in the order of the queries, so that what is timed is the table and not the list.
  std::mt19937_64 random(5);
  std::vector<std::string> asked;
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < kQueries; ++i) {
    const uint64_t index = random() % count;
    asked.emplace_back(urls[index]);
    expected.push_back(numbers[index]);
  }
  std::string got;
  for (size_t i = 0; i < kQueries; ++i) {
    get(expected[i], got);
    if (got != asked[i] || find(asked[i]) != expected[i] || insert(asked[i]) != expected[i]) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: a wrong answer for {}", name, asked[i]));
    }
  }
  uint64_t wrong = 0;
  figures.find_us = Microseconds(kQueries, [&] {
    for (size_t i = 0; i < kQueries; ++i) wrong += find(asked[i]) != expected[i] ? 1 : 0;
  });
  figures.get_us = Microseconds(kQueries, [&] {
    for (size_t i = 0; i < kQueries; ++i) {
      get(expected[i], got);
      wrong += got.size() != asked[i].size() ? 1 : 0;
    }
  });
  if (wrong > 0) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a timed run gave another answer", name));
  return figures;
}

Result<nlohmann::ordered_json> RunUrlsBench(int argc, char** argv, Report& report) {
  CLI::App app("numbers for URLs in memory", "urls");
  uint64_t count = 10'000'000;
  uint64_t rival_count = 1'000'000;
  app.add_option("--urls", count, "how many URLs our table gets")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{100'000'000}));
  app.add_option("--rival-urls", rival_count, "how many of them the rivals get");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  rival_count = std::clamp<uint64_t>(rival_count, 1000, count);

  const UrlList urls(count);
  report.Line("{} URLs of {:.1f} bytes; the rivals get the first {}", urls.size(), urls.bytes_per_url(), rival_count);
  report.Line("{:<16} {:>12} {:>12} {:>12} {:>11} {:>11} {:>11}", "", "bytes/URL", "resident", "grown", "insert",
              "find", "get");
  const auto row = [&report](std::string_view name, const Figures& f) {
    report.Line("{:<16} {:>12.2f} {:>12.2f} {:>12.2f} {:>8.2f} us {:>8.2f} us {:>8.2f} us", name, f.bytes, f.resident,
                f.grown, f.insert_us, f.find_us, f.get_us);
  };

  graph::UrlTable table{HashKey(HashKey::Words{1, 2, 3, 4})};
  ASSIGN_OR_RETURN(
      const Figures ours,
      Measure(
          "portolan", urls, count, [&](std::string_view url) { return table.Insert(url).value_or(~0ULL); },
          [&](std::string_view url) { return table.Find(url).value_or(~0ULL); },
          [&](uint64_t number, std::string& out) { (void)table.Get(number, out); }, [&] { return table.memory(); }));
  row("portolan", ours);

  KSpiderTable kspider;
  ASSIGN_OR_RETURN(const Figures theirs,
                   Measure(
                       "kspider", urls, rival_count, [&](std::string_view url) { return kspider.Insert(url); },
                       [&](std::string_view url) { return kspider.Find(url).value_or(~0U); },
                       [&](uint64_t number, std::string& out) { kspider.Get(static_cast<uint32_t>(number), out); },
                       [&] { return kspider.memory(); }));
  row("kspider", theirs);

  std::unordered_map<std::string, uint32_t> map;
  std::vector<const std::string*> texts;  // for the way back
  uint64_t map_bytes = 0;
  const auto map_insert = [&](std::string_view url) {
    const auto [at, fresh] = map.try_emplace(std::string(url), static_cast<uint32_t>(map.size()));
    if (fresh) {
      texts.push_back(&at->first);
      // The node with its hash and link, the text's block if it is long, 8 bytes of the allocator for each.
      map_bytes += sizeof(*at) + 16 + 8 + (at->first.capacity() > 15 ? at->first.capacity() + 1 + 8 : 0);
    }
    return at->second;
  };
  ASSIGN_OR_RETURN(const Figures strings, Measure(
                                              "unordered_map", urls, rival_count, map_insert,
                                              [&](std::string_view url) {
                                                const auto at = map.find(std::string(url));
                                                return at == map.end() ? ~0U : at->second;
                                              },
                                              [&](uint64_t number, std::string& out) { out = *texts[number]; },
                                              [&] { return map_bytes + map.bucket_count() * 8 + texts.size() * 8; }));
  row("unordered_map", strings);

  return nlohmann::ordered_json{
      {"urls", count},
      {"url_bytes", urls.bytes_per_url()},
      {"bytes_per_url", ours.bytes},
      {"resident_bytes_per_url", ours.resident},
      {"grown_bytes_per_url", ours.grown},
      {"text_bytes_per_url", static_cast<double>(table.text_bytes()) / static_cast<double>(count)},
      {"index_bytes_per_url", static_cast<double>(table.index_bytes()) / static_cast<double>(count)},
      {"find_us", ours.find_us},
      {"get_us", ours.get_us},
      {"insert_us", ours.insert_us},
      {"rival_urls", rival_count},
      {"kspider_bytes_per_url", theirs.bytes},
      {"kspider_find_us", theirs.find_us},
      {"kspider_get_us", theirs.get_us},
      {"kspider_insert_us", theirs.insert_us},
      {"map_bytes_per_url", strings.bytes},
      {"map_find_us", strings.find_us},
      {"map_get_us", strings.get_us},
      {"map_insert_us", strings.insert_us}};
}

}  // namespace

PORTOLAN_BENCHMARK("urls", "numbers for URLs in memory: bytes and microseconds per URL; beside KSpider's table",
                   RunUrlsBench);

}  // namespace portolan::bench
