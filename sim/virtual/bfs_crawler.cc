#include "sim/virtual/bfs_crawler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/hash_key.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
#include "robots/fetch_policy.h"
#include "robots/robots_rules.h"

namespace portolan::sim {
namespace {

constexpr int kHostAttempts = 3;  // of DNS and of robots.txt
constexpr int64_t kHostWaitNs = 60 * kSecond;

}  // namespace

void BfsCrawler::Seed(const std::vector<std::string>& urls) {
  CHECK(port_ != nullptr);
  for (const std::string& url : urls) Add(url, Hash64(url), HostKey(url, HashKey::Known()), 0);
}

void BfsCrawler::Add(std::string_view url, uint64_t hash, uint64_t host_key, uint8_t hops) {
  if (!seen_.insert(hash).second) return;
  ++counts_.seen;
  const auto [entry, is_new] = hosts_.try_emplace(host_key);
  Host& host = entry->second;
  if (is_new) {
    ++counts_.hosts;
    host.name = HostOf(url);
    host.origin = OriginOf(url);
    host.robots_url = host.origin + "/robots.txt";
    host.gap_ns = options_.host_gap_ns;
  }
  if (host.stage == Stage::kDead) {
    ++counts_.failed;
    return;
  }
  host.queue.push_back({std::string(url), 0, hops});
  Pump(host_key, host);
}

// Whatever the host's next step is, unless one is under way.
void BfsCrawler::Pump(uint64_t host_key, Host& host) {
  if (host.busy || host.queue.empty() || host.stage == Stage::kDead) return;
  if (host.stage == Stage::kNew) {
    host.busy = true;
    host.stage = Stage::kResolving;
    port_->Resolve({.host = host_key, .name = host.name});
    return;
  }
  Reserve(host_key, host);
}

void BfsCrawler::Reserve(uint64_t host_key, Host& host) {
  host.busy = true;
  int64_t at_ns = std::max(time_.NowNs(), host.next_ns);
  if (options_.ip_gap_ns > 0) {
    int64_t& next_ns = next_ip_[host.address.Hash(HashKey::Known())];
    at_ns = std::max(at_ns, next_ns);
    next_ns = at_ns + options_.ip_gap_ns;
  }
  time_.At(at_ns, [this, host_key] { Begin(host_key); });
}

void BfsCrawler::Begin(uint64_t host_key) {
  Host& host = hosts_.at(host_key);
  if (host.stage == Stage::kRobots) {
    Send(host_key, host, UrlKind::kRobots, host.robots_url);
    host.begin_ns = time_.NowNs();
    return;
  }
  while (!host.queue.empty()) {
    host.current = std::move(host.queue.front());
    host.queue.pop_front();
    if (!Allowed(host, host.current.text)) {
      ++counts_.forbidden;
      continue;
    }
    if (sent_ >= options_.max_fetches) continue;
    ++sent_;
    host.begin_ns = time_.NowNs();
    Send(host_key, host, UrlKind::kPage, host.current.text);
    return;
  }
  host.busy = false;
}

void BfsCrawler::Send(uint64_t host_key, const Host& host, UrlKind kind, const std::string& url) {
  // One request a host is in progress, so the host is its name.
  port_->Fetch({.id = host_key, .kind = kind, .url = url, .address = host.address, .host = host_key});
}

bool BfsCrawler::Allowed(const Host& host, const std::string& url) const {
  if (!options_.obey_robots || host.rules.empty()) return true;
  const auto rules = RobotsRules::Open(host.rules);
  CHECK(rules.has_value());
  return rules->Allows(PathAndQueryOf(url));
}

void BfsCrawler::Kill(Host& host) {
  host.stage = Stage::kDead;
  counts_.failed += host.queue.size();
  host.queue.clear();
}

void BfsCrawler::OnResolved(Resolution&& resolution) {
  const uint64_t host_key = resolution.host;
  Host& host = hosts_.at(host_key);
  host.busy = false;
  if (resolution.outcome == FetchOutcome::kAnswered) {
    host.address = resolution.addresses.front();
    host.stage = options_.obey_robots ? Stage::kRobots : Stage::kReady;
    host.attempts = 0;
    Pump(host_key, host);
    return;
  }
  const bool again = FollowOf(resolution.outcome, 0).retry == Retry::kHostLater && ++host.attempts < kHostAttempts;
  if (!again) return Kill(host);
  host.busy = true;
  time_.At(time_.NowNs() + kHostWaitNs,
           [this, host_key] { port_->Resolve({.host = host_key, .name = hosts_.at(host_key).name}); });
}

void BfsCrawler::OnRobots(uint64_t host_key, Host& host, PageResult&& result) {
  const RobotsAnswer& robots = *result.robots;
  using Kind = RobotsAnswer::Kind;
  if (robots.kind == Kind::kRules) {
    host.rules = robots.rules;
    if (options_.crawl_delay && robots.crawl_delay_ms) {
      host.gap_ns = std::max(host.gap_ns, static_cast<int64_t>(*robots.crawl_delay_ms) * kMillisecond);
      host.next_ns = host.begin_ns + host.gap_ns;
    }
  } else if (robots.kind == Kind::kFollow && HostKey(robots.follow, HashKey::Known()) == host_key &&
             ++host.robots_hops <= kMaxRobotsRedirects) {
    host.robots_url = robots.follow;
    return Pump(host_key, host);
  } else if (robots.kind == Kind::kDisallowAll) {
    if (++host.attempts >= kHostAttempts) return Kill(host);
    host.next_ns = std::max(host.next_ns, time_.NowNs() + kHostWaitNs);
    return Pump(host_key, host);
  }
  // A redirect to another host's file is not followed: no rules.
  host.stage = Stage::kReady;
  Pump(host_key, host);
}

void BfsCrawler::OnPage(PageResult&& result) {
  const uint64_t host_key = result.id;
  Host& host = hosts_.at(host_key);
  host.busy = false;
  host.next_ns = host.begin_ns + host.gap_ns;
  if (options_.retry_after && result.retry_after_ns) {
    host.next_ns = std::max(host.next_ns, result.times.end_ns + *result.retry_after_ns);
  }
  if (result.kind == UrlKind::kRobots) return OnRobots(host_key, host, std::move(result));

  const Follow follow = FollowOf(result.outcome, result.status);
  Url url = std::move(host.current);
  const bool again =
      follow.retry == Retry::kNow || (follow.retry != Retry::kNever && url.attempts + 1 < follow.attempts);
  if (again) {
    ++counts_.retries;
    const int64_t wait_ns = (int64_t{follow.first_wait_ms} << url.attempts) * kMillisecond;
    ++url.attempts;
    if (follow.retry == Retry::kHostLater && options_.retry_after)
      host.next_ns = std::max(host.next_ns, time_.NowNs() + wait_ns);
    time_.At(time_.NowNs() + wait_ns, [this, host_key, url = std::move(url)]() mutable {
      Host& later = hosts_.at(host_key);
      later.queue.push_front(std::move(url));
      Pump(host_key, later);
    });
  } else if (HasAnswer(result.outcome)) {
    ++counts_.pages;
    for (const FoundLink& link : result.links.links) {
      ++counts_.links;
      const bool redirect = (link.flags & kFoundRedirect) != 0;
      if (redirect && url.hops >= options_.max_redirects) continue;
      if ((link.flags & kFoundNofollow) != 0 && !options_.follow_nofollow) continue;
      const auto hops = static_cast<uint8_t>(redirect ? url.hops + 1 : 0);
      Add(result.links.UrlOf(link), link.hash, link.host_hash, hops);
    }
  } else {
    ++counts_.failed;
  }
  // Add may have made hosts: references into the table stay good, and this host may have begun already.
  Pump(host_key, host);
}

}  // namespace portolan::sim
