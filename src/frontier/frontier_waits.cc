// URLs that wait because they failed: shown to users, and tried sooner if nothing else is left.

#include <algorithm>

#include "base/hash.h"
#include "frontier/frontier.h"

namespace portolan {
namespace {

int64_t QuickWait(uint32_t failures) {
  constexpr size_t kLast = std::size(Frontier::kQuickNs) - 1;
  return Frontier::kQuickNs[std::min<size_t>(failures > 0 ? failures - 1 : 0, kLast)];
}

uint32_t AttemptsOf(std::string_view record) {
  const auto decoded = DecodeUrlRecord(record);
  return decoded ? decoded->attempts : 0;
}

// True if everything that the host has failed before. If its name is looked up again later, its robots.txt comes first.
bool AllFailed(const Host& host) {
  std::string_view head;
  if (!host.queue.OnlyLater(&head)) return false;
  if (head.empty()) return true;
  const auto record = DecodeUrlRecord(head);
  if (!record) return false;
  return record->attempts > 0 || (host.state == HostState::kDnsLater && record->kind == UrlKind::kRobots);
}

}  // namespace

bool Frontier::OnlyWaits(uint32_t max_hosts) const {
  if (hosts_.slots() > max_hosts) return false;
  if (!front_->empty() || in_flight_ > 0 || resolving_ > 0 || !awaiting_.empty() || !failing_.empty()) return false;
  for (uint32_t id = 0; id < hosts_.slots(); ++id) {
    const Host& host = hosts_[id];
    const bool has_urls = host.state == HostState::kReady || host.state == HostState::kDnsLater;
    if (has_urls && !AllFailed(host)) return false;
  }
  return true;
}

void Frontier::Hurry(int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  for (uint32_t id = 0; id < hosts_.slots(); ++id) {
    const HostState state = std::as_const(hosts_)[id].state;
    if (state == HostState::kReady) {
      Host& host = hosts_[id];
      const int64_t soon_ns = std::max(host.polite_ns, now_ns + QuickWait(host.ill_streak));
      host.free_ns = std::min(host.free_ns, soon_ns);
      host.queue.HurryLater([&](std::string_view record) { return now_ns + QuickWait(AttemptsOf(record)); });
      Reposition(id);
    } else if (state == HostState::kDnsLater) {
      const int64_t soon_ns = now_ns + QuickWait(std::as_const(hosts_)[id].dns_failures);
      if (timers_.at(std::as_const(hosts_)[id].place).time_ns <= soon_ns) continue;
      ClearTimer(id);
      SetTimer(id, soon_ns);
    }
  }
}

std::vector<Frontier::Wait> Frontier::Waits(size_t max, uint32_t look) const {
  std::vector<Wait> waits;
  for (uint32_t id = 0; id < std::min(look, hosts_.slots()); ++id) {
    const Host& host = hosts_[id];
    Wait wait;
    const auto take = [&](std::string_view bytes, int64_t until_ns) {
      const auto record = DecodeUrlRecord(bytes);
      if (!record) return;
      wait.url = record->url;
      wait.key = options_.key.Hash(record->url);
      wait.failures = record->attempts;
      wait.until_ns = until_ns;
    };
    if (host.state == HostState::kDnsLater) {
      take(host.queue.Any(), timers_.at(host.place).time_ns);
      wait.key = host.key;
      wait.failures = host.dns_failures;
    } else if (host.state == HostState::kReady) {
      std::string_view head;
      const bool only_later = host.queue.OnlyLater(&head) && head.empty();
      if (only_later) {
        const BackQueue::Later& first = host.queue.later()->front();
        take(first.record, std::max(first.not_before_ns, host.free_ns));
      } else if (host.ill_streak > 0) {
        take(host.queue.Any(), host.free_ns);
      }
    }
    if (wait.url.empty()) continue;
    wait.urls = host.queue.size();
    waits.push_back(std::move(wait));
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.until_ns < b.until_ns; });
  if (waits.size() > max) waits.resize(max);
  return waits;
}

Frontier::Slowest Frontier::SlowestHost(uint32_t look) const {
  Slowest slowest;
  double longest = 0;
  for (uint32_t id = 0; id < std::min(look, hosts_.slots()); ++id) {
    const Host& host = hosts_[id];
    if ((host.state != HostState::kReady && host.state != HostState::kInFlight) || host.queue.empty()) continue;
    // For a host in flight the last gap is not known any more.
    const int64_t least = HostGap(options_.politeness, host.crawl_delay_ns, 0, host.budget);
    const int64_t gap_ns = host.last_end_ns == Host::kNeverHit || host.state == HostState::kInFlight
                               ? least
                               : std::max(least, host.polite_ns - host.last_end_ns);
    const double time = static_cast<double>(gap_ns) * static_cast<double>(host.queue.size());
    if (time <= longest) continue;
    const auto record = DecodeUrlRecord(host.queue.Any());
    if (!record) continue;
    longest = time;
    slowest = {std::string(HostOf(record->url)), host.queue.size(), gap_ns};
  }
  return slowest;
}

}  // namespace portolan
