// Workbench: hosts that could be fetched from, under the addresses where they are, under one heap of addresses.
//
// Two clocks must have passed before a hit: the host's (tau_h) and the address's (tau_s). Thousands of hosts may stand
// at one address; a single heap of hosts would bring each of them up, time and again, only to learn that their address
// is busy. So each address has a heap of its hosts, and the top heap holds addresses by max(its own time, the earliest
// of its hosts): every step is O(log n) (the structure is BUbiNG's workbench; the two clocks are IRLbot's tau_h,
// tau_s).
//
// A dispatched request holds its address until its answer ended, then tau_s; but at most ip_hold_max after the
// dispatch, so that one host that never finishes does not stop its thousands of neighbours. Where several connections
// per host are allowed, as many requests hold the address, and one of them begins tau_s after the other.
//
// Invariants: an address is in the top heap if and only if it has hosts to offer; under the time and sequence of the
// best of them. One without any host at all is kept until its own clock has passed.
// Thread: one owner. Memory bound: kIpBytes per address (and eight per further connection); at most one per host and
// per request, and those whose clock still runs.

#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "flow/address.h"
#include "frontier/host_table.h"
#include "frontier/politeness.h"
#include "frontier/timed_heap.h"

namespace portolan {

class Workbench {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  enum class Where : uint8_t { kNowhere, kTop, kIdle };
  struct Ip {
    Address address;
    int64_t free_ns = kFreeSinceEver;  // no hit before
    uint32_t mean_budget = 0;          // of the domains that were hit here, the last ones counting most
    uint32_t bound = 0;                // hosts that use it, on the bench or not, and requests to it
    std::vector<SlotId> holders;       // outstanding requests, oldest first; as many as may be at one time
    uint32_t place = TimedHeap::kOutside;
    Where where = Where::kNowhere;  // the heap that `place` is in
    bool used = false;
    bool running = false;  // it is in running_
    TimedHeap hosts;
  };
  static constexpr size_t kIpBytes = sizeof(Ip) + 48 + 2 * sizeof(TimedNode) + 32;
  static constexpr int64_t kFreeSinceEver = std::numeric_limits<int64_t>::min();

  // REQUIRES: the table, the options and the key outlive this.
  Workbench(HostTable& hosts, const PolitenessOptions& politeness, uint32_t connections, const HashKey& key)
      : hosts_(hosts), politeness_(politeness), connections_(connections), key_(key) {}

  // A new address is not hit before this: what was hit before a crash is not known (see Frontier).
  void SetQuietUntil(int64_t time_ns) { quiet_until_ns_ = time_ns; }

  // The host uses this address from now on (and leaves the one before). REQUIRES: it is not on the bench.
  void Bind(uint32_t host, const Address& address);
  void Unbind(uint32_t host);

  // On the bench, to be hit at `time_ns` or later. REQUIRES: bound, not on the bench.
  void Put(uint32_t host, int64_t time_ns);
  void Take(uint32_t host);
  // When the host may be hit, were it alone at its address. REQUIRES: on the bench.
  int64_t TimeOf(uint32_t host) const;

  // The first host that may be hit at `now_ns`, kNoHost if there is none.
  uint32_t Top(int64_t now_ns) const;
  // When the first may be hit; kNever if there is none.
  int64_t NextTime() const { return top_.empty() ? kNever : top_.top().time_ns; }
  // The top host is taken off and hit; `flight` learns what End and Undo must know. REQUIRES: Top(now_ns) is this host.
  void Hit(uint32_t host, Flight& flight, int64_t now_ns);
  // Its answer ended. `budget`: of the host.
  void End(const Flight& flight, uint32_t budget, int64_t now_ns);
  // It was not hit after all.
  void Undo(const Flight& flight, int64_t now_ns);

  // Lets up to `max` addresses go that nobody uses and whose clock has passed.
  void Expire(int64_t now_ns, size_t max);
  int64_t NextExpiry() const { return idle_.empty() ? kNever : idle_.top().time_ns; }

  size_t ips() const { return numbers_.size(); }
  size_t idle_ips() const { return idle_.size(); }
  size_t ram_bytes() const { return ips() * kIpBytes; }

  // For the snapshot: every address whose clock runs or that is held, and some whose clock has passed. As many as were
  // hit lately, however many there are.
  template <typename Visit>
  void ForEachRunning(Visit&& visit) const {
    for (const uint32_t ip : running_) {
      if (ips_[ip].used) visit(ips_[ip]);
    }
  }
  // REQUIRES: before any host is bound to it.
  void RestoreClock(const Address& address, int64_t free_ns);

  Status CheckInvariants() const;

 private:
  uint32_t FindOrMake(const Address& address);
  // The address's clock runs from now on. For each one that comes two old ones are looked at, so that running_ stays as
  // short as what runs.
  void NoteRunning(uint32_t ip, int64_t now_ns);
  // Puts the address where it belongs after a change: top heap, idle ones, or neither.
  void Refresh(uint32_t ip);
  auto HostPlace() {
    return [this](uint32_t id) -> uint32_t& { return hosts_.place(id); };
  }
  auto IpPlace() {
    return [this](uint32_t id) -> uint32_t& { return ips_[id].place; };
  }

  HostTable& hosts_;
  const PolitenessOptions& politeness_;
  const uint32_t connections_;  // to an address at one time
  const HashKey& key_;
  int64_t quiet_until_ns_ = kFreeSinceEver;
  std::deque<Ip> ips_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> running_;                    // each once
  std::unordered_map<uint64_t, uint32_t> numbers_;  // by Address::Hash; never iterated
  TimedHeap top_;                                   // addresses that have hosts to offer
  TimedHeap idle_;                                  // addresses that no host uses
  uint64_t sequence_ = 0;
};

}  // namespace portolan
