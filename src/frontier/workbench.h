// Workbench: hosts that could be fetched from, grouped by their addresses, and one heap of addresses above them.
//
// Two clocks must have passed before a hit: the host's (tau_h) and the address's (tau_s). Thousands of hosts may share
// one address; a single heap of hosts would bring each of them to the top, again and again, only to find that their
// address is busy. So each address has a heap of its hosts, and the top heap holds addresses by max(its own time, the
// earliest of its hosts): every step is O(log n) (the structure is BUbiNG's workbench; the two clocks are IRLbot's
// tau_h, tau_s).
//
// A dispatched request holds its address until its answer ended, then for tau_s; but at most for ip_hold_max after the
// dispatch, so that one host that never finishes does not stop its thousands of neighbours. If several connections per
// host are allowed, as many requests may hold the address, and each begins tau_s after the one before.
//
// If a crawl has several shards (SetShared), an address may be hit only while this shard holds it (address_book.h). One
// that is not held is in the top heap like others; when its turn comes it is asked for, and leaves the heap until it is
// granted. One that other shards want is returned after its next hit, or after those that follow at once within a turn
// (LeaseTerms::turn_ns): when the answers ended, at the latest when the hits have held it for ip_hold_max; and at once
// if no host here could be hit as soon as the address is free.
//
// If leases end (LeaseTerms::lease_ns), more time is asked for when half of it is over, as long as the address has
// hosts or requests, and a question without an answer is repeated. A lease that ended is lost, whatever still arrives:
// the next use is a new session.
//
// Invariants: an address is in the top heap if and only if it has hosts that can be hit and is neither asked for nor
// about to be returned; its time and sequence are those of the best of them. One without any host is kept until its own
// clock has passed.
// Thread: one owner. Memory bound: kIpBytes per address (and eight per further connection); at most one per host and
// per request, and those whose clock still runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "flow/address.h"
#include "flow/address_notice.h"
#include "frontier/host_table.h"
#include "frontier/politeness.h"
#include "frontier/timed_heap.h"

namespace portolan {

class Workbench {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  enum class Where : uint8_t { kNowhere, kTop, kIdle };
  enum class Lease : uint8_t { kHeld, kNone, kAsked };
  struct Ip {
    Address address;
    int64_t free_ns = kFreeSinceEver;  // no hit before this time
    uint32_t mean_budget = 0;          // of the domains that were hit here; the last ones count most
    uint32_t bound = 0;                // hosts that use it, on the bench or not, and requests to it
    std::vector<SlotId> holders;       // outstanding requests, oldest first; at most connections_
    uint32_t place = TimedHeap::kOutside;
    Where where = Where::kNowhere;  // the heap that `place` is in
    bool used = false;
    bool running = false;  // whether it is in running_
    Lease lease = Lease::kHeld;
    bool recalled = false;                       // other shards want it
    bool hit = false;                            // whether it was hit since it was granted
    bool turn_over = false;                      // recalled, and no more hits are to be made
    bool leaving = false;                        // recalled, and to be returned now
    int64_t turn_ns = 0;                         // until then it may be hit again although others want it
    uint64_t session = 0;                        // the newest one
    int64_t asked_ns = 0;                        // when it was last asked for
    int64_t until_ns = kNever;                   // of a lease that is held: its end
    uint32_t lease_place = TimedHeap::kOutside;  // in lease_timers_
    uint32_t due_place = TimedHeap::kOutside;    // in due_
    TimedHeap hosts;
  };
  static constexpr size_t kIpBytes = sizeof(Ip) + 48 + 3 * sizeof(TimedNode) + 32;
  static constexpr int64_t kFreeSinceEver = std::numeric_limits<int64_t>::min();

  // REQUIRES: the table, the options and the key outlive this object.
  Workbench(HostTable& hosts, const PolitenessOptions& politeness, uint32_t connections, const HashKey& key)
      : hosts_(hosts), politeness_(politeness), connections_(connections), key_(key) {}

  // A new address is not hit before this time: hits just before a crash are not known (see Frontier).
  void SetQuietUntil(int64_t time_ns) { quiet_until_ns_ = time_ns; }

  struct LeaseTerms {
    int64_t lease_ns = 0;  // 0: without end, and no notice is lost
    int64_t retry_ns = 0;
    uint64_t epoch = 0;  // of this process
    // A shard that was given an address may hit it for so long although others want it, but at least once. So where
    // hits may follow each other at once, an address is not handed over after each of them.
    int64_t turn_ns = 50'000'000;
  };
  // From now on addresses must be held. REQUIRES: there are none yet.
  void SetShared(const LeaseTerms& terms) {
    shared_ = true;
    terms_ = terms;
    next_session_ = FirstSession(terms.epoch);
  }
  // Asks for the addresses whose turn has come and that are not held, and again where an answer is missing; ends leases
  // whose time is over. To be called before Top.
  void AskForLeases(int64_t now_ns);
  // Notices of the address's owner.
  void OnGranted(const AddressNotice& notice, int64_t now_ns);
  void OnRecalled(const AddressNotice& notice, int64_t now_ns);
  // Notices for the addresses' owners: kWanted and kReturned.
  std::vector<AddressNotice> TakeNotices() { return std::exchange(notices_, {}); }

  // The host uses this address from now on (and no longer the one before). REQUIRES: it is not on the bench.
  void Bind(uint32_t host, const Address& address);
  void Unbind(uint32_t host);

  // Puts the host on the bench, to be hit at `time_ns` or later. REQUIRES: bound, not on the bench. Take removes it.
  void Put(uint32_t host, int64_t time_ns);
  void Take(uint32_t host);
  // When the host could be hit if it were alone at its address. REQUIRES: on the bench.
  int64_t TimeOf(uint32_t host) const;

  // The first host that may be hit at `now_ns`; kNoHost if there is none.
  uint32_t Top(int64_t now_ns) const;
  // When the first host may be hit, an address must be returned, or a lease needs something; kNever if there is none.
  int64_t NextTime() const {
    const auto first = [](const TimedHeap& heap) { return heap.empty() ? kNever : heap.top().time_ns; };
    return std::min({first(top_), first(due_), first(lease_timers_)});
  }
  // When an address that others want must be looked at (Expire).
  int64_t NextReturn() const { return due_.empty() ? kNever : due_.top().time_ns; }

  // Takes the top host off and counts the hit; `flight` stores what End and Undo need. REQUIRES: it is Top(now_ns).
  void Hit(uint32_t host, Flight& flight, int64_t now_ns);
  // The answer of this hit ended. `budget`: of the host.
  void End(const Flight& flight, uint32_t budget, int64_t now_ns);
  // The hit did not happen after all.
  void Undo(const Flight& flight, int64_t now_ns);

  // Removes up to `max` addresses that are not used and whose clock has passed; returns those that were held too long.
  void Expire(int64_t now_ns, size_t max);
  int64_t NextExpiry() const { return idle_.empty() ? kNever : idle_.top().time_ns; }

  size_t ips() const { return numbers_.size(); }
  size_t idle_ips() const { return idle_.size(); }
  size_t ram_bytes() const { return ips() * kIpBytes; }

  // For the snapshot: every address whose clock runs or that is held, and some whose clock has passed. Their number is
  // that of the addresses hit lately, however many there are in all.
  template <typename Visit>
  void ForEachRunning(Visit&& visit) const {
    for (const uint32_t ip : running_) {
      if (ips_[ip].used) visit(ips_[ip]);
    }
  }
  // REQUIRES: no host is bound to it yet.
  void RestoreClock(const Address& address, int64_t free_ns);

  Status CheckInvariants() const;

 private:
  uint32_t FindOrMake(const Address& address);
  // The address's clock runs from now on. Each call also examines two old entries, so that running_ stays as short as
  // the number of running clocks.
  void NoteRunning(uint32_t ip, int64_t now_ns);
  // Moves the address to its place after a change: top heap, idle ones, or neither; back to its owner if that is due.
  void Refresh(uint32_t ip);
  void RefreshLease(uint32_t ip);
  void Return(Ip& entry);
  void Ask(uint32_t ip);
  void SetLeaseTimer(uint32_t ip, int64_t time_ns);  // kNever: none
  void EndSession(Ip& entry);
  // kNoIp if there is none.
  uint32_t Find(const Address& address) const;
  auto HostPlace() {
    return [this](uint32_t id) -> uint32_t& { return hosts_.place(id); };
  }
  auto IpPlace() {
    return [this](uint32_t id) -> uint32_t& { return ips_[id].place; };
  }
  auto DuePlace() {
    return [this](uint32_t id) -> uint32_t& { return ips_[id].due_place; };
  }
  auto LeasePlace() {
    return [this](uint32_t id) -> uint32_t& { return ips_[id].lease_place; };
  }

  HostTable& hosts_;
  const PolitenessOptions& politeness_;
  const uint32_t connections_;  // to an address at the same time
  const HashKey& key_;
  int64_t quiet_until_ns_ = kFreeSinceEver;
  std::deque<Ip> ips_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> running_;                    // each once
  std::unordered_map<uint64_t, uint32_t> numbers_;  // by Address::Hash; never iterated
  TimedHeap top_;                                   // addresses with hosts that can be hit
  TimedHeap idle_;                                  // addresses that no host uses
  TimedHeap due_;                                   // recalled: to be looked at again at this time
  TimedHeap lease_timers_;                          // asked for: ask again; held: ask for more time. If leases end
  bool shared_ = false;
  LeaseTerms terms_;
  uint64_t next_session_ = 1;
  int64_t now_ns_ = kFreeSinceEver;  // of the last call that had it
  std::vector<AddressNotice> notices_;
  uint64_t sequence_ = 0;
};

}  // namespace portolan
