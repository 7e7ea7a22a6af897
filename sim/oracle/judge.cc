#include "sim/oracle/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "base/hash.h"

namespace portolan::sim {
namespace {

constexpr size_t kMaxFreshnessSamples = 1000;

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void Narrow(SmallestGap& smallest, int64_t gap_ns, std::string_view where) {
  if (gap_ns < 0 || (smallest.ns >= 0 && smallest.ns <= gap_ns)) return;
  smallest.ns = gap_ns;
  smallest.where = where;
}

constexpr int64_t kMaxSeconds = 1'000'000'000;

// RFC 9110's IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT", which is the only form that the world writes.
std::optional<int64_t> FixdateSeconds(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29) return std::nullopt;
  const auto number = [text](size_t at, size_t size) {
    int value = -1;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  const size_t month = kMonths.find(text.substr(8, 3));
  const int day = number(5, 2);
  const int year = number(12, 4);
  if (month == std::string_view::npos || month % 3 != 0 || day < 1 || year < 1970) return std::nullopt;
  const std::chrono::sys_days date = std::chrono::year(year) / static_cast<int>(month / 3 + 1) / day;
  const int64_t hours = int64_t{date.time_since_epoch().count()} * 24 + number(17, 2);
  return (hours * 60 + number(20, 2)) * 60 + number(23, 2);
}

bool IsTrap(PlaceClass place_class) {
  return place_class == PlaceClass::kCalendar || place_class == PlaceClass::kSession ||
         place_class == PlaceClass::kLoop || place_class == PlaceClass::kQuery || place_class == PlaceClass::kMaze;
}

// What browsers and their like ask of any host, whether a page names it or not.
bool IsAskedByItself(std::string_view path_and_query) {
  return path_and_query == "/favicon.ico" || path_and_query == "/robots.txt" ||
         path_and_query.starts_with("/.well-known/") || path_and_query.starts_with("/apple-touch-icon");
}

}  // namespace

Judge::Judge(const World& world, Options options)
    : world_(world), options_(std::move(options)), pages_(world.TotalPages()) {}

Judge::HostRecord* Judge::HostOf(std::string_view name) {
  const uint64_t key = Hash64(name);
  const auto found = hosts_.find(key);
  if (found != hosts_.end()) return &found->second;
  if (hosts_.size() >= options_.max_hosts) return nullptr;
  return &hosts_[key];
}

Judge::AddressRecord* Judge::AddressOf(std::string_view address) {
  const uint64_t key = Hash64(address);
  const auto found = addresses_.find(key);
  if (found != addresses_.end()) return &found->second;
  if (addresses_.size() >= options_.max_hosts) return nullptr;
  return &addresses_[key];
}

void Judge::OnHit(const Hit& hit) {
  if (account_.fetches == 0) {
    account_.first_ns = hit.unix_ns;
    if (options_.freshness_every_ns > 0) next_freshness_ns_ = hit.unix_ns + options_.freshness_every_ns;
  }
  while (next_freshness_ns_ >= 0 && hit.unix_ns >= next_freshness_ns_) {
    account_.freshness.push_back(MeasureFreshness(next_freshness_ns_));
    next_freshness_ns_ += options_.freshness_every_ns;
    if (account_.freshness.size() >= kMaxFreshnessSamples) next_freshness_ns_ = -1;
  }

  ++account_.fetches;
  account_.bytes += hit.bytes;
  account_.last_ns = std::max({account_.last_ns, hit.unix_ns, hit.end_ns});
  ++account_.by_status[hit.status >= 100 && hit.status < 600 ? static_cast<size_t>(hit.status) / 100 : 0];
  const Place place = world_.Find(hit.host, hit.path_and_query);
  ++account_.by_class[static_cast<size_t>(place.place_class)];
  const bool exists = place.place_class != PlaceClass::kNothing;
  // A host of the other scheme only says where it is: that is no fetch of the place.
  const bool detour = exists && hit.tls != world_.HostIsTls(place.host);
  if (detour) ++account_.detours;
  if (exists && (place.place_class == PlaceClass::kSpam || world_.IsSpam(place.host.domain))) ++account_.spam;
  if (IsTrap(place.place_class)) ++account_.traps;

  if (hit.conditional) ++account_.conditional;
  if (hit.conditional && hit.status == 304) ++account_.not_modified;
  if (place.place_class == PlaceClass::kPage && hit.status / 100 == 2) {
    ++account_.page_answers;
    if (hit.tls) ++account_.page_answers_https;
    if (hit.http2) ++account_.page_answers_http2;
  }

  JudgeOpenConnections(hit);
  HostRecord* const host = HostOf(hit.host);
  AddressRecord* const address = AddressOf(hit.address);
  if (host == nullptr || address == nullptr) ++account_.unjudged;
  if (host != nullptr) {
    if (host->robots_next.asked_ns >= 0 && host->robots_next.end_ns <= hit.unix_ns + options_.rules.slack_ns) {
      host->robots = std::exchange(host->robots_next, RobotsState());
    }
    if (host->fetches++ == 0) ++account_.hosts;
    JudgePace(hit, place, *host);
    if (exists && !detour && place.place_class != PlaceClass::kRobots) JudgeRobots(hit, place, *host);
  }
  if (address != nullptr) {
    if (address->fetches++ == 0) ++account_.addresses;
    JudgeIpPace(hit, *address);
  }
  if (!exists && IsAskedByItself(hit.path_and_query) && world_.FindHost(hit.host)) {
    ++account_.browser_requests;
  } else if (!exists && options_.rules.unknown_urls) {
    Offend(Violation::kUnknownUrl, hit, "no such place in this web");
  }
  if (detour) return;
  NoteAnswer(hit, place, host);
  // After NoteAnswer, which wants to know how often the page was asked for before.
  if (place.place_class == PlaceClass::kPage && !world_.IsSpam(place.host.domain)) JudgePage(hit, place);
}

void Judge::JudgePace(const Hit& hit, const Place& place, HostRecord& host) {
  const Rules& rules = options_.rules;
  const int64_t last_start_ns = host.pace.last_start_ns();
  const Pace::Step step = host.pace.Add(hit.unix_ns, std::max(hit.end_ns, hit.unix_ns));
  account_.max_in_progress = std::max(account_.max_in_progress, step.in_progress);
  if (rules.connections != 0 && step.in_progress > rules.connections) {
    Offend(Violation::kParallel, hit, fmt::format("{} at once, {} allowed", step.in_progress, rules.connections));
  }
  if (host.held_until_ns >= 0 && hit.unix_ns > host.held_from_ns && rules.retry_after &&
      hit.unix_ns + rules.slack_ns < host.held_until_ns) {
    Offend(Violation::kRetryAfter, hit,
           fmt::format("{:.3f} s before the time that was named", Seconds(host.held_until_ns - hit.unix_ns)));
  }
  if (step.from_start_ns == Pace::kNever) return;

  Narrow(account_.host_gap, step.from_start_ns, hit.host);
  Narrow(account_.host_end_gap, step.from_end_ns, hit.host);
  const int64_t gap_ns = rules.gap_from_end ? step.from_end_ns : step.from_start_ns;
  if (gap_ns + rules.slack_ns < rules.host_gap_ns) {
    Offend(Violation::kHostGap, hit,
           fmt::format("{:.3f} s after the last, {:.3f} s wanted", Seconds(gap_ns), Seconds(rules.host_gap_ns)));
  }
  if (rules.delay_factor > 0) {
    const int64_t wanted_ns = std::min(
        static_cast<int64_t>(rules.delay_factor * static_cast<double>(step.last_took_ns)), rules.delay_factor_max_ns);
    if (step.from_end_ns + rules.slack_ns < wanted_ns) {
      Offend(
          Violation::kDelayFactor, hit,
          fmt::format("{:.3f} s after the last ended, {:.3f} s wanted", Seconds(step.from_end_ns), Seconds(wanted_ns)));
    }
  }
  // The client knew of the delay when it made the request before this one.
  const bool told = host.robots.asked_ns >= 0 && host.robots.end_ns <= last_start_ns + rules.slack_ns &&
                    host.robots.asked_ns != last_start_ns;
  if (rules.crawl_delay && rules.robots && told && place.place_class != PlaceClass::kNothing) {
    const double delay_s = world_.CrawlDelay(place.host, rules.agent, host.robots.asked_ns);
    const int64_t wanted_ns = std::min(static_cast<int64_t>(delay_s * 1e9), rules.crawl_delay_max_ns);
    if (step.from_start_ns + rules.slack_ns < wanted_ns) {
      Offend(Violation::kCrawlDelay, hit,
             fmt::format("{:.3f} s after the last, Crawl-delay is {:.3f} s", Seconds(step.from_start_ns), delay_s));
    }
  }
}

void Judge::JudgeIpPace(const Hit& hit, AddressRecord& address) {
  const Rules& rules = options_.rules;
  const Pace::Step step = address.pace.Add(hit.unix_ns, std::max(hit.end_ns, hit.unix_ns));
  if (step.from_start_ns == Pace::kNever) return;
  Narrow(account_.ip_gap, step.from_start_ns, hit.address);
  Narrow(account_.ip_end_gap, step.from_end_ns, hit.address);
  const int64_t gap_ns = rules.gap_from_end ? step.from_end_ns : step.from_start_ns;
  if (gap_ns + rules.slack_ns < rules.ip_gap_ns) {
    Offend(Violation::kIpGap, hit,
           fmt::format("{:.3f} s after the last to {}, {:.3f} s wanted", Seconds(gap_ns), hit.address,
                       Seconds(rules.ip_gap_ns)));
  }
}

void Judge::JudgeRobots(const Hit& hit, const Place& place, const HostRecord& host) {
  const Rules& rules = options_.rules;
  if (!rules.robots) return;
  const bool asked = host.robots.asked_ns >= 0;
  if (!asked) Offend(Violation::kRobotsNotAsked, hit, "no answered request for robots.txt before this");
  if (asked && host.robots.unreachable) {
    Offend(Violation::kRobotsUnreachable, hit, "robots.txt could not be fetched: everything is forbidden");
    return;
  }
  if (asked && rules.robots_ttl_ns > 0 && hit.unix_ns - host.robots.end_ns > rules.robots_ttl_ns + rules.slack_ns) {
    Offend(Violation::kRobotsStale, hit,
           fmt::format("robots.txt is {:.0f} s old", Seconds(hit.unix_ns - host.robots.end_ns)));
  }
  if (!world_.Allowed(place, rules.agent, asked ? host.robots.asked_ns : hit.unix_ns)) {
    Offend(Violation::kRobots, hit, fmt::format("forbidden to {}", rules.agent));
  }
}

void Judge::JudgePage(const Hit& hit, const Place& place) {
  const Rules& rules = options_.rules;
  const uint64_t page = world_.DenseNumber(place.host, place.number);
  if (pages_.asked(page) == 0) ++account_.pages_fetched;
  if (pages_.asked(page) > pages_.finished(page)) ++account_.retries;
  if (rules.fetches_per_url != 0) {
    if (pages_.finished(page) >= rules.fetches_per_url) {
      Offend(Violation::kRepeat, hit,
             fmt::format("had {} times before, {} allowed", pages_.finished(page), rules.fetches_per_url));
    } else if (rules.tries_per_url != 0 && pages_.asked(page) >= rules.tries_per_url) {
      Offend(Violation::kRepeat, hit, fmt::format("tried {} times before", pages_.asked(page)));
    }
  }
  pages_.CountAsked(page);
  if (!DeservesRetry(hit, place)) pages_.CountFinished(page);
  NoteCopy(hit, place, page);
}

bool Judge::DeservesRetry(const Hit& hit, const Place& place) const {
  if (hit.status == 0 || hit.status == 429 || hit.status >= 500) return true;
  return world_.KindOf(place) == PageKind::kFault && world_.FaultOf(place) != WireFault::kNone;
}

void Judge::NoteAnswer(const Hit& hit, const Place& place, HostRecord* host) {
  if (place.place_class == PlaceClass::kRobots) {
    ++account_.robots_fetches;
    if (host != nullptr) account_.max_robots_fetches = std::max(account_.max_robots_fetches, ++host->robots_fetches);
    // A redirect is no answer: what it leads to is one.
    if (host != nullptr && hit.status / 100 != 3) {
      const bool failed = hit.status == 0 || hit.status >= 500;
      host->robots_next = {.asked_ns = hit.unix_ns,
                           .end_ns = std::max(hit.end_ns, hit.unix_ns),
                           .unreachable = failed || !world_.RobotsReachable(place.host, hit.unix_ns)};
    }
  }
  if (host == nullptr || (hit.status != 429 && hit.status != 503)) return;
  const int64_t wait_ns = RetryAfterNs(hit, place);
  if (wait_ns < 0) return;
  const int64_t end_ns = std::max(hit.end_ns, hit.unix_ns);
  const int64_t until_ns = end_ns + std::min(wait_ns, options_.rules.retry_after_max_ns);
  if (until_ns <= host->held_until_ns) return;
  host->held_from_ns = end_ns;
  host->held_until_ns = until_ns;
}

int64_t Judge::RetryAfterNs(const Hit& hit, const Place& place) {
  Request request{.method = hit.method, .host = hit.host, .path_and_query = hit.path_and_query};
  request.user_agent = hit.user_agent;
  request.tls = hit.tls;
  request.unix_ns = hit.unix_ns;
  if (place.place_class == PlaceClass::kPage && !world_.IsSpam(place.host.domain)) {
    request.earlier = pages_.asked(world_.DenseNumber(place.host, place.number));
  }
  const Answer answer = world_.Respond(request);
  if (answer.status != hit.status) {
    ++account_.unlike_world;
    return -1;
  }
  for (const auto& [name, value] : answer.headers) {
    if (name != "Retry-After") continue;
    const int64_t end_ns = std::max(hit.end_ns, hit.unix_ns);
    int64_t seconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (error == std::errc() && end == value.data() + value.size() && seconds >= 0 && seconds < kMaxSeconds) {
      return seconds * 1'000'000'000;
    }
    if (const auto date = FixdateSeconds(value)) return std::max<int64_t>(*date * 1'000'000'000 - end_ns, 0);
  }
  return -1;
}

void Judge::OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t /*port*/) {
  const uint32_t open = to_addresses_.Open(connection, address);
  account_.max_sockets = std::max(account_.max_sockets, open);
  const uint32_t allowed = options_.rules.ip_sockets;
  if (allowed != 0 && open > allowed) {
    Offend(Violation::kSockets, Hit{.unix_ns = unix_ns, .host = address},
           fmt::format("{} open, {} allowed", open, allowed));
  }
}

void Judge::OnClose(int64_t /*unix_ns*/, uint64_t connection) {
  to_addresses_.Close(connection);
  to_hosts_.Close(connection);
}

void Judge::JudgeOpenConnections(const Hit& hit) {
  if (!to_addresses_.IsOpen(hit.connection)) return;  // connections are not reported here
  const uint32_t open = to_hosts_.Open(hit.connection, hit.host);
  if (open > account_.open_connections_max) {
    account_.open_connections_max = open;
    account_.open_connections_host = hit.host;
  }
  const uint32_t allowed = options_.rules.open_connections;
  if (allowed != 0 && open > allowed) {
    Offend(Violation::kOpenConnections, hit, fmt::format("{} open, {} allowed", open, allowed));
  }
}

void Judge::OnDns(int64_t /*unix_ns*/, std::string_view name, std::string_view /*type*/, int /*rcode*/) {
  ++account_.dns_questions;
  HostRecord* const host = HostOf(name);
  if (host == nullptr) return;
  if (host->dns_questions++ == 0) ++account_.dns_names;
  if (host->dns_questions > account_.max_dns_questions) {
    account_.max_dns_questions = host->dns_questions;
    account_.max_dns_name = name;
  }
}

void Judge::Offend(Violation kind, const Hit& hit, std::string detail) {
  if (account_.violations[static_cast<size_t>(kind)]++ >= options_.offences_a_kind) return;
  account_.offences.push_back(
      {kind, hit.unix_ns, std::string(hit.host) + std::string(hit.path_and_query), std::move(detail)});
}

void Judge::Cover(const EachPage& each_reachable, const std::function<void(const std::string& url)>& each_missed) {
  account_.reach_known = true;
  each_reachable([&](uint64_t page) {
    ++account_.reachable;
    if (world_.HostIsTls(world_.FromDense(page).host)) ++account_.reachable_https;
    if (pages_.asked(page) != 0) {
      ++account_.fetched_of_reachable;
      if (pages_.finished(page) == 0) ++account_.unfinished;
      return;
    }
    ++account_.missed;
    const bool example = account_.missed_urls.size() < options_.offences_a_kind;
    if (example || each_missed) {
      const std::string url = world_.UrlOf(world_.FromDense(page));
      if (example) account_.missed_urls.push_back(url);
      if (each_missed) each_missed(url);
    }
  });
  if (options_.rules.complete) account_.violations[static_cast<size_t>(Violation::kMissed)] = account_.missed;
}

}  // namespace portolan::sim
