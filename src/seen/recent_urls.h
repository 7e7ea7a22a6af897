// RecentUrls: the cache of URL hashes before URLseen (thesis ch. V: CLOCK over 8-byte hashes).
//
// Most links of a crawl point to a few popular pages and to the site's own menu: a few million hashes in RAM turn away
// more than half of them before they cost disk traffic. What the cache forgets URLseen still knows, so it may be of any
// size; it never says "seen" of a hash that was not put in.
//
// Departure from the thesis: not one CLOCK over one hash table, but a CLOCK of its own for each set of seven hashes.
// A set is one line of the processor's cache, so a lookup waits for memory once; an entry costs 64 / 7 = 9.1 bytes,
// where a table beside a clock costs 12 and more.
//
//   line  OFFSET SIZE
//   hash       0   56   seven of them
//   state     56    3   a bit each: in use; asked for since the hand passed; then the hand
//
// Thread: one owner. Memory bound: the bytes given, rounded down to whole lines; at the bound a set forgets the first
// hash under its hand that was not asked for since the hand passed.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace portolan {

class RecentUrls {
 public:
  // Less than one line (64 bytes): the cache is off and knows nothing.
  explicit RecentUrls(uint64_t bytes) : sets_(bytes / sizeof(Set)) {}

  // Was it here? Afterwards it is.
  bool SeenRecently(uint64_t hash);
  // Takes it out again, for a caller whose next step failed.
  void Forget(uint64_t hash);

  bool off() const { return sets_.empty(); }
  size_t entries() const { return sets_.size() * kWays; }

 private:
  static constexpr unsigned kWays = 7;

  struct alignas(64) Set {
    std::array<uint64_t, kWays> hashes{};
    uint8_t used = 0;
    uint8_t referenced = 0;
    uint8_t hand = 0;
  };
  static_assert(sizeof(Set) == 64);

  Set& SetOf(uint64_t hash);
  static unsigned Find(const Set& set, uint64_t hash);  // kWays: not there

  std::vector<Set> sets_;
};

}  // namespace portolan
