// Sorting of 64-bit hashes that carry a 32-bit number: 12 bytes per entry, stable, linear.
//
// Three passes of a least-significant-digit radix sort over the top 33 bits, then one insertion sort: hashes are
// uniform, so that after the passes hardly two neighbours are in the wrong order.

#pragma once

#include <cstdint>
#include <span>

namespace portolan::bench {

struct KeyEntry {
  uint32_t low;
  uint32_t high;
  uint32_t number;

  static KeyEntry Make(uint64_t key, uint32_t number) {
    return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), number};
  }
  uint64_t key() const { return static_cast<uint64_t>(high) << 32 | low; }
};
static_assert(sizeof(KeyEntry) == 12);

// Sorts `entries` by key, equal keys in their former order. REQUIRES: scratch is as long as entries.
void SortByKey(std::span<KeyEntry> entries, std::span<KeyEntry> scratch);

}  // namespace portolan::bench
