// KnownOrigins: what the gate learned recently about origins, in RAM: the newest robots reference of each with its
// Crawl-delay, or that its robots.txt was requested.
//
// A set of eight entries for each origin's hash; if all are taken, the one that expires first is replaced. (Sets of
// four overflow much sooner: in a table that was half full, five times as many dispatches had to read rules.) What is
// dropped here is still in RobotsCache. Thread: one owner. Memory bound: the bytes given, 24 per entry; with less than
// one set nothing is kept.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "flow/url_record.h"

namespace portolan {

struct KnownOrigin {
  static constexpr uint32_t kNoDelay = ~uint32_t{0};

  // Of a RobotsRef, with room for the delay beside it.
  uint64_t position = 0;
  uint32_t expires = 0;
  uint32_t crawl_delay_ms = kNoDelay;  // as the rules at `position` say

  RobotsRef ref() const { return {.position = position, .expires = expires}; }
};

class KnownOrigins {
 public:
  explicit KnownOrigins(uint64_t bytes) : sets_(bytes / sizeof(Set)) {}

  // Null when nothing is known that is still valid at `unix_s`.
  const KnownOrigin* Find(uint64_t key, uint32_t unix_s) const {
    if (sets_.empty()) return nullptr;
    for (const Entry& entry : sets_[SetOf(key)]) {
      if (entry.key == key && entry.origin.expires > 0) return entry.origin.expires > unix_s ? &entry.origin : nullptr;
    }
    return nullptr;
  }

  // REQUIRES: ref.present()
  void Put(uint64_t key, const RobotsRef& ref, std::optional<uint32_t> crawl_delay_ms = std::nullopt) {
    if (sets_.empty()) return;
    Set& set = sets_[SetOf(key)];
    Entry* chosen = std::min_element(
        set.begin(), set.end(), [](const Entry& a, const Entry& b) { return a.origin.expires < b.origin.expires; });
    for (Entry& entry : set) {
      if (entry.key == key && entry.origin.expires > 0) chosen = &entry;
    }
    *chosen = {key, {ref.position, ref.expires, crawl_delay_ms.value_or(KnownOrigin::kNoDelay)}};
  }

 private:
  struct Entry {
    uint64_t key = 0;
    KnownOrigin origin;
  };
  static_assert(sizeof(Entry) == 24);
  static constexpr size_t kWays = 8;
  using Set = std::array<Entry, kWays>;

  size_t SetOf(uint64_t key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<size_t>((static_cast<Wide>(key) * sets_.size()) >> 64);
  }

  std::vector<Set> sets_;
};

}  // namespace portolan
