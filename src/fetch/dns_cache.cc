#include "fetch/dns_cache.h"

#include <utility>

namespace portolan {

void DnsCache::Put(const std::string& name, DnsFact fact) {
  if (max_entries_ == 0) return;
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    found->second->fact = std::move(fact);
    used_.splice(used_.begin(), used_, found->second);
    return;
  }
  if (by_name_.size() >= max_entries_) {
    by_name_.erase(used_.back().name);
    used_.pop_back();
  }
  used_.push_front({name, std::move(fact)});
  by_name_.emplace(used_.front().name, used_.begin());
}

const DnsFact* DnsCache::Find(const std::string& name, int64_t now_ns) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  const auto entry = found->second;
  if (entry->fact.expires_ns <= now_ns) {
    by_name_.erase(found);
    used_.erase(entry);
    return nullptr;
  }
  used_.splice(used_.begin(), used_, entry);
  return &entry->fact;
}

}  // namespace portolan
