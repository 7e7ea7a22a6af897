// HostTable: every host that the frontier knows now, its back queue and its clock, and how much RAM all of it takes.
//
// A host is here from its first URL until its queue is empty and its clock has passed: politeness is not forgotten with
// the last URL. Hosts have small numbers that are used again.
//
// Hosts are also listed by how much RAM their URLs take, in classes of powers of two, so that at the bound one of the
// largest is found at once.
//
// A picture of all hosts at one moment is taken without stopping: BeginPicture only notes that each is to be saved, and
// whoever is about to change a host (the operator[] that lets it) has it saved first; the others are saved bit by bit.
//
// Thread: one owner. Memory bound: ram_bytes() is counted, not limited, here; kHostBytes and its queue a host; a bit a
// host while a picture is taken.

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
  kFree,       // no host
  kLingering,  // no URLs; leaves some time after its clock has passed (timer)
  kAwaiting,   // has URLs, needs an address; in the line of those who ask
  kResolving,  // its name is being asked for
  kDnsLater,   // its name is asked for again later (timer)
  kReady,      // has URLs and an address; on the workbench
  kInFlight,   // as many URLs as may be, or the last ones, are being fetched
  kFailing,    // there is a verdict; its URLs come out as failures
};
inline constexpr int kHostStates = 8;

// Names a URL that is being fetched: the host's number below, a number of its own above.
using SlotId = uint64_t;

// A URL that is being fetched.
struct Flight {
  SlotId slot = 0;
  std::string record;
  int64_t began_ns = 0;
  uint32_t ip = kNoIp;            // its address on the workbench, which the host may have left since
  int64_t ip_free_before_ns = 0;  // that address's clock before this dispatch
  SlotId ip_evicted = 0;          // the request that this one took its place from there; 0: none
};

struct Host {
  static constexpr size_t kMaxAddresses = 4;
  static constexpr int64_t kNeverHit = std::numeric_limits<int64_t>::min();

  uint64_t key = 0;  // HostKey
  BackQueue queue;
  std::vector<Flight> flights;  // at most FrontierOptions::connections_per_host
  int64_t free_ns = 0;          // the host's clock: no hit before
  int64_t polite_ns = 0;        // and what of it is politeness, whatever becomes of the rest (Frontier::Hurry)
  int64_t last_end_ns = kNeverHit;
  int64_t last_ill_ns = kNeverHit;  // end of the last hit that was counted in ill_streak
  int64_t crawl_delay_ns = 0;
  std::vector<Address> addresses;  // at most kMaxAddresses
  int64_t address_expires_ns = 0;
  uint32_t ip = kNoIp;                   // on the workbench
  uint32_t place = TimedHeap::kOutside;  // in the heap that its state says
  uint32_t class_before = kNoHost;       // list of its RAM class
  uint32_t class_after = kNoHost;
  uint32_t counted_bytes = 0;
  uint64_t counted_urls = 0;
  uint16_t budget = 0;  // of its domain, as its last dispatched URL said
  uint8_t ram_class = 0;
  HostState state = HostState::kFree;
  uint8_t address_at = 0;    // which of its addresses is used
  uint8_t ill_streak = 0;    // hits in a row that found it ill
  uint8_t dns_failures = 0;  // in a row
  bool doomed = false;       // `verdict` holds
  FetchOutcome verdict = FetchOutcome::kAnswered;

  // Null when no such URL is being fetched.
  const Flight* FlightOf(SlotId slot) const {
    const auto found = std::ranges::find(flights, slot, &Flight::slot);
    return found == flights.end() ? nullptr : &*found;
  }
};

class HostTable {
 public:
  // Of a host with nothing in its queue: its record, its entry in the map and in a heap.
  static constexpr size_t kHostBytes = sizeof(Host) + 48 + sizeof(TimedNode) * 2;

  HostTable() { classes_.fill(kNoHost); }

  // To change it: a reference that is from before BeginPicture is not to be used after it.
  Host& operator[](uint32_t id) {
    BeforeChange(id);
    return hosts_[id];
  }
  const Host& operator[](uint32_t id) const { return hosts_[id]; }
  // Its place in a heap, which is no part of a picture: a heap moves many at a time.
  uint32_t& place(uint32_t id) { return hosts_[id].place; }
  uint32_t Find(uint64_t key) const;  // kNoHost if it is not here
  uint32_t Insert(uint64_t key);      // REQUIRES: it is not here
  void Erase(uint32_t id);
  uint32_t size() const { return static_cast<uint32_t>(numbers_.size()); }
  uint32_t slots() const { return static_cast<uint32_t>(hosts_.size()); }  // ids are below this; some are kFree

  // To be called after each change of a host's queue: keeps the sums and the classes.
  void Count(uint32_t id);
  size_t ram_bytes() const { return ram_bytes_; }
  uint64_t urls() const { return urls_; }  // in all queues, on disk too; not those in flight
  // Likewise, but of each host kNear at most: what can be fetched soon, whatever a giant has behind that.
  uint64_t near_urls() const { return near_urls_; }
  static constexpr uint64_t kNear = 4;
  // From here to the ContinuePicture that says false `save` is called once for each host that is here now, with the
  // host as it is now. REQUIRES: no picture is being taken.
  void BeginPicture(std::function<void(const Host&)> save);
  // Looks at up to `slots` more of them. False when all are saved.
  bool ContinuePicture(uint32_t slots);
  bool taking_picture() const { return save_ != nullptr; }
  // One of the hosts with most to spill (within a factor of two), kNoHost when none has a page or so.
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
  std::unordered_map<uint64_t, uint32_t> numbers_;  // never iterated: its order is nobody's business
  std::array<uint32_t, kClasses> classes_;
  size_t ram_bytes_ = 0;
  uint64_t urls_ = 0;
  uint64_t near_urls_ = 0;
  std::function<void(const Host&)> save_;  // while a picture is taken
  std::vector<uint64_t> unsaved_;  // a bit a slot, then; those that were free are left out when their turn comes
  uint32_t picture_at_ = 0;        // slots below have been looked at
};

}  // namespace portolan
