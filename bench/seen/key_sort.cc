#include "bench/seen/key_sort.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace portolan::bench {
namespace {

constexpr int kDigitBits = 11;
constexpr int kPasses = 3;
constexpr size_t kDigits = size_t{1} << kDigitBits;

size_t Digit(const KeyEntry& entry, int pass) {
  return entry.key() >> (64 - kDigitBits * (kPasses - pass)) & (kDigits - 1);
}

}  // namespace

void SortByKey(std::span<KeyEntry> entries, std::span<KeyEntry> scratch) {
  CHECK(scratch.size() >= entries.size());
  std::array<std::array<uint32_t, kDigits>, kPasses> counts{};
  for (const KeyEntry& entry : entries) {
    for (int pass = 0; pass < kPasses; ++pass) ++counts[static_cast<size_t>(pass)][Digit(entry, pass)];
  }
  KeyEntry* from = entries.data();
  KeyEntry* to = scratch.data();
  for (int pass = 0; pass < kPasses; ++pass) {
    auto& starts = counts[static_cast<size_t>(pass)];
    uint32_t sum = 0;
    for (uint32_t& start : starts) {
      const uint32_t count = start;
      start = sum;
      sum += count;
    }
    for (size_t i = 0; i < entries.size(); ++i) to[starts[Digit(from[i], pass)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries.data()) std::copy_n(from, entries.size(), entries.data());
  for (size_t i = 1; i < entries.size(); ++i) {
    const KeyEntry entry = entries[i];
    size_t hole = i;
    for (; hole > 0 && entries[hole - 1].key() > entry.key(); --hole) entries[hole] = entries[hole - 1];
    entries[hole] = entry;
  }
}

}  // namespace portolan::bench
