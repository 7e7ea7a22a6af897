// Partition: which shard of a crawl owns a pay-level domain, and how the structures of shards are named.
//
// A shard owns whole pay-level domains, with all their hosts. So robots.txt, clocks of hosts, budgets and reputations
// have one place each. Only addresses may be needed by two shards (frontier/address_book.h).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace portolan {

inline constexpr uint32_t kMaxShards = 256;

// `pld` is the keyed hash of the domain's name. It is mixed once more: within a shard it is the index of tables.
inline uint32_t ShardOfDomain(uint64_t pld, uint32_t shards) {
  return shards == 1 ? 0 : static_cast<uint32_t>(Mix64(pld) % shards);
}

// The names of sections and files. The first shard's have no prefix: with one shard, names are plain.
inline std::string ShardName(uint32_t shard, std::string_view name) {
  return shard == 0 ? std::string(name) : "s" + std::to_string(shard) + "." + std::string(name);
}

// The id of a fetch contains its shard.
inline constexpr int kFetchIdBits = 48;
inline uint64_t FirstFetchId(uint32_t shard) { return (uint64_t{shard} << kFetchIdBits) + 1; }
inline uint32_t ShardOfFetch(uint64_t id) { return static_cast<uint32_t>(id >> kFetchIdBits); }

}  // namespace portolan
