#include "sim/server/visit_table.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/hash.h"

namespace portolan::sim {
namespace {

constexpr int kCountBits = 16;
constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;

}  // namespace

VisitTable::VisitTable(size_t entries)
    : buckets_(std::bit_ceil(std::max<size_t>(entries, 64)) / kBucket),
      // calloc: pages that nothing touches cost nothing.
      entries_(static_cast<uint64_t*>(std::calloc(buckets_ * kBucket, sizeof(uint64_t))), &std::free) {
  if (!entries_) throw std::bad_alloc();
}

uint32_t VisitTable::Visit(std::string_view client, bool tls, std::string_view host, std::string_view path_and_query) {
  const uint64_t hash = Hash64(path_and_query, Hash64(host, Hash64(client, tls ? 1 : 0)));
  const size_t bucket = hash & (buckets_ - 1);
  const uint64_t tag = Mix64(hash) & ~kCountMask;
  uint64_t* entry = entries_.get() + bucket * kBucket;
  const std::lock_guard lock(locks_[bucket % kLocks]);
  size_t i = 0;
  while (i < kBucket - 1 && entry[i] != 0 && (entry[i] & ~kCountMask) != tag) ++i;
  const uint64_t found = (entry[i] & ~kCountMask) == tag ? entry[i] & kCountMask : 0;
  std::copy_backward(entry, entry + i, entry + i + 1);
  entry[0] = tag | std::min(found + 1, kCountMask);
  return static_cast<uint32_t>(found);
}

}  // namespace portolan::sim
