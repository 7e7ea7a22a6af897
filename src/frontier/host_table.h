// HostTable: every host that the frontier knows now, its back queue and its clock, and how much RAM all of it takes.
//
// A host is here from its first URL until its queue is empty and its clock has passed: politeness must outlive the last
// URL. Hosts have small ids that are reused.
//
// Hosts are also listed by how much RAM their URLs take, in classes of powers of two, so that at the bound one of the
// largest is found at once.
//
// A picture of all hosts at one moment is taken without stopping: BeginPicture only marks each host as not yet saved.
// The operator[] that allows changes saves the host first; the others are saved bit by bit.
//
// Thread: one owner. Memory bound: ram_bytes() is counted here, not limited; per host kHostBytes and its queue; one bit
// per host while a picture is taken.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "flow/address.h"
#include "flow/outcome.h"
#include "frontier/back_queue.h"
#include "frontier/timed_heap.h"

namespace portolan {

inline constexpr uint32_t kNoHost = ~uint32_t{0};
inline constexpr uint32_t kNoIp = ~uint32_t{0};

enum class HostState : uint8_t {
  kFree,       // an unused entry
  kLingering,  // no URLs; removed some time after its clock has passed (timer)
  kAwaiting,   // has URLs, needs an address; in the line for look-ups
  kResolving,  // its name is being looked up
  kDnsLater,   // its name is looked up again later (timer)
  kReady,      // has URLs and an address; on the workbench
  kInFlight,   // as many URLs as allowed, or its last ones, are being fetched
  kFailing,    // it is given up; its URLs are dispatched as failures
};
inline constexpr int kHostStates = 8;

// Identifies a URL that is being fetched: the host's id in the low half, a number of its own in the high half.
using SlotId = uint64_t;

// A URL that is being fetched.
struct Flight {
  SlotId slot = 0;
  std::string record;
  int64_t began_ns = 0;
  uint32_t ip = kNoIp;            // its address on the workbench, which the host may have left since
  int64_t ip_free_before_ns = 0;  // that address's clock before this dispatch
  SlotId ip_evicted = 0;          // the request that this one replaced there; 0: none
};

struct Host {
  static constexpr size_t kMaxAddresses = 4;
  static constexpr int64_t kNeverHit = std::numeric_limits<int64_t>::min();

  uint64_t key = 0;  // HostKey
  BackQueue queue;
  std::vector<Flight> flights;  // at most FrontierOptions::connections_per_host
  int64_t free_ns = 0;          // the host's clock: no hit before this time
  int64_t polite_ns = 0;        // the part of it that is politeness and is never shortened (Frontier::Hurry)
  int64_t last_end_ns = kNeverHit;
  int64_t last_ill_ns = kNeverHit;  // end of the last hit that was counted in ill_streak
  int64_t crawl_delay_ns = 0;
  std::vector<Address> addresses;  // at most kMaxAddresses
  int64_t address_expires_ns = 0;
  uint32_t ip = kNoIp;                   // on the workbench
  uint32_t place = TimedHeap::kOutside;  // in the heap that belongs to its state
  uint32_t class_before = kNoHost;       // list of its RAM class
  uint32_t class_after = kNoHost;
  uint32_t counted_bytes = 0;
  uint64_t counted_urls = 0;
  uint16_t budget = 0;  // of its domain, as its last dispatched URL said
  uint8_t ram_class = 0;
  HostState state = HostState::kFree;
  uint8_t address_at = 0;    // which of its addresses is used
  uint8_t ill_streak = 0;    // failed hits in a row
  uint8_t dns_failures = 0;  // in a row
  bool doomed = false;       // it is given up, with `verdict`
  FetchOutcome verdict = FetchOutcome::kAnswered;

  // Null if no such URL is being fetched.
  const Flight* FlightOf(SlotId slot) const {
    const auto found = std::ranges::find(flights, slot, &Flight::slot);
    return found == flights.end() ? nullptr : &*found;
  }
};

class HostTable {
 public:
  // Bytes of a host with an empty queue: its record, its entry in the map and in a heap.
  static constexpr size_t kHostBytes = sizeof(Host) + 48 + sizeof(TimedNode) * 2;

  HostTable() { classes_.fill(kNoHost); }

  // For changing the host. A reference from before BeginPicture must not be used after it.
  Host& operator[](uint32_t id) {
    BeforeChange(id);
    return hosts_[id];
  }
  const Host& operator[](uint32_t id) const { return hosts_[id]; }
  // Its place in a heap, which is not part of a picture: a heap moves many hosts at a time.
  uint32_t& place(uint32_t id) { return hosts_[id].place; }
  uint32_t Find(uint64_t key) const;  // kNoHost if it is not here
  uint32_t Insert(uint64_t key);      // REQUIRES: it is not here
  void Erase(uint32_t id);
  uint32_t size() const { return static_cast<uint32_t>(numbers_.size()); }
  uint32_t slots() const { return static_cast<uint32_t>(hosts_.size()); }  // ids are below this; some are kFree

  // To be called after each change of a host's queue: updates the sums and the classes.
  void Count(uint32_t id);
  size_t ram_bytes() const { return ram_bytes_; }
  uint64_t urls() const { return urls_; }  // in all queues, including those on disk; not those in flight
  // Likewise, but at most kNear per host: what can be fetched soon, however many more a giant host has.
  uint64_t near_urls() const { return near_urls_; }
  static constexpr uint64_t kNear = 4;
  // From this call until ContinuePicture returns false, `save` is called once per host that is here now, with the host
  // as it is now. REQUIRES: no picture is being taken.
  void BeginPicture(std::function<void(const Host&)> save);
  // Examines up to `slots` more of them. False when all are saved.
  bool ContinuePicture(uint32_t slots);
  bool taking_picture() const { return save_ != nullptr; }
  // One of the hosts with most to spill (within a factor of two); kNoHost if none has about a page.
  uint32_t Largest() const;

 private:
  static constexpr int kClasses = 32;
  static constexpr int kSmallestClass = 13;  // 4 KiB and more: head or tail has 2

  void BeforeChange(uint32_t id) {
    if (id / 64 < unsaved_.size()) [[unlikely]] {
      Save(id);
    }
  }
  void Save(uint32_t id);
  void Unlink(uint32_t id);
  void Link(uint32_t id, uint8_t ram_class);

  std::deque<Host> hosts_;  // references stay valid as it grows
  std::vector<uint32_t> free_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // never iterated, because its order is not deterministic
  std::array<uint32_t, kClasses> classes_;
  size_t ram_bytes_ = 0;
  uint64_t urls_ = 0;
  uint64_t near_urls_ = 0;
  std::function<void(const Host&)> save_;  // while a picture is taken
  std::vector<uint64_t> unsaved_;          // one bit per slot, meanwhile; free slots are skipped later
  uint32_t picture_at_ = 0;                // slots below this have been examined
};

}  // namespace portolan
