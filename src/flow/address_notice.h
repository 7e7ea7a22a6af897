// AddressNotice: messages between shards about an IP address that several of them may want to fetch from.
//
// Each address belongs to one shard, which lends it to one shard at a time (frontier/address_book.h). The clock of the
// address travels with it, so that the gap between two hits is kept whichever shard makes them.

#pragma once

#include <cstdint>
#include <vector>

#include "flow/address.h"

namespace portolan {

struct AddressNotice {
  enum class Kind : uint8_t {
    kWanted,    // to the owner: the sender has a host there that could be hit
    kGranted,   // from the owner: the address is the receiver's, not to be hit before `free_ns`
    kRecalled,  // from the owner: others want it; give it back after the next hit
    kReturned,  // to the owner: it must not be hit before `free_ns`
  };
  Kind kind = Kind::kWanted;
  Address address;
  int64_t free_ns = 0;  // steady

  bool operator==(const AddressNotice&) const = default;
};

struct AddressMail {
  uint32_t shard = 0;  // the receiver, or the sender
  AddressNotice notice;
};

}  // namespace portolan
