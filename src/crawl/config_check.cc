// Profiles, and what settings may be together.

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "crawl/config.h"
#include "frontier/politeness.h"
#include "reputation/budget_function.h"
#include "robots/robots_txt.h"
#include "url/url.h"

namespace portolan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Problems {
 public:
  void Expect(bool good, std::string_view key, std::string_view what) {
    if (!good) Add(key, what);
  }
  void Add(std::string_view key, std::string_view what) {
    if (!text_.empty()) text_ += "; ";
    text_ += fmt::format("{}: {}", key, what);
  }
  Status Result() && {
    if (text_.empty()) return {};
    return Fail(ErrorCode::kInvalidArgument, std::move(text_));
  }

 private:
  std::string text_;
};

bool IsWebUrl(const std::string& text) {
  const auto url = Url::Parse(text);
  return url && (url->scheme() == "http" || url->scheme() == "https");
}

bool IsOneLine(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool IsDomain(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.find_first_of("/:?#@*\\ \t") == std::string_view::npos;
}

bool IsFileNamePart(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
}

void CheckCrawlAndScope(const Config& config, Problems& problems) {
  for (const std::string& seed : config.crawl.seeds) {
    problems.Expect(IsWebUrl(seed), "crawl.seeds", fmt::format("'{}' is no http or https URL", seed));
  }
  problems.Expect(config.crawl.max_depth <= UINT16_MAX, "crawl.max_depth", "at most 65535");
  problems.Expect(config.crawl.max_redirects <= 50, "crawl.max_redirects", "at most 50");
  const Config::Scope& scope = config.scope;
  for (const auto* list : {&scope.include_domains, &scope.exclude_domains}) {
    const std::string_view key = list == &scope.include_domains ? "scope.include_domains" : "scope.exclude_domains";
    for (const std::string& domain : *list) {
      problems.Expect(IsDomain(domain), key, fmt::format("'{}' is no domain: write example.org", domain));
    }
  }
  for (const std::string& prefix : scope.include_prefixes) {
    problems.Expect(IsWebUrl(prefix), "scope.include_prefixes",
                    fmt::format("'{}' does not begin like an http or https URL", prefix));
  }
  for (const std::string& pattern : scope.exclude) {
    problems.Expect(!pattern.empty(), "scope.exclude", "an empty pattern excludes nothing");
  }
  problems.Expect(scope.max_url_length >= 100 && scope.max_url_length <= 32'000, "scope.max_url_length",
                  "from 100 to 32000");
}

void CheckPoliteness(const Config& config, Problems& problems) {
  const Config::Politeness& politeness = config.politeness;
  problems.Expect(IsValidProductToken(politeness.user_agent), "politeness.user_agent",
                  fmt::format("'{}' is no product token: letters, - and _ only, so that robots.txt can name it",
                              politeness.user_agent));
  const bool web = config.crawl.profile == Profile::kWeb || config.scope.mode == ScopeMode::kAny;
  if (politeness.contact_url.empty()) {
    problems.Expect(!web || config.fetch.allow_private_addresses, "politeness.contact_url",
                    "is needed for a crawl of the open web: say who you are and how to reach you");
  } else {
    problems.Expect(IsWebUrl(politeness.contact_url) || politeness.contact_url.starts_with("mailto:"),
                    "politeness.contact_url", "wants an http or https URL, or mailto:");
  }
  problems.Expect(IsOneLine(politeness.contact_url), "politeness.contact_url", "must be one line");
  problems.Expect(IsOneLine(politeness.from), "politeness.from", "must be one line");
  problems.Expect(politeness.min_delay <= politeness.max_delay, "politeness.min_delay", "is above max_delay");
  problems.Expect(politeness.host_delay <= politeness.max_delay, "politeness.host_delay", "is above max_delay");
  const bool several = politeness.connections_per_host > 1;
  problems.Expect(politeness.connections_per_host >= 1 && politeness.connections_per_host <= kMaxConnectionsPerHost,
                  "politeness.connections_per_host", fmt::format("from 1 to {}", kMaxConnectionsPerHost));
  problems.Expect(!several || !web, "politeness.connections_per_host",
                  "must be 1 in a crawl of the open web (profile web, or scope any): more is for sites of one's own");
  problems.Expect(politeness.delay_factor <= 10'000, "politeness.delay_factor", "at most 10000");
  problems.Expect(politeness.robots_ttl >= seconds(1) && politeness.robots_ttl <= std::chrono::hours(24 * 30),
                  "politeness.robots_ttl", "from 1s to 30d (RFC 9309 asks for no more than 24h)");
  problems.Expect(politeness.robots_retry >= seconds(1), "politeness.robots_retry", "at least 1s");
}

void CheckBudget(const Config& config, Problems& problems) {
  const Config::Budget& budget = config.budget;
  if (const auto function = ParseBudgetFunction(budget.function); !function) {
    problems.Expect(false, "budget.function", function.error().message());
  }
  problems.Expect(budget.vouch_base <= 1'000'000, "budget.vouch_base", "at most 1000000");
  problems.Expect(budget.vouch_percent <= 90, "budget.vouch_percent", "at most 90");
  problems.Expect(budget.queues >= 2 && budget.queues <= 1024, "budget.queues", "from 2 to 1024");
}

void CheckFetch(const Config& config, Problems& problems) {
  const Config::Fetch& fetch = config.fetch;
  problems.Expect(fetch.loops <= 256, "fetch.loops", "at most 256");
  problems.Expect(fetch.connections >= 1 && fetch.connections <= 100'000, "fetch.connections", "from 1 to 100000");
  problems.Expect(fetch.connect_timeout >= milliseconds(10), "fetch.connect_timeout", "at least 10ms");
  problems.Expect(fetch.first_byte_timeout >= milliseconds(10), "fetch.first_byte_timeout", "at least 10ms");
  problems.Expect(fetch.total_timeout >= fetch.connect_timeout, "fetch.total_timeout", "is below connect_timeout");
  problems.Expect(fetch.speed_window >= seconds(1), "fetch.speed_window", "at least 1s");
  problems.Expect(fetch.max_head >= Kibi(1) && fetch.max_head <= Mebi(1), "fetch.max_head", "from 1K to 1M");
  problems.Expect(fetch.max_body >= Kibi(1) && fetch.max_body <= Gibi(1), "fetch.max_body", "from 1K to 1G");
  problems.Expect(fetch.max_decoded >= Kibi(1) && fetch.max_decoded <= Gibi(1), "fetch.max_decoded", "from 1K to 1G");
  problems.Expect(IsOneLine(fetch.accept), "fetch.accept", "must be one line");
  problems.Expect(IsOneLine(fetch.accept_encoding), "fetch.accept_encoding", "must be one line");
  problems.Expect(fetch.dns_tries >= 1 && fetch.dns_tries <= 20, "fetch.dns_tries", "from 1 to 20");
  problems.Expect(fetch.dns_timeout >= milliseconds(10), "fetch.dns_timeout", "at least 10ms");
  problems.Expect(fetch.outage_hosts <= 64, "fetch.outage_hosts", "at most 64");
  problems.Expect(config.page.max_links >= 1 && config.page.max_links <= 1'000'000, "page.max_links",
                  "from 1 to 1000000");
}

void CheckOutput(const Config& config, Problems& problems) {
  problems.Expect(config.memory.total >= Mebi(128), "memory.total", "at least 128M");
  const Config::Archive& archive = config.archive;
  problems.Expect(IsFileNamePart(archive.prefix), "archive.prefix", "letters, digits, '.', '_' and '-' only");
  problems.Expect(!archive.directories.empty(), "archive.directories", "names no directory");
  const std::set<std::string> distinct(archive.directories.begin(), archive.directories.end());
  problems.Expect(distinct.size() == archive.directories.size(), "archive.directories", "names one twice");
  problems.Expect(!distinct.contains(""), "archive.directories", "a name is empty");
  problems.Expect(archive.file_size >= Mebi(1), "archive.file_size", "at least 1M");
  problems.Expect(archive.level >= 1 && archive.level <= 12, "archive.level", "from 1 to 12");
  problems.Expect(config.checkpoint.interval >= seconds(1), "checkpoint.interval", "at least 1s");
  problems.Expect(config.log.file_size >= Kibi(64), "log.file_size", "at least 64K");
}

}  // namespace

void SetMine(Config& config) {
  config.politeness.host_delay = {};
  config.politeness.ip_delay = {};
  config.politeness.delay_factor = 0;
  config.politeness.crawl_delay = false;
  config.politeness.connections_per_host = kMineConnections;
  config.fetch.allow_private_addresses = true;
}

Config ForProfile(Profile profile) {
  Config config;
  config.crawl.profile = profile;
  if (profile == Profile::kWeb) {
    config.crawl.max_pages = 0;
    config.crawl.max_depth = 0;
    config.scope.mode = ScopeMode::kAny;
    config.politeness.host_delay = seconds(40);  // tau_h
    config.politeness.ip_delay = seconds(1);     // tau_s
    config.politeness.host_delay_floor = seconds(10);
    config.politeness.ip_delay_floor = std::chrono::milliseconds(50);
    config.budget.enabled = true;
    config.fetch.loops = 0;
    config.memory.total = Gibi(4);
    config.checkpoint.interval = std::chrono::minutes(10);
  }
  return config;
}

Status ValidateConfig(const Config& config) {
  Problems problems;
  CheckCrawlAndScope(config, problems);
  CheckPoliteness(config, problems);
  CheckBudget(config, problems);
  CheckFetch(config, problems);
  CheckOutput(config, problems);
  return std::move(problems).Result();
}

std::string UserAgentOf(const Config& config, std::string_view version) {
  std::string agent = fmt::format("{}/{}", config.politeness.user_agent, version);
  if (!config.politeness.contact_url.empty()) agent += fmt::format(" (+{})", config.politeness.contact_url);
  return agent;
}

}  // namespace portolan
