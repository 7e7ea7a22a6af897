// Facts that other projects' tests hold about robots.txt, checked through ParseRobots and RobotsRules.

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "http/content_decoder.h"
#include "http/fact_files.h"
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

TEST(RobotsFactsTest, ConsensusHoldsAndTheRestDepartsOnlyWhereListed) {
  const auto file = ReadFacts("robots/robots_facts.jsonl");
  if (!file) GTEST_SKIP() << "no " << kFacts << "robots";
  std::map<std::string, size_t> passed, total, departures;
  for (const std::string_view line : LinesOf(*file)) {
    const Json fact = Json::parse(line);
    const std::string tier = fact["tier"];
    const std::string robots_txt = FromBase64(fact["robots_txt_b64"].get<std::string>());
    const bool ours = Allowed(robots_txt, fact["user_agent"], fact["url"]);
    const bool agrees = ours == fact["allowed"].get<bool>();
    total[tier] += 1;
    passed[tier] += agrees ? 1 : 0;
    if (agrees) continue;
    const std::string reason = tier + ": " + fact.value("reason", "");
    departures[reason] += 1;
    std::cout << "departs " << fact["id"] << " " << reason.substr(0, 90) << " ours " << ours << " rfc "
              << fact["oracle_rfc"] << " google " << fact["oracle_google"] << " agent " << fact["user_agent"] << " "
              << fact["url"] << std::endl;
  }
  for (const auto& [tier, count] : total) Print(("robots-" + tier).c_str(), passed[tier], count);
  for (const auto& [reason, count] : departures) std::cout << count << " " << reason << std::endl;
  EXPECT_EQ(passed["consensus"], total["consensus"]);
}

}  // namespace
}  // namespace portolan
