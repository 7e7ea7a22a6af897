// Facts that other projects' tests hold about robots.txt, checked through ParseRobots and RobotsRules.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "http/content_decoder.h"
#include "http/fact_files.h"
#include "robots/fetch_policy.h"
#include "robots/robots_txt.h"

namespace portolan {
namespace {

using Json = nlohmann::json;

// Path and query of a URL in a fact: some have no scheme, some only a path.
std::string PathOf(std::string url) {
  url = url.substr(0, url.find('#'));
  size_t from = 0;
  if (const size_t scheme = url.find("://"); scheme != std::string::npos && scheme < url.find_first_of("/?")) {
    from = scheme + 3;
  } else if (url.starts_with("/")) {
    return url.empty() ? "/" : url;
  }
  const size_t path = url.find_first_of("/?", from);
  if (path == std::string::npos) return "/";
  return url[path] == '?' ? "/" + url.substr(path) : url.substr(path);
}

bool Allowed(const std::string& robots_txt, const std::string& agent, const std::string& url) {
  const RobotsTxt parsed = ParseRobots(robots_txt, {.agent = agent, .byte_limit = size_t{16} << 20});
  const auto rules = RobotsRules::Open(parsed.rules);
  EXPECT_TRUE(rules.has_value());
  return rules->Allows(PathOf(url));
}

void Print(const char* suite, size_t passed, size_t total) {
  std::cout << "conformance " << suite << " " << passed << "/" << total << std::endl;
}

// Reasons for which a fact says other than RFC 9309 does, and how many facts each accounts for. In every one of them we
// answer as the RFC's own reading does (oracle_rfc in the file), except for misspelt keys, and for scope: which host a
// file speaks for is the caller's affair.
const std::map<std::string, size_t> kDepartures = {
    {"google-behaviour: google-extension", 4},
    {"google-behaviour: other", 1},
    {"google-behaviour: percent-encoding normalisation", 7},
    {"google-behaviour: robots.txt-itself", 4},
    {"google-behaviour: typo / missing-colon tolerance", 8},  // colons: its misspellings are ours too
    {"google-behaviour: user-agent value is not an RFC 9309 product token", 1},
    {"host-scope: URL is not on the robots.txt origin", 10},
    {"implementation-specific: UTF-16 robots.txt decoded via BOM", 2},
    {"implementation-specific: cpython uses only the first * group; RFC merges groups", 1},
    {"implementation-specific: cpython: first group whose name is a substring of the agent wins", 1},
    {"implementation-specific: crawler-commons policy", 1},
    {"implementation-specific: literal $ at end of a pattern also tried as literal", 1},
    {"implementation-specific: other", 3},
    {"implementation-specific: pattern without leading slash treated as if it had one", 3},
    {"implementation-specific: percent-encoding normalisation", 1},
    {"implementation-specific: rules before/without any user-agent line", 13},
    {"implementation-specific: rules embedded in HTML markup", 1},
    {"implementation-specific: substring/prefix user-agent match", 1},
    {"implementation-specific: typo / missing-colon tolerance", 1},
    {"implementation-specific: user-agent value is not an RFC 9309 product token", 100},
    {"implementation-specific: whether an unknown directive closes a group", 5},
};

TEST(RobotsFactsTest, ConsensusHoldsAndTheRestDepartsOnlyWhereListed) {
  const auto file = ReadFacts("robots/robots_facts.jsonl");
  if (!file) GTEST_SKIP() << "no " << kFacts << "robots";
  std::map<std::string, size_t> passed, total, departures;
  size_t as_rfc = 0;
  size_t decided = 0;
  for (const std::string_view line : LinesOf(*file)) {
    const Json fact = Json::parse(line);
    const std::string tier = fact["tier"];
    const bool ours = Allowed(FromBase64(fact["robots_txt_b64"].get<std::string>()), fact["user_agent"], fact["url"]);
    const bool agrees = ours == fact["allowed"].get<bool>();
    total[tier] += 1;
    passed[tier] += agrees ? 1 : 0;
    if (tier != "host-scope") {
      decided += 1;
      as_rfc += ours == fact["oracle_rfc"].get<bool>() ? 1 : 0;
    }
    if (agrees) continue;
    std::string reason = tier + ": " + fact.value("reason", "");
    for (const auto& [known, count] : kDepartures) {
      if (reason.starts_with(known)) reason = known;
    }
    departures[reason] += 1;
  }
  Print("robots-consensus", passed["consensus"], total["consensus"]);
  Print("robots-rfc9309-strict", passed["rfc9309-strict"], total["rfc9309-strict"]);
  Print("robots-as-rfc9309-reads", as_rfc, decided);
  EXPECT_EQ(passed["consensus"], total["consensus"]);
  EXPECT_EQ(passed["rfc9309-strict"], total["rfc9309-strict"]);
  EXPECT_EQ(departures, kDepartures);
  // Twelve facts take "<" and "%3C" for the same, and twelve misspelt keys for what they mean, as we do; the file's
  // reading of the RFC does neither.
  EXPECT_EQ(as_rfc + 24, decided);
}

// --- Crawl-delay, sitemaps, patterns, tokens, statuses ---

std::string AgentOf(const Json& fact) {
  if (fact.contains("user_agents")) return fact["user_agents"][0];
  return fact.contains("user_agent") && fact["user_agent"].is_string() ? fact["user_agent"].get<std::string>() : "*";
}

// None where a fact of this kind is not ours to answer.
std::optional<bool> OtherFactAgrees(const Json& fact) {
  const std::string kind = fact["kind"];
  const Json& expected = fact["expected"];
  if (kind == "valid_user_agent_token") {
    return IsValidProductToken(fact["input"].get<std::string>()) == expected.get<bool>();
  }
  if (kind == "escape_pattern") {
    std::string out;
    AppendCanonicalPath(fact["input"].get<std::string>(), out);
    return out == expected.get<std::string>();
  }
  if (kind == "pattern_matches_path") {
    RobotsRulesBuilder builder;
    builder.Add(fact["pattern"].get<std::string>(), false);
    const std::string rules = std::move(builder).Build();
    return RobotsRules::Open(rules)->Allows(fact["path"].get<std::string>()) != expected.get<bool>();
  }
  if (kind == "status_allowed") {
    const RobotsVerdict verdict = RobotsForStatus(fact["http_status"], 0);
    return (verdict == RobotsVerdict::kAllowAll) == expected.get<bool>();
  }
  if (kind == "defer_visits") {
    if (fact["http_status"].is_null()) return std::nullopt;
    return (RobotsForStatus(fact["http_status"], 0) == RobotsVerdict::kDisallowAll) == expected.get<bool>();
  }
  if (kind == "get_path_params_query" || kind == "prepare_url" || kind == "robots_url" || kind == "host" ||
      kind == "matching_line") {
    return std::nullopt;
  }
  const std::string robots_txt = FromBase64(fact["robots_txt_b64"].get<std::string>());
  const RobotsTxt parsed = ParseRobots(robots_txt, {.agent = ProductToken(AgentOf(fact))});
  if (kind.starts_with("crawl_delay")) {
    if (expected.is_null() || expected.get<double>() < 0) return !parsed.crawl_delay_ms.has_value();
    const double unit = kind == "crawl_delay_ms" ? 1 : 1000;
    return parsed.crawl_delay_ms == static_cast<uint32_t>(expected.get<double>() * unit + 0.5);
  }
  if (kind == "num_rules") return RobotsRules::Open(parsed.rules)->size() == expected.get<size_t>();
  if (kind == "num_sitemaps") return parsed.sitemaps.size() == expected.get<size_t>();
  if (kind == "sitemaps") return parsed.sitemaps == expected.get<std::vector<std::string>>();
  if (kind == "sitemap[0]") return !parsed.sitemaps.empty() && parsed.sitemaps[0] == expected.get<std::string>();
  if (kind == "parse_stats" && fact["what"] == "sitemap") {
    return parsed.sitemaps == std::vector<std::string>{expected.get<std::string>()};
  }
  return std::nullopt;
}

TEST(RobotsFactsTest, OtherFactsHoldButForThoseListed) {
  const auto file = ReadFacts("robots/robots_other_facts.jsonl");
  if (!file) GTEST_SKIP() << "no " << kFacts << "robots";
  std::map<std::string, size_t> not_ours, departures;
  size_t passed = 0;
  size_t total = 0;
  for (const std::string_view line : LinesOf(*file)) {
    const Json fact = Json::parse(line);
    const std::optional<bool> agrees = OtherFactAgrees(fact);
    if (!agrees) {
      not_ours[fact["kind"]] += 1;
      continue;
    }
    ++total;
    passed += *agrees ? 1 : 0;
    if (*agrees) continue;
    const std::string text =
        fact.contains("robots_txt_b64") ? FromBase64(fact["robots_txt_b64"].get<std::string>()) : "";
    if (fact["kind"] == "status_allowed" || fact["kind"] == "defer_visits") {
      departures["a redirect is followed, not a verdict"] += 1;
    } else if (text.find("<BR>") != std::string::npos) {
      departures["rules embedded in HTML markup"] += 1;
    } else if (text.find_first_not_of(" \n") == text.find("Disallow: /path")) {
      departures["rules without any user-agent line"] += 1;
    } else if (text.find("forgot \"sitemap:\"") != std::string::npos) {
      departures["a URL on a line of its own is no Sitemap line"] += 1;
    } else if (AgentOf(fact).find(' ') != std::string::npos) {
      departures["an agent's name inside a longer one"] += 1;
    } else {
      ADD_FAILURE() << fact;
    }
  }
  Print("robots-other", passed, total);
  const std::map<std::string, size_t> expected_departures = {{"a URL on a line of its own is no Sitemap line", 1},
                                                             {"a redirect is followed, not a verdict", 1},
                                                             {"an agent's name inside a longer one", 1},
                                                             {"rules embedded in HTML markup", 2},
                                                             {"rules without any user-agent line", 2}};
  EXPECT_EQ(departures, expected_departures);
  // Statistics of other parsers, the work of url/, Yandex's Host line, line numbers.
  const std::map<std::string, size_t> expected_not_ours = {
      {"defer_visits", 1}, {"get_path_params_query", 19}, {"host", 7},       {"matching_line", 9},
      {"parse_stats", 20}, {"prepare_url", 26},           {"robots_url", 6}, {"sitemap[2]", 1}};
  EXPECT_EQ(not_ours, expected_not_ours);
}

// --- Real files, with the verdicts of Google's own matcher ---

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string LowerTrimmed(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const size_t from = text.find_first_not_of(" \t\v\f");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\v\f") + 1 - from);
}

// Google's departure "an Allow of …/index.html stands for its directory".
std::string WithDirectoriesAllowed(std::string_view robots_txt) {
  std::string extended;
  for (const std::string& line : SplitLines(robots_txt)) {
    extended += line + "\n";
    const std::string lower = LowerTrimmed(line.substr(0, line.find('#')));
    const size_t index = lower.rfind("/index.htm");
    if (lower.starts_with("allow") && index != std::string::npos) {
      extended += LowerTrimmed(line.substr(0, line.find('#'))).substr(0, index + 1) + "$\n";
    }
  }
  return extended;
}

// Google's departure "a no-break space behind a path is part of it".
std::string WithBlanksEscaped(std::string robots_txt) {
  for (size_t at = 0; (at = robots_txt.find("\xc2\xa0", at)) != std::string::npos;) robots_txt.replace(at, 2, "%C2%A0");
  return robots_txt;
}

TEST(RobotsFactsTest, RealFilesAgreeWithGoogleButForItsNamedDepartures) {
  const auto packed = ReadFacts("robots/real_robots_google_verdicts.jsonl.gz");
  if (!packed) GTEST_SKIP() << "no " << kFacts << "robots";
  const DecodedBody file = DecodeBody(*packed, CodingStack::Of(ContentCoding::kGzip), {});
  ASSERT_EQ(file.outcome, DecodeOutcome::kWhole);
  size_t total = 0;
  size_t agreed = 0;
  size_t unexplained = 0;
  std::map<std::string, size_t> departures;
  for (const std::string_view line : LinesOf(file.bytes)) {
    const Json site = Json::parse(line);
    const std::string robots_txt = FromBase64(site["robots_txt_b64"].get<std::string>());
    std::map<std::string, std::string> compiled;
    for (const Json& verdict : site["verdicts"]) {
      const std::string agent = verdict[0];
      const std::string url = verdict[1];
      const bool google = verdict[2].get<int>() != 0;
      auto [rules, added] = compiled.try_emplace(agent);
      if (added) rules->second = ParseRobots(robots_txt, {.agent = agent, .byte_limit = 4 << 20}).rules;
      const bool ours = RobotsRules::Open(rules->second)->Allows(PathOf(url));
      ++total;
      if (ours == google) {
        ++agreed;
        continue;
      }
      if (PathOf(url) == "/robots.txt") {
        departures["/robots.txt itself is not exempt"] += 1;
      } else if (Allowed(WithDirectoriesAllowed(robots_txt), agent, url) == google) {
        departures["/index.html stands for its directory"] += 1;
      } else if (Allowed(WithBlanksEscaped(robots_txt), agent, url) == google) {
        departures["a no-break space behind a path is part of it"] += 1;
      } else {
        ++unexplained;
        if (unexplained < 20) std::cout << site["file"] << " " << verdict << std::endl;
      }
    }
  }
  Print("robots-real-files-google", agreed, total);
  EXPECT_EQ(total, 22'007u);
  EXPECT_EQ(unexplained, 0u);
  const std::map<std::string, size_t> expected = {{"/robots.txt itself is not exempt", 113},
                                                  {"/index.html stands for its directory", 1},
                                                  {"a no-break space behind a path is part of it", 1}};
  EXPECT_EQ(departures, expected);
  EXPECT_EQ(agreed, total - 115);
}

}  // namespace
}  // namespace portolan
