#include "frontier/address_book.h"

#include <algorithm>

#include "base/check.h"

namespace portolan {

void AddressBook::OnWanted(uint32_t shard, const Address& address, std::vector<AddressMail>& out) {
  Entry& entry = entries_[address.Hash(key_)];
  entry.line.push_back(shard);
  if (entry.holder == kNoShard) return Grant(entry, address, out);
  if (entry.recalled) return;
  entry.recalled = true;
  out.push_back({entry.holder, {.kind = AddressNotice::Kind::kRecalled, .address = address}});
}

void AddressBook::OnReturned(uint32_t shard, const Address& address, int64_t free_ns, int64_t now_ns,
                             std::vector<AddressMail>& out) {
  const uint64_t hash = address.Hash(key_);
  const auto found = entries_.find(hash);
  CHECK(found != entries_.end() && found->second.holder == shard, "shard {} returns an address that it does not hold",
        shard);
  Entry& entry = found->second;
  entry.free_ns = std::max(entry.free_ns, free_ns);
  entry.holder = kNoShard;
  entry.recalled = false;
  if (!entry.line.empty()) return Grant(entry, address, out);
  if (!entry.resting) resting_.push_back(hash);
  entry.resting = true;
  ForgetOld(now_ns);
}

// Gives the address to the first shard in the line. If others wait behind it, it is recalled at once.
void AddressBook::Grant(Entry& entry, const Address& address, std::vector<AddressMail>& out) {
  entry.holder = entry.line.front();
  entry.line.pop_front();
  out.push_back({entry.holder, {AddressNotice::Kind::kGranted, address, entry.free_ns}});
  entry.recalled = !entry.line.empty();
  if (entry.recalled) out.push_back({entry.holder, {.kind = AddressNotice::Kind::kRecalled, .address = address}});
}

void AddressBook::ForgetOld(int64_t now_ns) {
  for (int looks = 0; looks < 2 && !resting_.empty(); ++looks) {
    const uint64_t hash = resting_.front();
    resting_.pop_front();
    const auto found = entries_.find(hash);
    Entry& entry = found->second;
    entry.resting = entry.holder == kNoShard && entry.free_ns > now_ns;
    if (entry.resting) {
      resting_.push_back(hash);
    } else if (entry.holder == kNoShard) {
      entries_.erase(found);
    }
  }
}

}  // namespace portolan
