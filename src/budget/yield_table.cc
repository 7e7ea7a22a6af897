#include "budget/yield_table.h"

#include <algorithm>

#include "base/hash.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

// Of the table's own keys: a host's is not its HostKey, which other tables may hold too.
constexpr uint64_t kHostSeed = 0x79686f7374;

void ObserveGroup(GroupCache::Entry& entry, bool useful) {
  ++entry.first;
  if (useful) ++entry.second;
  if (entry.first < YieldTable::kWindow) return;
  entry.first /= 2;
  entry.second /= 2;
}

}  // namespace

UrlGroups GroupsOf(std::string_view url, uint64_t host_key, const HashKey& key) {
  UrlGroups groups;
  groups.host = Mix64(host_key ^ kHostSeed);
  std::string_view path = PathAndQueryOf(url);
  path = path.substr(0, path.find('?'));
  if (path.starts_with('/')) path.remove_prefix(1);
  const size_t slash = path.find('/');
  // Both are secret, so equal directories of two hosts differ, and outsiders cannot force collisions.
  groups.directory =
      Mix64(groups.host ^ key.Hash(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1)));
  return groups;
}

Result<std::unique_ptr<YieldTable>> YieldTable::Open(Env& env, const Manifest& manifest, const Options& options) {
  ASSIGN_OR_RETURN(auto cache, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory}));
  return std::unique_ptr<YieldTable>(new YieldTable(std::move(cache)));
}

void YieldTable::Observe(const UrlGroups& groups, bool useful) {
  ObserveGroup(cache_->Touch(groups.host), useful);
  ObserveGroup(cache_->Touch(groups.directory), useful);
}

uint32_t YieldTable::Price(const UrlGroups& groups) const {
  for (const uint64_t group : {groups.directory, groups.host}) {
    const GroupCache::Entry* entry = cache_->Find(group);
    if (entry == nullptr || entry->first < kMinSeen) continue;
    return std::clamp<uint32_t>((entry->first + 1U) / (2U * entry->second + 1U), 1, kMaxPrice);
  }
  return 1;
}

}  // namespace portolan
