// AddressBook: which shard may contact an address now. Each shard keeps the book of the addresses that it owns.
//
// An address is lent to one shard at a time. As long as no other shard wants it, that shard keeps it without asking.
// When another one wants it, the holder is told (kRecalled), makes one more hit if it has one to make, and returns the
// address with its clock. Then the next shard in the line gets it, first come, first served. So the gap of the address
// holds across shards, shards that want the same address take turns, and an unshared address costs two notices.
//
// Leases are not part of a checkpoint: after a restart no shard holds anything, and no address is contacted before one
// delay has passed (Frontier::Restore).
//
// Thread: one owner. Deterministic. Memory bound: kEntryBytes per address that a shard holds or waits for, and per
// address whose clock ran when it was last returned; each return drops up to two of the latter.

#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/hash_key.h"
#include "flow/address_notice.h"

namespace portolan {

class AddressBook {
 public:
  static constexpr size_t kEntryBytes = 128;

  // REQUIRES: the key outlives this object.
  explicit AddressBook(const HashKey& key) : key_(key) {}

  // A shard asks for the address. REQUIRES: it neither holds it nor waits for it.
  void OnWanted(uint32_t shard, const Address& address, std::vector<AddressMail>& out);
  // A shard gives it back.
  void OnReturned(uint32_t shard, const Address& address, int64_t free_ns, int64_t now_ns,
                  std::vector<AddressMail>& out);

  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint32_t kNoShard = std::numeric_limits<uint32_t>::max();
  struct Entry {
    int64_t free_ns = std::numeric_limits<int64_t>::min();
    uint32_t holder = kNoShard;
    bool recalled = false;
    bool resting = false;  // whether it is in resting_
    std::deque<uint32_t> line;
  };

  void Grant(Entry& entry, const Address& address, std::vector<AddressMail>& out);
  void ForgetOld(int64_t now_ns);

  const HashKey& key_;
  std::unordered_map<uint64_t, Entry> entries_;  // by Address::Hash; never iterated
  std::deque<uint64_t> resting_;                 // returned while no shard waited, each once
};

}  // namespace portolan
