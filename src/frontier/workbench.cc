#include "frontier/workbench.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace portolan {

uint32_t Workbench::FindOrMake(const Address& address) {
  const auto [found, fresh] = numbers_.try_emplace(address.Hash(key_), 0);
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
  ips_[ip].lease = shared_ ? Lease::kNone : Lease::kHeld;
  Refresh(ip);
  return ip;
}

void Workbench::Refresh(uint32_t ip) {
  Ip& entry = ips_[ip];
  if (entry.recalled) RefreshLease(ip);
  const bool offers = entry.lease != Lease::kAsked && !(entry.recalled && entry.turn_over);
  const Where to = !entry.hosts.empty() ? (offers ? Where::kTop : Where::kNowhere)
                   : entry.bound == 0   ? Where::kIdle
                                        : Where::kNowhere;
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

// ---- leases

uint32_t Workbench::Find(const Address& address) const {
  const auto found = numbers_.find(address.Hash(key_));
  return found == numbers_.end() ? kNoIp : found->second;
}

// REQUIRES: the entry's session is the one that the question is about.
void Workbench::Ask(uint32_t ip) {
  Ip& entry = ips_[ip];
  entry.asked_ns = now_ns_;
  const int64_t free_in_ns = entry.free_ns > now_ns_ ? entry.free_ns - now_ns_ : 0;
  notices_.push_back({AddressNotice::Kind::kWanted, entry.address, entry.session, now_ns_, free_in_ns});
  if (terms_.lease_ns > 0) SetLeaseTimer(ip, now_ns_ + terms_.retry_ns);
}

void Workbench::SetLeaseTimer(uint32_t ip, int64_t time_ns) {
  const uint32_t place = ips_[ip].lease_place;
  if (place != TimedHeap::kOutside) lease_timers_.Remove(place, LeasePlace());
  if (time_ns != kNever) lease_timers_.Push({time_ns, sequence_++, ip}, LeasePlace());
}

void Workbench::AskForLeases(int64_t now_ns) {
  now_ns_ = now_ns;
  while (!lease_timers_.empty() && lease_timers_.top().time_ns <= now_ns) {
    const uint32_t ip = lease_timers_.top().id;
    Ip& entry = ips_[ip];
    if (entry.lease == Lease::kAsked) {
      Ask(ip);
    } else if (entry.until_ns <= now_ns) {
      EndSession(entry);
      Refresh(ip);
    } else if (entry.hosts.empty() && entry.holders.empty()) {
      Return(entry);
      Refresh(ip);
    } else {
      Ask(ip);
      SetLeaseTimer(ip, std::min(now_ns + terms_.retry_ns, entry.until_ns));
    }
  }
  while (!top_.empty() && top_.top().time_ns <= now_ns && ips_[top_.top().id].lease == Lease::kNone) {
    const uint32_t ip = top_.top().id;
    ips_[ip].lease = Lease::kAsked;
    ips_[ip].session = next_session_++;
    Ask(ip);
    Refresh(ip);
  }
}

void Workbench::OnGranted(const AddressNotice& notice, int64_t now_ns) {
  now_ns_ = now_ns;
  const uint32_t ip = Find(notice.address);
  if (ip == kNoIp || ips_[ip].session != notice.session || ips_[ip].lease == Lease::kNone) {
    // The session is over; the owner should not have to wait for the end of the lease.
    int64_t free_in_ns = notice.free_in_ns;
    if (ip != kNoIp && ips_[ip].free_ns > now_ns) free_in_ns = std::max(free_in_ns, ips_[ip].free_ns - now_ns);
    notices_.push_back({AddressNotice::Kind::kReturned, notice.address, notice.session, 0, free_in_ns});
    return;
  }
  Ip& entry = ips_[ip];
  const bool ends = terms_.lease_ns > 0;
  const int64_t until_ns = ends ? notice.asked_ns + terms_.lease_ns : kNever;
  // An answer that was too slow; a question was sent again, or will be.
  if (until_ns <= now_ns || notice.asked_ns > entry.asked_ns) return;
  const bool more = entry.lease == Lease::kAsked || until_ns > entry.until_ns;
  if (entry.lease == Lease::kAsked) {
    entry.lease = Lease::kHeld;
    entry.recalled = entry.hit = entry.turn_over = false;
    entry.until_ns = until_ns;
    entry.turn_ns = now_ns + terms_.turn_ns;
    entry.free_ns = std::max(entry.free_ns, now_ns + (ends ? ByOtherClock(notice.free_in_ns) : notice.free_in_ns));
  }
  entry.until_ns = std::max(entry.until_ns, until_ns);
  // An owner that gives no more time, because others wait, is not asked more often for it.
  if (ends && more) {
    const int64_t half_ns = entry.until_ns - terms_.lease_ns / 2;
    SetLeaseTimer(ip, std::max(half_ns, std::min(now_ns + terms_.retry_ns, entry.until_ns)));
  }
  Refresh(ip);
}

void Workbench::OnRecalled(const AddressNotice& notice, int64_t now_ns) {
  now_ns_ = now_ns;
  const uint32_t ip = Find(notice.address);
  if (ip != kNoIp && ips_[ip].session == notice.session && ips_[ip].lease != Lease::kNone) {
    if (ips_[ip].lease == Lease::kAsked) return;  // it was faster than the grant, and comes again
    ips_[ip].recalled = true;
    Refresh(ip);
    return;
  }
  // It is over. If notices may be lost, so may be the one that returned it; what an earlier process did is not known.
  if (terms_.lease_ns == 0 || !OfOneProcess(notice.session, FirstSession(terms_.epoch))) return;
  const int64_t free_in_ns = ip != kNoIp && ips_[ip].free_ns > now_ns ? ips_[ip].free_ns - now_ns : 0;
  notices_.push_back({AddressNotice::Kind::kReturned, notice.address, notice.session, 0, free_in_ns});
}

// For an address that other shards want. It is returned by Expire, so that a host whose answer has just ended may come
// back to the bench before.
void Workbench::RefreshLease(uint32_t ip) {
  Ip& entry = ips_[ip];
  const int64_t could_be_hit = std::max(entry.free_ns, now_ns_);
  entry.turn_over = entry.hit && could_be_hit >= entry.turn_ns;
  // A hit that is due as soon as the address is free is made before the address is returned: it was asked for because
  // of such a hit, and each shard gets its turn.
  // But not if the lease, which is made no longer while others wait, ends before: then the owner would have to take the
  // address for hit until its end and longer, and so for each shard in turn, without end.
  const bool nothing = entry.turn_over || entry.hosts.empty() || entry.hosts.top().time_ns > could_be_hit ||
                       could_be_hit >= entry.until_ns;
  entry.leaving = entry.holders.empty() && nothing;
  const int64_t due_ns = entry.leaving            ? now_ns_
                         : !entry.holders.empty() ? entry.free_ns
                         : entry.hit              ? entry.turn_ns
                                                  : kNever;
  if (entry.due_place == TimedHeap::kOutside) {
    due_.Push({due_ns, sequence_++, ip}, DuePlace());
  } else {
    due_.Change(entry.due_place, due_ns, due_.at(entry.due_place).sequence, DuePlace());
  }
}

void Workbench::Return(Ip& entry) {
  const int64_t free_in_ns = entry.free_ns > now_ns_ ? entry.free_ns - now_ns_ : 0;
  notices_.push_back({AddressNotice::Kind::kReturned, entry.address, entry.session, 0, free_in_ns});
  EndSession(entry);
}

void Workbench::EndSession(Ip& entry) {
  entry.lease = Lease::kNone;
  entry.recalled = entry.leaving = false;
  if (entry.due_place != TimedHeap::kOutside) due_.Remove(entry.due_place, DuePlace());
  if (entry.lease_place != TimedHeap::kOutside) lease_timers_.Remove(entry.lease_place, LeasePlace());
}

// ---- hosts

void Workbench::Bind(uint32_t host, const Address& address) {
  const uint32_t ip = FindOrMake(address);
  if (hosts_[host].ip == ip) return;
  ++ips_[ip].bound;
  Refresh(ip);
  Unbind(host);
  hosts_[host].ip = ip;
}

void Workbench::Unbind(uint32_t host) {
  const uint32_t ip = hosts_[host].ip;
  if (ip == kNoIp) return;
  DCHECK(hosts_[host].place == TimedHeap::kOutside);
  hosts_[host].ip = kNoIp;
  --ips_[ip].bound;
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
    entry.running = entry.used && (!entry.holders.empty() || entry.free_ns > now_ns);
    if (entry.running) running_.push_back(old);
  }
  if (!ips_[ip].running) running_.push_back(ip);
  ips_[ip].running = true;
}

void Workbench::Hit(uint32_t host, Flight& flight, int64_t now_ns) {
  DCHECK(Top(now_ns) == host);
  const uint32_t ip = hosts_[host].ip;
  Ip& entry = ips_[ip];
  CHECK(entry.lease == Lease::kHeld && (!shared_ || now_ns < entry.until_ns), "an address is hit without its lease");
  entry.hosts.Remove(hosts_[host].place, HostPlace());
  flight.ip = ip;
  flight.ip_free_before_ns = entry.free_ns;
  // The oldest request has held the address for its longest time.
  if (entry.holders.size() >= connections_) {
    flight.ip_evicted = entry.holders.front();
    entry.holders.erase(entry.holders.begin());
  }
  entry.holders.push_back(flight.slot);
  entry.hit = true;
  now_ns_ = now_ns;
  ++entry.bound;
  const bool full = entry.holders.size() >= connections_;
  entry.free_ns = now_ns + (full ? std::max(politeness_.ip_hold_max_ns, politeness_.ip_delay_ns)
                                 : IpGap(politeness_, entry.mean_budget));
  NoteRunning(ip, now_ns);
  Refresh(ip);
}

void Workbench::End(const Flight& flight, uint32_t budget, int64_t now_ns) {
  now_ns_ = now_ns;
  Ip& entry = ips_[flight.ip];
  --entry.bound;
  // If another request has replaced this one, the address's clock belongs to that one.
  if (std::erase(entry.holders, flight.slot) > 0) {
    if (budget != 0) {
      // A moving mean: the new value counts one eighth; the first one is taken as it is.
      entry.mean_budget = entry.mean_budget == 0 ? budget : (7 * entry.mean_budget + budget) / 8;
    }
    entry.free_ns = now_ns + IpGap(politeness_, entry.mean_budget);
  }
  Refresh(flight.ip);
}

void Workbench::Undo(const Flight& flight, int64_t now_ns) {
  Ip& entry = ips_[flight.ip];
  --entry.bound;
  const bool last = !entry.holders.empty() && entry.holders.back() == flight.slot;
  if (last) {
    entry.holders.pop_back();
    // The request that it replaced may still be running; then that one's end counts again.
    const SlotId before = flight.ip_evicted;
    if (before != 0 && std::as_const(hosts_)[static_cast<uint32_t>(before)].FlightOf(before) != nullptr) {
      entry.holders.insert(entry.holders.begin(), before);
    }
    entry.free_ns = flight.ip_free_before_ns;
  } else if (std::erase(entry.holders, flight.slot) > 0) {
    entry.free_ns = std::min(entry.free_ns, now_ns + politeness_.ip_delay_ns);
  }
  Refresh(flight.ip);
}

void Workbench::Expire(int64_t now_ns, size_t max) {
  now_ns_ = now_ns;
  while (!due_.empty() && due_.top().time_ns <= now_ns) {
    const uint32_t ip = due_.top().id;
    ips_[ip].holders.clear();  // their time is up; the next holder sets the clock
    Refresh(ip);
    if (!ips_[ip].leaving) continue;
    Return(ips_[ip]);
    Refresh(ip);
  }
  for (; max > 0 && !idle_.empty() && idle_.top().time_ns <= now_ns; --max) {
    const uint32_t ip = idle_.top().id;
    idle_.Remove(ips_[ip].place, IpPlace());
    if (shared_ && ips_[ip].lease == Lease::kHeld) Return(ips_[ip]);
    if (ips_[ip].lease_place != TimedHeap::kOutside) lease_timers_.Remove(ips_[ip].lease_place, LeasePlace());
    numbers_.erase(ips_[ip].address.Hash(key_));
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
  if (!top_.Ordered() || !idle_.Ordered() || !lease_timers_.Ordered())
    return broken("a heap of addresses is out of order");
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
    if (!ip.holders.empty() && !ip.running) return broken("an address that is held is not noted as running");
    if (ip.holders.size() > connections_) return broken("an address is held by too many requests");
    for (const SlotId slot : ip.holders) {
      const Flight* const flight = hosts_[static_cast<uint32_t>(slot)].FlightOf(slot);
      if (flight == nullptr || flight->ip != i) return broken("an address is held by a request that is over");
    }
    if (!ip.hosts.Ordered()) return broken(fmt::format("{}: hosts out of order", ip.address.ToString()));
    for (uint32_t k = 0; k < ip.hosts.size(); ++k) {
      const Host& host = hosts_[ip.hosts.at(k).id];
      if (host.state != HostState::kReady || host.ip != i || host.place != k) {
        return broken(fmt::format("{}: a host that is not ready here", ip.address.ToString()));
      }
    }
    if (ip.bound < ip.hosts.size() + ip.holders.size()) return broken("more hosts on the bench than bound");
    if ((ip.due_place != TimedHeap::kOutside) != ip.recalled) {
      return broken("an address that is to be returned is not noted, or one that is not");
    }
    const bool timed = terms_.lease_ns > 0 && ip.lease != Lease::kNone;
    if ((ip.lease_place != TimedHeap::kOutside) != timed) return broken("an address whose lease nobody looks at");
    const TimedHeap& heap = ip.hosts.empty() ? idle_ : top_;
    const bool offers = ip.lease != Lease::kAsked && !(ip.recalled && ip.turn_over);
    if (ip.hosts.empty() ? ip.bound > 0 : !offers) {
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
