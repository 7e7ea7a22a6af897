// Profiles, and which settings fit together. The range of each number alone is in config_fields.cc.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>

#include "base/ascii.h"
#include "base/units.h"
#include "crawl/config.h"
#include "crawl/config_fields.h"
#include "crawl/phase_plan.h"
#include "fetch/request_fields.h"
#include "flow/address.h"
#include "reputation/budget_function.h"
#include "robots/robots_txt.h"
#include "url/url.h"

namespace portolan {
namespace {

using std::chrono::seconds;

constexpr size_t kMaxAddedBytes = 16 << 10;
constexpr size_t kMaxField = 1000;  // bytes of a header field that the user writes

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

// "192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53".
bool IsNameServer(std::string_view text) {
  if (Address::Parse(text)) return true;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  return error == std::errc{} && end == digits.data() + digits.size() && port > 0 && Address::Parse(host) &&
         (bracketed || host.find(':') == std::string_view::npos);
}

// In the form that libcurl takes; a missing port has its default.
bool IsProxy(const std::string& text) {
  const size_t end = text.find("://");
  if (end == std::string::npos || !IsOneLine(text)) return false;
  static constexpr std::array<std::string_view, 6> kSchemes = {"http",    "https",  "socks4",
                                                               "socks4a", "socks5", "socks5h"};
  return std::ranges::find(kSchemes, std::string_view(text).substr(0, end)) != kSchemes.end() &&
         IsWebUrl("http" + text.substr(end));
}

void CheckCrawlAndScope(const Config& config, Problems& problems) {
  for (const std::string& seed : config.crawl.seeds) {
    problems.Expect(IsWebUrl(seed), "crawl.seeds", fmt::format("'{}' is not an http or https URL", seed));
  }
  const Config::Scope& scope = config.scope;
  for (const auto* list : {&scope.include_domains, &scope.exclude_domains}) {
    const std::string_view key = list == &scope.include_domains ? "scope.include_domains" : "scope.exclude_domains";
    for (const std::string& domain : *list) {
      problems.Expect(IsDomain(domain), key, fmt::format("'{}' is not a domain: write it like example.org", domain));
    }
  }
  for (const std::string& prefix : scope.include_prefixes) {
    problems.Expect(IsWebUrl(prefix), "scope.include_prefixes",
                    fmt::format("'{}' is not the beginning of an http or https URL", prefix));
  }
  for (const std::string& pattern : scope.exclude) {
    problems.Expect(!pattern.empty(), "scope.exclude", "an empty pattern excludes nothing");
  }
}

void CheckPoliteness(const Config& config, Problems& problems) {
  const Config::Politeness& politeness = config.politeness;
  const std::string& agent = politeness.user_agent;
  problems.Expect(!agent.empty() && agent.size() <= kMaxField && IsOneLine(agent) && agent == TrimBlanks(agent),
                  "politeness.user_agent", "must be one line of at most 1000 bytes, without spaces around it");
  if (politeness.robots_token.empty()) {
    problems.Expect(IsValidProductToken(RobotsTokenOf(config)), "politeness.user_agent",
                    fmt::format("'{}' does not begin with a product token (letters, - and _) that robots.txt could "
                                "address: set politeness.robots_token",
                                agent));
  } else {
    problems.Expect(IsValidProductToken(politeness.robots_token), "politeness.robots_token",
                    fmt::format("'{}' is not a product token: use only letters, - and _", politeness.robots_token));
  }
  const bool web = config.crawl.profile == Profile::kWeb || config.scope.mode == ScopeMode::kAny;
  if (politeness.contact_url.empty()) {
    problems.Expect(!web || config.fetch.allow_private_addresses, "politeness.contact_url",
                    "is needed for a crawl of the open web: say who you are and how to reach you");
  } else {
    problems.Expect(IsWebUrl(politeness.contact_url) || politeness.contact_url.starts_with("mailto:"),
                    "politeness.contact_url", "must be an http or https URL, or mailto:");
  }
  problems.Expect(IsOneLine(politeness.contact_url), "politeness.contact_url", "must be one line");
  problems.Expect(IsOneLine(politeness.from), "politeness.from", "must be one line");
  problems.Expect(politeness.min_delay <= politeness.max_delay, "politeness.min_delay", "is above max_delay");
  problems.Expect(politeness.host_delay <= politeness.max_delay, "politeness.host_delay", "is above max_delay");
  const bool careless = politeness.connections_per_host > 1 || politeness.host_delay.count() == 0;
  problems.Expect(!careless || !config.scope.requisites, "scope.requisites",
                  "come from hosts of others, too, and need a delay and one connection per host: leave out --mine, or "
                  "set scope.embeds = true instead, which fetches only what is in scope");
  problems.Expect(
      politeness.connections_per_host <= 1 || !web, "politeness.connections_per_host",
      "must be 1 in a crawl of the open web (profile web, or scope any): higher values are only for your own sites");
}

// What knows something of a host or domain needs one place for it, which a crawl with phases has not.
void CheckPhases(const Config& config, Problems& problems) {
  const Config::Crawl& crawl = config.crawl;
  if (crawl.partition != Partition::kPhase) {
    problems.Expect(crawl.phases == 0, "crawl.phases", "is used only with crawl.partition = \"phase\": leave it out");
    return;
  }
  const auto without = [](std::string_view set, std::string_view what) {
    return fmt::format("must be {} with crawl.partition = \"phase\": {}", set, what);
  };
  problems.Expect(!config.budget.enabled, "budget.enabled", without("false", "no shard has a whole domain to judge"));
  problems.Expect(!config.traps.enabled, "traps.enabled", without("false", "no shard has a whole host to judge"));
  problems.Expect(config.content.duplicates != DuplicatePolicy::kSkip, "content.duplicates",
                  without("\"mark\" or \"keep\"", "no shard knows all copies of a host"));
  for (const Rule& rule : config.rules.rule) {
    problems.Expect(
        rule.action != RuleAction::kLimit, "rules.rule",
        "cannot limit pages with crawl.partition = \"phase\", where no shard counts a whole host: leave out "
        "rules with action = \"limit\"");
  }
  const PhasePlan plan = PhasePlan::Of(config);
  const auto words = [](int64_t ns) { return FormatDuration(static_cast<double>(ns) * 1e-9); };
  problems.Expect(
      plan.partition.gap_ns >= plan.least_gap_ns, "crawl.phase_gap",
      fmt::format("must be at least {}: fetch.total_timeout {}, politeness.max_delay {}, and 400 ms for clocks "
                  "that differ. Make it longer, or 0, or these shorter",
                  words(plan.least_gap_ns), words(config.fetch.total_timeout.count()),
                  words(config.politeness.max_delay.count())));
  problems.Expect(plan.partition.gap_ns < plan.partition.period_ns, "crawl.phase_period",
                  fmt::format("must be longer than the gap of {} (crawl.phase_gap, or fetch.total_timeout {} and "
                              "politeness.max_delay {} and 4 s): nothing would be fetched",
                              words(plan.partition.gap_ns), words(config.fetch.total_timeout.count()),
                              words(config.politeness.max_delay.count())));
}

void CheckBudget(const Config& config, Problems& problems) {
  const Config::Budget& budget = config.budget;
  if (const auto function = ParseBudgetFunction(budget.function); !function) {
    problems.Expect(false, "budget.function", function.error().message());
  }
}

void CheckAddedFields(const Config::Fetch& fetch, Problems& problems) {
  size_t bytes = fetch.login.size();
  bool authorization = false;
  const auto judge = [&](std::string_view key, const Status& status) {
    if (!status) problems.Add(key, status.error().message());
  };
  for (const std::string& line : fetch.headers) {
    judge("fetch.headers", CheckAddedField(line));
    authorization |= EqualsIgnoringCase(std::string_view(line).substr(0, line.find(':')), "Authorization");
    bytes += line.size();
  }
  for (const std::string& cookie : fetch.cookies) {
    judge("fetch.cookies", CheckCookie(cookie));
    bytes += cookie.size();
  }
  if (!fetch.login.empty()) judge("fetch.login", CheckLogin(fetch.login));
  problems.Expect(fetch.login.empty() || !authorization, "fetch.login",
                  "cannot be used together with an Authorization field in fetch.headers");
  problems.Expect(bytes <= kMaxAddedBytes, "fetch.headers",
                  "is more than 16 KiB together with cookies and login: servers refuse that");
}

void CheckFetch(const Config& config, Problems& problems) {
  const Config::Fetch& fetch = config.fetch;
  problems.Expect(fetch.total_timeout >= fetch.connect_timeout, "fetch.total_timeout", "is below connect_timeout");
  problems.Expect(IsOneLine(fetch.accept), "fetch.accept", "must be one line");
  problems.Expect(IsOneLine(fetch.accept_encoding), "fetch.accept_encoding", "must be one line");
  problems.Expect(IsOneLine(fetch.accept_language), "fetch.accept_language", "must be one line");
  CheckAddedFields(fetch, problems);
  for (const std::string& server : fetch.dns_servers) {
    problems.Expect(
        IsNameServer(server), "fetch.dns_servers",
        fmt::format("'{}' is not a name server: write 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53, with a port "
                    "from 1 to 65535",
                    server));
  }
  problems.Expect(
      fetch.proxy.empty() || IsProxy(fetch.proxy), "fetch.proxy",
      fmt::format("'{}' is not a proxy: write http://host:port, https://, socks4://, socks4a://, socks5:// or "
                  "socks5h://",
                  fetch.proxy));
}

void CheckOutput(const Config& config, Problems& problems) {
  const Config::Archive& archive = config.archive;
  problems.Expect(IsFileNamePart(archive.prefix), "archive.prefix", "must be letters, digits, '.', '_' and '-' only");
  problems.Expect(!archive.directories.empty(), "archive.directories", "is empty: name at least one directory");
  const std::set<std::string> distinct(archive.directories.begin(), archive.directories.end());
  problems.Expect(distinct.size() == archive.directories.size(), "archive.directories", "names a directory twice");
  problems.Expect(!distinct.contains(""), "archive.directories", "has an empty name");
}

}  // namespace

void SetMine(Config& config) {
  config.politeness.host_delay = {};
  config.politeness.ip_delay = {};
  config.politeness.delay_factor.reset();  // follows host_delay
  config.politeness.crawl_delay = false;
  config.politeness.connections_per_host = kMineConnections;
  config.fetch.allow_private_addresses = true;
}

Config ForProfile(Profile profile) {
  Config config;
  config.crawl.profile = profile;
  if (profile == Profile::kWeb) {
    config.crawl.max_pages = 0;
    config.crawl.max_depth.reset();
    config.scope.mode = ScopeMode::kAny;
    config.politeness.host_delay = seconds(40);  // tau_h
    config.politeness.ip_delay = seconds(1);     // tau_s
    config.politeness.host_delay_floor = seconds(10);
    config.politeness.give_up_quickly = false;
    config.politeness.ip_delay_floor = std::chrono::milliseconds(50);
    config.budget.enabled = true;
    config.traps.enabled = true;
    config.fetch.loops = 0;
    config.memory.total = Gibi(4);
    config.checkpoint.interval = std::chrono::minutes(10);
  }
  return config;
}

Status ValidateConfig(const Config& config) {
  Problems problems;
  for (const ConfigField& field : ConfigFields()) {
    if (const Status status = field.check(config); !status) {
      problems.Add(fmt::format("{}.{}", field.section, field.key), status.error().message());
    }
  }
  CheckCrawlAndScope(config, problems);
  CheckPoliteness(config, problems);
  CheckPhases(config, problems);
  CheckBudget(config, problems);
  CheckFetch(config, problems);
  CheckOutput(config, problems);
  return std::move(problems).Result();
}

std::string UserAgentOf(const Config& config, std::string_view version) {
  const Config::Politeness& politeness = config.politeness;
  std::string agent = politeness.user_agent;
  if (IsValidProductToken(agent)) agent += fmt::format("/{}", version);
  if (agent.find(politeness.contact_url) == std::string::npos) agent += fmt::format(" (+{})", politeness.contact_url);
  return agent;
}

std::string_view RobotsTokenOf(const Config& config) {
  const Config::Politeness& politeness = config.politeness;
  return politeness.robots_token.empty() ? ProductToken(politeness.user_agent) : politeness.robots_token;
}

double DelayFactorOf(const Config& config) {
  const bool no_delay = config.politeness.host_delay == Config::Duration::zero();
  return config.politeness.delay_factor.value_or(no_delay ? 0 : kDelayFactor);
}

bool HoldsSecrets(const Config& config) {
  const Config::Fetch& fetch = config.fetch;
  return !fetch.headers.empty() || !fetch.cookies.empty() || !fetch.login.empty() ||
         fetch.proxy.find('@') != std::string::npos;
}

}  // namespace portolan
