// AddressBook: which shard may contact an address now. Each shard keeps the book of the addresses that it owns.
//
// An address is lent to one shard at a time. As long as no other shard wants it, that shard keeps it. When another one
// wants it, the holder is told (kRecalled), ends its turn (workbench.h) and returns the address with its clock. Then
// the next shard in the line gets it, first come, first served. So the gap of the address holds across shards, shards
// that want the same address take turns, and an unshared address costs two notices.
//
// Shards on several machines (lease_ns > 0) may lose notices and die, so a lease ends by itself:
//
//   holder    uses the address until lease_ns after it *sent* the question that was answered, and asks again in time
//   owner     counts it as lent until lease_ns after it *received* that question, or later, by a slower clock: so the
//             holder has stopped before. What it was doing then is over after_ns later, which is the longest time that
//             a hit holds an address
//   lost      questions are repeated; each repetition also repeats what may have been lost of the answers
//   dead      an owner's next process lends nothing until all leases of the one before are over (SetQuietUntil). A
//             holder's next process has other sessions (flow/address_notice.h) and waits in the line
//   no answer no fetch
//
// A holder that is recalled gets no more time. Notices of sessions that are over are ignored, so late ones and second
// copies do nothing: at worst an address stays lent to nobody for the time of one lease.
//
// Leases are not part of a checkpoint: after a restart no shard holds anything, and no address is contacted before one
// delay has passed (Frontier::Restore).
//
// Thread: one owner. Deterministic. Memory bound: kEntryBytes per address that a shard holds or waits for, and per
// address whose clock ran when it was last looked at; each call looks at two.

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
  static constexpr size_t kEntryBytes = 160;
  struct Terms {
    int64_t lease_ns = 0;  // 0: without end, and no notice is lost
    int64_t retry_ns = 0;  // a shard in the line asks so often
    int64_t after_ns = 0;  // see above
  };

  // REQUIRES: the key outlives this object.
  AddressBook(const HashKey& key, const Terms& terms) : key_(key), terms_(terms) {}

  // Nothing is lent before this time.
  void SetQuietUntil(int64_t time_ns) { quiet_until_ns_ = time_ns; }

  // kWanted and kReturned. Answers are appended to `out`.
  void OnWanted(uint32_t shard, const AddressNotice& notice, int64_t now_ns, std::vector<AddressMail>& out);
  void OnReturned(uint32_t shard, const AddressNotice& notice, int64_t now_ns, std::vector<AddressMail>& out);

  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint32_t kNoShard = std::numeric_limits<uint32_t>::max();
  struct Waiter {
    uint32_t shard = 0;
    uint64_t session = 0;
    int64_t asked_ns = 0;  // by its clock
    int64_t heard_ns = 0;  // by ours
  };
  struct Entry {
    int64_t free_ns = std::numeric_limits<int64_t>::min();
    uint32_t holder = kNoShard;
    uint64_t session = 0;   // of the holder, as asked_ns
    int64_t asked_ns = 0;   // the question that the lease is counted from
    int64_t until_ns = 0;   // the lease's end
    bool recalled = false;  // the holder was told
    std::deque<Waiter> line;
  };

  Entry& Get(const AddressNotice& notice, int64_t now_ns);
  void EndIfOver(Entry& entry, int64_t now_ns) const;
  bool GaveUp(const Waiter& waiter, int64_t now_ns) const;
  void Wait(Entry& entry, uint32_t shard, const AddressNotice& notice, int64_t now_ns);
  void Serve(Entry& entry, const Address& address, int64_t now_ns, std::vector<AddressMail>& out);
  void TellGrant(const Entry& entry, const Address& address, int64_t now_ns, std::vector<AddressMail>& out) const;
  static void TellRecall(const Entry& entry, const Address& address, std::vector<AddressMail>& out);
  void ForgetOld(int64_t now_ns);

  const HashKey& key_;
  const Terms terms_;
  int64_t quiet_until_ns_ = std::numeric_limits<int64_t>::min();
  std::unordered_map<uint64_t, Entry> entries_;  // by Address::Hash; never iterated
  std::deque<uint64_t> known_;                   // their keys, each once, in the order in which they are looked at
};

}  // namespace portolan
