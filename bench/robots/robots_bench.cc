// Robots rules: matches per second of compiled rules on real robots files and URLs, and the speed of parsing. The rival
// is what one writes first: the rules in a list, each tried on the path by a matcher that goes back to the last star,
// the longest that matches decides.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "http/content_decoder.h"
#include "http/fact_files.h"
#include "io/clock.h"
#include "robots/robots_txt.h"

namespace portolan::bench {
namespace {

struct Check {
  size_t rules;  // index of a compiled file
  std::string path;
  bool google_allows;
};

struct Workload {
  std::vector<std::string> files;
  std::vector<std::string> agents;  // of each compiled file
  std::vector<size_t> sources;      // the file of each compiled file
  std::vector<Check> checks;
};

std::string PathOf(const std::string& url) {
  const size_t path = url.find('/', url.find("://") + 3);
  return path == std::string::npos ? "/" : url.substr(path);
}

Result<Workload> Load() {
  const auto packed = ReadFacts("robots/real_robots_google_verdicts.jsonl.gz");
  if (!packed) return Fail(ErrorCode::kNotFound, kFacts + "robots is not here");
  const DecodedBody file = DecodeBody(*packed, CodingStack::Of(ContentCoding::kGzip), {});
  if (file.outcome != DecodeOutcome::kWhole) return Fail(ErrorCode::kCorrupt, "the facts do not decode");
  Workload work;
  for (const std::string_view line : LinesOf(file.bytes)) {
    const auto site = nlohmann::json::parse(line);
    work.files.push_back(FromBase64(site["robots_txt_b64"].get<std::string>()));
    std::map<std::string, size_t> of_agent;
    for (const auto& verdict : site["verdicts"]) {
      const std::string agent = verdict[0];
      const auto [at, added] = of_agent.emplace(agent, work.agents.size());
      if (added) {
        work.agents.push_back(agent);
        work.sources.push_back(work.files.size() - 1);
      }
      work.checks.push_back({at->second, PathOf(verdict[1]), verdict[2].get<int>() != 0});
    }
  }
  return work;
}

// The rival's rules.
struct ListedRule {
  std::string pattern;
  uint32_t octets;
  bool allow;
};

bool ListedMatches(std::string_view pattern, std::string_view path) {
  const bool anchored = pattern.ends_with('$');
  if (anchored) pattern.remove_suffix(1);
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, star_t = 0;
  while (t < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_t = t;
    } else if (p < pattern.size() && pattern[p] == path[t]) {
      ++p;
      ++t;
    } else if (p == pattern.size() && !anchored) {
      return true;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_t;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool ListedAllows(const std::vector<ListedRule>& rules, std::string_view path) {
  if (path == "/robots.txt") return true;
  std::string canonical;
  AppendCanonicalPath(path, canonical);
  uint32_t best = 0;
  bool allow = true;
  for (const ListedRule& rule : rules) {
    if (rule.octets < best || (rule.octets == best && !rule.allow)) continue;
    if (!ListedMatches(rule.pattern, canonical)) continue;
    best = rule.octets;
    allow = rule.allow;
  }
  return allow;
}

template <typename Call>
double BestSeconds(int rounds, Call call) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const int64_t start = Clock::Real().NowNs();
    call();
    best = std::min(best, static_cast<double>(Clock::Real().NowNs() - start) * 1e-9);
  }
  return best;
}

Result<nlohmann::ordered_json> RunRobotsBench(int, char**, Report& report) {
  ASSIGN_OR_RETURN(const Workload work, Load());
  std::vector<std::string> compiled;
  std::vector<RobotsRules> opened;
  std::vector<std::vector<ListedRule>> listed(work.agents.size());
  size_t rules = 0;
  uint64_t compiled_bytes = 0;
  for (size_t i = 0; i < work.agents.size(); ++i) {
    compiled.push_back(
        ParseRobots(work.files[work.sources[i]], {.agent = work.agents[i], .byte_limit = size_t{4} << 20}).rules);
    compiled_bytes += compiled.back().size();
  }
  for (size_t i = 0; i < compiled.size(); ++i) {
    ASSIGN_OR_RETURN(const RobotsRules view, RobotsRules::Open(compiled[i]));
    opened.push_back(view);
    for (size_t r = 0; r < view.size(); ++r) {
      const RobotsRules::Rule rule = view.At(r);
      listed[i].push_back({std::string(rule.pattern), rule.octets, rule.allow});
    }
    rules += view.size();
  }

  size_t as_google = 0;
  for (const Check& check : work.checks) {
    const bool ours = opened[check.rules].Allows(check.path);
    if (ours != ListedAllows(listed[check.rules], check.path)) {
      return Fail(ErrorCode::kCorrupt, "the rival differs on " + check.path + " of " + work.agents[check.rules]);
    }
    as_google += ours == check.google_allows ? 1 : 0;
  }

  volatile size_t sink = 0;
  const auto count = static_cast<double>(work.checks.size());
  const double ours_s = BestSeconds(15, [&] {
    size_t allowed = 0;
    for (const Check& check : work.checks) allowed += opened[check.rules].Allows(check.path) ? 1 : 0;
    sink = allowed;
  });
  const double rival_s = BestSeconds(3, [&] {
    size_t allowed = 0;
    for (const Check& check : work.checks) allowed += ListedAllows(listed[check.rules], check.path) ? 1 : 0;
    sink = allowed;
  });
  const double open_s = BestSeconds(5, [&] {
    size_t all = 0;
    for (const std::string& bytes : compiled) all += RobotsRules::Open(bytes)->size();
    sink = all;
  });
  uint64_t text_bytes = 0;
  for (const std::string& file : work.files) text_bytes += file.size();
  const double parse_s = BestSeconds(5, [&] {
    size_t all = 0;
    for (const std::string& file : work.files) {
      all += ParseRobots(file, {.agent = "OurCrawler", .byte_limit = size_t{4} << 20}).rules.size();
    }
    sink = all;
  });

  const double matches = count / ours_s;
  const double rival = count / rival_s;
  const double parse_mb = static_cast<double>(text_bytes) * 1e-6 / parse_s;
  report.Line("{} real files, {} rule sets, {} rules, {} checks, {} as Google's matcher", work.files.size(),
              compiled.size(), rules, work.checks.size(), as_google);
  report.Line("{:<34} {:>14}", "matches, compiled rules", FormatRate(matches));
  report.Line("{:<34} {:>14}", "matches, list of rules", FormatRate(rival));
  report.Line("{:<34} {:>14}", "opening a compiled set", FormatDuration(open_s / static_cast<double>(compiled.size())));
  report.Line("{:<34} {:>14}", "parsing and compiling", fmt::format("{:.0f} MB/s", parse_mb));
  report.Line("{:<34} {:>14}", "bytes per rule, compiled",
              fmt::format("{:.1f}", static_cast<double>(compiled_bytes) / static_cast<double>(rules)));
  return nlohmann::ordered_json{{"matches_per_s", matches},
                                {"rival_matches_per_s", rival},
                                {"parse_mb_per_s", parse_mb},
                                {"open_us", open_s / static_cast<double>(compiled.size()) * 1e6},
                                {"bytes_per_rule", static_cast<double>(compiled_bytes) / static_cast<double>(rules)},
                                {"checks", work.checks.size()},
                                {"as_google", as_google}};
}

}  // namespace

PORTOLAN_BENCHMARK("robots", "matches per second of compiled robots rules, and parsing", RunRobotsBench);

}  // namespace portolan::bench
