#include "frontier/workbench.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace portolan {

uint32_t Workbench::FindOrMake(const Address& address) {
  const auto [found, fresh] = numbers_.try_emplace(address.Hash(), 0);
  if (!fresh) return found->second;
  uint32_t ip = 0;
  if (free_.empty()) {
    ip = static_cast<uint32_t>(ips_.size());
    ips_.emplace_back();
  } else {
    ip = free_.back();
    free_.pop_back();
  }
  found->second = ip;
  ips_[ip].address = address;
  ips_[ip].free_ns = quiet_until_ns_;
  ips_[ip].mean_budget = 0;
  ips_[ip].used = true;
  Refresh(ip);
  return ip;
}

void Workbench::Refresh(uint32_t ip) {
  Ip& entry = ips_[ip];
  const Where to = !entry.hosts.empty() ? Where::kTop : entry.bound == 0 ? Where::kIdle : Where::kNowhere;
  TimedNode node{entry.free_ns, 0, ip};
  if (to == Where::kTop) {
    const TimedNode& best = entry.hosts.top();
    node = {std::max(entry.free_ns, best.time_ns), best.sequence, ip};
  } else if (to == Where::kIdle) {
    node.sequence = sequence_++;
  }
  TimedHeap& before = entry.where == Where::kTop ? top_ : idle_;
  if (to == entry.where) {
    if (to != Where::kNowhere) before.Change(entry.place, node.time_ns, node.sequence, IpPlace());
    return;
  }
  if (entry.where != Where::kNowhere) before.Remove(entry.place, IpPlace());
  entry.where = to;
  if (to != Where::kNowhere) (to == Where::kTop ? top_ : idle_).Push(node, IpPlace());
}

void Workbench::Bind(uint32_t host, const Address& address, int64_t now_ns) {
  const uint32_t ip = FindOrMake(address);
  if (hosts_[host].ip == ip) return;
  ++ips_[ip].bound;
  Refresh(ip);
  Unbind(host, now_ns);
  hosts_[host].ip = ip;
}

void Workbench::Unbind(uint32_t host, int64_t now_ns) {
  const uint32_t ip = hosts_[host].ip;
  if (ip == kNoIp) return;
  DCHECK(hosts_[host].place == TimedHeap::kOutside);
  hosts_[host].ip = kNoIp;
  Ip& entry = ips_[ip];
  if (entry.holder == host) {
    entry.holder = kNoHost;
    entry.free_ns = std::max(entry.free_ns, now_ns + politeness_.ip_delay_ns);
  }
  --entry.bound;
  Refresh(ip);
}

void Workbench::Put(uint32_t host, int64_t time_ns) {
  const uint32_t ip = hosts_[host].ip;
  DCHECK(ip != kNoIp && hosts_[host].place == TimedHeap::kOutside);
  ips_[ip].hosts.Push({time_ns, sequence_++, host}, HostPlace());
  Refresh(ip);
}

void Workbench::Take(uint32_t host) {
  const uint32_t ip = hosts_[host].ip;
  ips_[ip].hosts.Remove(hosts_[host].place, HostPlace());
  Refresh(ip);
}

int64_t Workbench::TimeOf(uint32_t host) const { return ips_[hosts_[host].ip].hosts.at(hosts_[host].place).time_ns; }

uint32_t Workbench::Top(int64_t now_ns) const {
  if (top_.empty() || top_.top().time_ns > now_ns) return kNoHost;
  return ips_[top_.top().id].hosts.top().id;
}

void Workbench::NoteRunning(uint32_t ip, int64_t now_ns) {
  for (int looks = 0; looks < 2 && !running_.empty(); ++looks) {
    const uint32_t old = running_.front();
    running_.pop_front();
    Ip& entry = ips_[old];
    entry.running = entry.used && (entry.holder != kNoHost || entry.free_ns > now_ns);
    if (entry.running) running_.push_back(old);
  }
  if (!ips_[ip].running) running_.push_back(ip);
  ips_[ip].running = true;
}

void Workbench::Hit(uint32_t host, int64_t now_ns) {
  DCHECK(Top(now_ns) == host);
  const uint32_t ip = hosts_[host].ip;
  Ip& entry = ips_[ip];
  entry.hosts.Remove(hosts_[host].place, HostPlace());
  hosts_[host].ip_free_before_ns = entry.free_ns;
  hosts_[host].ip_holder_before = entry.holder;
  entry.free_ns = now_ns + std::max(politeness_.ip_hold_max_ns, politeness_.ip_delay_ns);
  entry.holder = host;
  NoteRunning(ip, now_ns);
  Refresh(ip);
}

void Workbench::End(uint32_t host, int64_t now_ns) {
  const uint32_t ip = hosts_[host].ip;
  Ip& entry = ips_[ip];
  // Another host was let through meanwhile: the address's clock is that one's.
  if (entry.holder != host) return;
  entry.holder = kNoHost;
  if (const uint32_t budget = hosts_[host].budget; budget != 0) {
    // An eighth at a time, and from the start where there is none yet.
    entry.mean_budget = entry.mean_budget == 0 ? budget : (7 * entry.mean_budget + budget) / 8;
  }
  entry.free_ns = now_ns + IpGap(politeness_, entry.mean_budget);
  Refresh(ip);
}

void Workbench::Undo(uint32_t host) {
  const uint32_t ip = hosts_[host].ip;
  Ip& entry = ips_[ip];
  if (entry.holder != host) return;
  // The one before may still be under way; then its end counts again.
  const uint32_t before = hosts_[host].ip_holder_before;
  const bool holds = before != kNoHost && hosts_[before].state == HostState::kInFlight && hosts_[before].ip == ip;
  entry.holder = holds ? before : kNoHost;
  entry.free_ns = hosts_[host].ip_free_before_ns;
  Refresh(ip);
}

void Workbench::Expire(int64_t now_ns, size_t max) {
  for (; max > 0 && !idle_.empty() && idle_.top().time_ns <= now_ns; --max) {
    const uint32_t ip = idle_.top().id;
    idle_.Remove(ips_[ip].place, IpPlace());
    numbers_.erase(ips_[ip].address.Hash());
    ips_[ip] = {.running = ips_[ip].running, .hosts = {}};
    free_.push_back(ip);
  }
}

void Workbench::RestoreClock(const Address& address, int64_t free_ns) {
  const uint32_t ip = FindOrMake(address);
  ips_[ip].free_ns = std::max(ips_[ip].free_ns, free_ns);
  NoteRunning(ip, kFreeSinceEver);
  Refresh(ip);
}

Status Workbench::CheckInvariants() const {
  const auto broken = [](std::string what) { return Fail(ErrorCode::kCorrupt, "workbench: " + std::move(what)); };
  if (!top_.Ordered() || !idle_.Ordered()) return broken("a heap of addresses is out of order");
  size_t used = 0;
  size_t offering = 0;
  size_t idle = 0;
  size_t running = 0;
  for (const uint32_t ip : running_) running += ips_[ip].running ? 1 : 0;
  if (running != running_.size()) return broken("an address is noted as running that is not, or twice");
  for (uint32_t i = 0; i < ips_.size(); ++i) {
    const Ip& ip = ips_[i];
    if (!ip.used) continue;
    ++used;
    if (ip.holder != kNoHost && !ip.running) return broken("an address that is held is not noted as running");
    if (!ip.hosts.Ordered()) return broken(fmt::format("{}: hosts out of order", ip.address.ToString()));
    for (uint32_t k = 0; k < ip.hosts.size(); ++k) {
      const Host& host = hosts_[ip.hosts.at(k).id];
      if (host.state != HostState::kReady || host.ip != i || host.place != k) {
        return broken(fmt::format("{}: a host that is not ready here", ip.address.ToString()));
      }
    }
    if (ip.bound < ip.hosts.size()) return broken("more hosts on the bench than bound");
    const TimedHeap& heap = ip.hosts.empty() ? idle_ : top_;
    if (ip.hosts.empty() && ip.bound > 0) {
      if (ip.place != TimedHeap::kOutside) return broken("an address with nothing to offer is in a heap");
      continue;
    }
    ++(ip.hosts.empty() ? idle : offering);
    if (ip.place >= heap.size() || heap.at(ip.place).id != i) return broken("an address is not where it says");
    if (ip.hosts.empty()) continue;
    if (heap.at(ip.place).time_ns != std::max(ip.free_ns, ip.hosts.top().time_ns)) {
      return broken(fmt::format("{}: stands under another time than it is free", ip.address.ToString()));
    }
  }
  if (used != numbers_.size() || offering != top_.size() || idle != idle_.size()) {
    return broken(fmt::format("{} addresses, {} known; {} offering, {} in the heap; {} idle, {} waiting", used,
                              numbers_.size(), offering, top_.size(), idle, idle_.size()));
  }
  return {};
}

}  // namespace portolan
