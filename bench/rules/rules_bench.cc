// Rules: how much one URL costs with ten rules and with ten thousand, by kind of condition; the speed of block lists.
// The answers are checked first, against trying each rule. Rivals: each pattern as an RE2 of its own, one after the
// other; one RE2::Set of all of them; std::regex, one after the other; a loop over the hosts.

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/flags.h"
#include "io/clock.h"
#include "io/process.h"
#include "rules/block_list.h"
#include "rules/rule_file.h"
#include "rules/rule_set.h"

namespace portolan::bench {
namespace {

class Words {
 public:
  explicit Words(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 5000; ++i) {
      std::string word;
      for (size_t n = 3 + Pick(8); n > 0; --n) word += static_cast<char>('a' + Pick(26));
      words_.push_back(std::move(word));
    }
  }
  size_t Pick(size_t n) { return random_() % n; }
  const std::string& One() { return words_[Pick(words_.size())]; }
  std::string Host() { return One() + "." + One() + ".com"; }
  std::string Url() {
    std::string url = "https://" + Host();
    for (size_t n = 1 + Pick(5); n > 0; --n) url += "/" + One();
    if (Pick(3) == 0) url += "?" + One() + "=" + std::to_string(Pick(1000));
    return url;
  }
  std::string Pattern() {
    switch (Pick(4)) {
      case 0:
        return "/" + One() + "/" + One() + "(/|$)";
      case 1:
        return "/" + One() + "/[0-9]{4}/[0-9]{2}";
      case 2:
        return "[?&]" + One() + "=[0-9]*7";
      default:
        return "^https?://[^/]*" + One() + "\\.com/(.*/)?" + One() + "$";
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

// Nanoseconds per URL: the best of three passes, each over all URLs or as many as fit into half a second.
template <typename Call>
double NsPerUrl(const std::vector<std::string>& urls, Call call) {
  constexpr int64_t kMost = 500'000'000;
  double best = 1e18;
  for (int pass = 0; pass < 3; ++pass) {
    const int64_t begin = Clock::Real().NowNs();
    size_t done = 0;
    for (const std::string& url : urls) {
      call(url);
      if (++done % 16 == 0 && Clock::Real().NowNs() - begin > kMost) break;
    }
    best = std::min(best, static_cast<double>(Clock::Real().NowNs() - begin) / static_cast<double>(done));
  }
  return best;
}

std::string_view HostIn(std::string_view url) {
  const size_t begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

Result<std::shared_ptr<const RuleSet>> SetOf(std::string_view key, const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    text += fmt::format("[[rule]]\naction = 'exclude'\n{} = '{}'\n", key, value);
  }
  ASSIGN_OR_RETURN(std::vector<Rule> rules, ParseRuleFile(text, "bench.toml"));
  return RuleSet::Create(std::move(rules));
}

// The number of the rule that decides; 0: none.
uint32_t Decides(const RuleSet& set, std::string_view url) {
  const Rule* rule = set.Judge({.url = url, .host = HostIn(url)}).access;
  return rule == nullptr ? 0 : rule->number;
}

RE2::Options QuietOptions() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(int64_t{64} << 20);
  return options;
}

template <typename Value>
void Distinct(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

Result<nlohmann::ordered_json> RunPatterns(Words& words, const std::vector<std::string>& urls, Report& report) {
  nlohmann::ordered_json json;
  for (const size_t count : {10U, 1000U, 10'000U}) {
    std::vector<std::string> patterns;
    for (size_t i = 0; i < count; ++i) patterns.push_back(words.Pattern());
    Distinct(patterns);
    const uint64_t memory = ResidentBytes();
    const int64_t begin = Clock::Real().NowNs();
    ASSIGN_OR_RETURN(const auto set, SetOf("pattern", patterns));
    const double make_ms = static_cast<double>(Clock::Real().NowNs() - begin) * 1e-6;
    std::vector<std::unique_ptr<RE2>> alone;
    RE2::Set together(QuietOptions(), RE2::UNANCHORED);
    for (const std::string& pattern : patterns) {
      alone.push_back(std::make_unique<RE2>(pattern, QuietOptions()));
      together.Add(pattern, nullptr);
    }
    if (!together.Compile()) return Fail(ErrorCode::kBusy, "the rival's set does not compile");
    const auto one_by_one = [&](const std::string& url) {
      for (size_t i = 0; i < alone.size(); ++i) {
        if (RE2::PartialMatch(url, *alone[i])) return static_cast<uint32_t>(i + 1);
      }
      return 0U;
    };
    size_t hits = 0;
    const size_t checked = std::min<size_t>(urls.size(), count > 1000 ? 200 : 5000);
    for (size_t i = 0; i < checked; ++i) {
      const uint32_t expected = one_by_one(urls[i]);
      hits += expected > 0 ? 1 : 0;
      if (Decides(*set, urls[i]) == expected) continue;
      return Fail(ErrorCode::kCorrupt, fmt::format("wrong answer for {}", urls[i]));
    }
    nlohmann::ordered_json row;
    row["patterns"] = patterns.size();
    row["checked"] = checked;
    row["hits"] = hits;
    row["make_ms"] = make_ms;
    row["ns_per_url"] = NsPerUrl(urls, [&](const std::string& url) { Decides(*set, url); });
    row["grown_mib"] = (static_cast<double>(ResidentBytes()) - static_cast<double>(memory)) / (1 << 20);
    row["re2_loop_ns"] = NsPerUrl(urls, one_by_one);
    std::vector<int> found;
    row["re2_set_ns"] = NsPerUrl(urls, [&](const std::string& url) { together.Match(url, &found); });
    if (count <= 1000) {
      std::vector<std::regex> standard;
      for (const std::string& pattern : patterns) standard.emplace_back(pattern);
      row["std_regex_loop_ns"] = NsPerUrl(urls, [&](const std::string& url) {
        return std::ranges::any_of(standard, [&](const std::regex& one) { return std::regex_search(url, one); });
      });
    }
    report.Line("{:>7} patterns  {:>8.0f} ns   RE2 loop {:>10.0f} ns   RE2::Set {:>9.0f} ns   made in {:.0f} ms",
                patterns.size(), row["ns_per_url"].get<double>(), row["re2_loop_ns"].get<double>(),
                row["re2_set_ns"].get<double>(), make_ms);
    json.push_back(std::move(row));
  }
  return json;
}

// Hosts, domains or prefixes; the rival is a loop over them.
template <typename Make, typename Fits>
Result<nlohmann::ordered_json> RunNames(std::string_view key, Make make, Fits fits,
                                        const std::vector<std::string>& urls, Report& report) {
  nlohmann::ordered_json json;
  for (const size_t count : {10U, 10'000U}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(make());
    Distinct(names);
    // Only rules of which none covers another are allowed.
    std::vector<std::string> apart;
    for (std::string& name : names) {
      if (apart.empty() || !name.starts_with(apart.back())) apart.push_back(std::move(name));
    }
    ASSIGN_OR_RETURN(const auto set, SetOf(key, apart));
    const auto loop = [&](const std::string& url) {
      for (size_t i = 0; i < apart.size(); ++i) {
        if (fits(url, apart[i])) return static_cast<uint32_t>(i + 1);
      }
      return 0U;
    };
    for (size_t i = 0; i < std::min<size_t>(urls.size(), 1000); ++i) {
      if (Decides(*set, urls[i]) != loop(urls[i])) return Fail(ErrorCode::kCorrupt, "wrong answer for " + urls[i]);
    }
    nlohmann::ordered_json row;
    row["rules"] = apart.size();
    row["ns_per_url"] = NsPerUrl(urls, [&](const std::string& url) { Decides(*set, url); });
    row["loop_ns"] = NsPerUrl(urls, loop);
    report.Line("{:>7} {:<9} {:>7.0f} ns   a loop {:>10.0f} ns", apart.size(), key, row["ns_per_url"].get<double>(),
                row["loop_ns"].get<double>());
    json.push_back(std::move(row));
  }
  return json;
}

Result<nlohmann::ordered_json> RunBlockList(Words& words, const std::vector<std::string>& urls, Report& report) {
  constexpr size_t kNames = 1'000'000;
  std::string text;
  for (size_t i = 0; i < kNames; ++i) text += fmt::format("{}{}.{}.net\n", words.One(), i, words.One());
  BlockList::Builder builder(kNames);
  const int64_t begin = Clock::Real().NowNs();
  RETURN_IF_ERROR(builder.Add(text, "bench.txt"));
  const auto list = builder.Finish();
  nlohmann::ordered_json row;
  row["names"] = list->size();
  row["bytes_per_name"] = sizeof(uint64_t);
  row["read_ms"] = static_cast<double>(Clock::Real().NowNs() - begin) * 1e-6;
  const std::string one = text.substr(0, text.find('\n'));
  if (!list->Has(one) || !list->Has("www." + one) || list->Has("x" + one)) {
    return Fail(ErrorCode::kCorrupt, "wrong answer of the block list");
  }
  row["ns_per_host"] = NsPerUrl(urls, [&](const std::string& url) { return list->Has(HostIn(url)); });
  report.Line("{:>7} names on a block list: read in {:.0f} ms, {:.0f} ns per host", list->size(),
              row["read_ms"].get<double>(), row["ns_per_host"].get<double>());
  return row;
}

Result<nlohmann::ordered_json> RunRulesBench(int argc, char** argv, Report& report) {
  CLI::App app("rules: URLs judged by 10 and by 10,000 rules", "portolan bench rules");
  size_t count = 20'000;
  app.add_option("--urls", count, "How many URLs are judged");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  Words words(1);
  std::vector<std::string> urls;
  for (size_t i = 0; i < std::max<size_t>(1, count); ++i) urls.push_back(words.Url());
  nlohmann::ordered_json json;
  json["urls"] = urls.size();
  ASSIGN_OR_RETURN(json["patterns"], RunPatterns(words, urls, report));
  ASSIGN_OR_RETURN(json["hosts"],
                   RunNames(
                       "host", [&] { return words.Host(); },
                       [](std::string_view url, std::string_view name) { return HostIn(url) == name; }, urls, report));
  ASSIGN_OR_RETURN(json["domains"], RunNames(
                                        "domain", [&] { return words.One() + ".com"; },
                                        [](std::string_view url, std::string_view name) {
                                          const std::string_view host = HostIn(url);
                                          return host.ends_with(name) && (host.size() == name.size() ||
                                                                          host[host.size() - name.size() - 1] == '.');
                                        },
                                        urls, report));
  ASSIGN_OR_RETURN(
      json["prefixes"],
      RunNames(
          "prefix", [&] { return "https://" + words.Host() + "/" + words.One(); },
          [](std::string_view url, std::string_view name) { return url.starts_with(name); }, urls, report));
  ASSIGN_OR_RETURN(json["block_list"], RunBlockList(words, urls, report));
  return json;
}

PORTOLAN_BENCHMARK("rules", "URLs judged by 10 and by 10,000 rules, with RE2 loops and std::regex as rivals",
                   RunRulesBench);

}  // namespace
}  // namespace portolan::bench
