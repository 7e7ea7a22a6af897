// AddressNotice: messages between shards about an IP address that several of them may want to fetch from.
//
// Each address belongs to one shard, its owner, which lends it to one shard at a time (frontier/address_book.h). The
// clock of the address travels with it, so that the gap between two hits is kept whichever shard makes them. Times are
// durations, counted from where and when the notice is read: the way there only makes them later. Notices may be lost,
// late, out of order and doubled.
//
// A session is one shard's use of one address, from asking for it to giving it back. Sessions of one shard have growing
// numbers, those of its later processes too (FirstSession).

#pragma once

#include <cstdint>
#include <vector>

#include "flow/address.h"

namespace portolan {

struct AddressNotice {
  enum class Kind : uint8_t {
    kWanted = 1,   // to the owner: asks for the address, or for more time. All earlier sessions of the sender are over
    kGranted = 2,  // from the owner: it is the receiver's, from `free_in_ns` on, for the time of a lease after it asked
    kRecalled = 3,  // from the owner: others want it; give it back after the next hit
    kReturned = 4,  // to the owner: the session is over; the address must not be hit before `free_in_ns` have passed
  };
  Kind kind = Kind::kWanted;
  Address address;
  uint64_t session = 0;
  // kWanted: when it is sent, by the sender's clock. It means nothing to the owner, who sends it back in kGranted.
  int64_t asked_ns = 0;
  int64_t free_in_ns = 0;  // kWanted: by what the sender did there itself

  bool operator==(const AddressNotice&) const = default;
};

struct AddressMail {
  uint32_t shard = 0;  // the receiver, or the sender
  AddressNotice notice;
};

// Sessions of a process: 2^40 for each epoch of the claim to its shard.
inline constexpr uint32_t kSessionBits = 40;
inline constexpr uint64_t FirstSession(uint64_t epoch) { return (epoch << kSessionBits) + 1; }
inline constexpr bool OfOneProcess(uint64_t session, uint64_t other) {
  return session >> kSessionBits == other >> kSessionBits;
}

// A duration that another machine's clock measured, by ours: their speeds differ by one in 64 at most.
inline constexpr int64_t ByOtherClock(int64_t duration_ns) { return duration_ns + duration_ns / 64; }

}  // namespace portolan
