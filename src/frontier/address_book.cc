#include "frontier/address_book.h"

#include <algorithm>

namespace portolan {

AddressBook::Entry& AddressBook::Get(const AddressNotice& notice, int64_t now_ns) {
  const uint64_t hash = notice.address.Hash(key_);
  const auto [found, fresh] = entries_.try_emplace(hash);
  if (fresh) known_.push_back(hash);
  EndIfOver(found->second, now_ns);
  return found->second;
}

void AddressBook::EndIfOver(Entry& entry, int64_t now_ns) const {
  if (entry.holder == kNoShard || entry.until_ns > now_ns) return;
  entry.free_ns = std::max(entry.free_ns, entry.until_ns + terms_.after_ns);
  entry.holder = kNoShard;
  entry.recalled = false;
}

// A shard in the line that stopped asking is dead or has no more use for the address.
bool AddressBook::GaveUp(const Waiter& waiter, int64_t now_ns) const {
  return terms_.lease_ns > 0 && now_ns - waiter.heard_ns > 3 * terms_.retry_ns;
}

void AddressBook::Wait(Entry& entry, uint32_t shard, const AddressNotice& notice, int64_t now_ns) {
  const auto found = std::ranges::find(entry.line, shard, &Waiter::shard);
  if (found == entry.line.end()) {
    entry.line.push_back({shard, notice.session, notice.asked_ns, now_ns});
    return;
  }
  if (notice.session < found->session) return;
  if (notice.session > found->session) found->asked_ns = notice.asked_ns;
  found->asked_ns = std::max(found->asked_ns, notice.asked_ns);
  found->session = notice.session;
  found->heard_ns = now_ns;
}

void AddressBook::TellGrant(const Entry& entry, const Address& address, int64_t now_ns,
                            std::vector<AddressMail>& out) const {
  const int64_t free_in_ns = entry.free_ns > now_ns ? entry.free_ns - now_ns : 0;
  out.push_back({entry.holder, {AddressNotice::Kind::kGranted, address, entry.session, entry.asked_ns, free_in_ns}});
}

void AddressBook::TellRecall(const Entry& entry, const Address& address, std::vector<AddressMail>& out) {
  out.push_back({entry.holder, {AddressNotice::Kind::kRecalled, address, entry.session, 0, 0}});
}

void AddressBook::OnWanted(uint32_t shard, const AddressNotice& notice, int64_t now_ns, std::vector<AddressMail>& out) {
  Entry& entry = Get(notice, now_ns);
  if (entry.holder == shard && notice.session < entry.session) return;
  if (entry.holder == shard && notice.session == entry.session) {
    std::erase_if(entry.line, [&](const Waiter& waiter) { return GaveUp(waiter, now_ns); });
    if (entry.line.empty()) {
      entry.recalled = false;
      if (terms_.lease_ns > 0) {
        entry.asked_ns = std::max(entry.asked_ns, notice.asked_ns);
        entry.until_ns = std::max(entry.until_ns, now_ns + ByOtherClock(terms_.lease_ns));
      }
    }
    TellGrant(entry, notice.address, now_ns, out);  // the first may be lost
    if (!entry.line.empty()) TellRecall(entry, notice.address, out);
  } else {
    if (entry.holder == shard && OfOneProcess(entry.session, notice.session)) {
      // It says that the session that we know is over.
      entry.free_ns = std::max(entry.free_ns, now_ns + ByOtherClock(notice.free_in_ns));
      entry.holder = kNoShard;
      entry.recalled = false;
    }
    Wait(entry, shard, notice, now_ns);
    if (entry.holder == kNoShard) {
      Serve(entry, notice.address, now_ns, out);
    } else if (!entry.recalled || terms_.lease_ns > 0) {  // again: the first may be lost
      entry.recalled = true;
      TellRecall(entry, notice.address, out);
    }
  }
  ForgetOld(now_ns);
}

void AddressBook::OnReturned(uint32_t shard, const AddressNotice& notice, int64_t now_ns,
                             std::vector<AddressMail>& out) {
  Entry& entry = Get(notice, now_ns);
  std::erase_if(entry.line,
                [&](const Waiter& waiter) { return waiter.shard == shard && waiter.session <= notice.session; });
  if (entry.holder == shard && entry.session == notice.session) {
    const int64_t free_in_ns = terms_.lease_ns > 0 ? ByOtherClock(notice.free_in_ns) : notice.free_in_ns;
    entry.free_ns = std::max(entry.free_ns, now_ns + free_in_ns);
    entry.holder = kNoShard;
    entry.recalled = false;
  }
  if (entry.holder == kNoShard) Serve(entry, notice.address, now_ns, out);
  ForgetOld(now_ns);
}

// Gives the address to the first shard in the line. If others wait behind it, it is recalled at once.
void AddressBook::Serve(Entry& entry, const Address& address, int64_t now_ns, std::vector<AddressMail>& out) {
  if (now_ns < quiet_until_ns_) return;
  while (!entry.line.empty() && GaveUp(entry.line.front(), now_ns)) entry.line.pop_front();
  if (entry.line.empty()) return;
  const Waiter& first = entry.line.front();
  entry.holder = first.shard;
  entry.session = first.session;
  entry.asked_ns = first.asked_ns;
  entry.until_ns = terms_.lease_ns > 0 ? now_ns + ByOtherClock(terms_.lease_ns) : std::numeric_limits<int64_t>::max();
  entry.line.pop_front();
  TellGrant(entry, address, now_ns, out);
  entry.recalled = !entry.line.empty();
  if (entry.recalled) TellRecall(entry, address, out);
}

void AddressBook::ForgetOld(int64_t now_ns) {
  for (int looks = 0; looks < 2 && !known_.empty(); ++looks) {
    const uint64_t hash = known_.front();
    known_.pop_front();
    const auto found = entries_.find(hash);
    Entry& entry = found->second;
    EndIfOver(entry, now_ns);
    std::erase_if(entry.line, [&](const Waiter& waiter) { return GaveUp(waiter, now_ns); });
    if (entry.holder == kNoShard && entry.line.empty() && entry.free_ns <= now_ns) {
      entries_.erase(found);
    } else {
      known_.push_back(hash);
    }
  }
}

}  // namespace portolan
