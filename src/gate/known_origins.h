// KnownOrigins: what the gate learned lately of origins, in RAM: the newest robots reference of each, or that it was
// asked for.
//
// A set of four entries for each origin's hash; where all four are taken, the one that expires first goes. What is
// forgotten is still in RobotsCache. Thread: one owner. Memory bound: the bytes given, 24 an entry; less than one set:
// nothing is known.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "flow/url_record.h"

namespace portolan {

class KnownOrigins {
 public:
  explicit KnownOrigins(uint64_t bytes) : sets_(bytes / sizeof(Set)) {}

  // Null when nothing is known, or nothing that is still true at `unix_s`.
  const RobotsRef* Find(uint64_t key, uint32_t unix_s) const {
    if (sets_.empty()) return nullptr;
    for (const Entry& entry : sets_[SetOf(key)]) {
      if (entry.key == key && entry.ref.present()) return entry.ref.expires > unix_s ? &entry.ref : nullptr;
    }
    return nullptr;
  }

  // REQUIRES: ref.present()
  void Put(uint64_t key, const RobotsRef& ref) {
    if (sets_.empty()) return;
    Set& set = sets_[SetOf(key)];
    Entry* chosen = std::min_element(set.begin(), set.end(),
                                     [](const Entry& a, const Entry& b) { return a.ref.expires < b.ref.expires; });
    for (Entry& entry : set) {
      if (entry.key == key && entry.ref.present()) chosen = &entry;
    }
    *chosen = {key, ref};
  }

 private:
  struct Entry {
    uint64_t key = 0;
    RobotsRef ref;
  };
  using Set = std::array<Entry, 4>;

  size_t SetOf(uint64_t key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<size_t>((static_cast<Wide>(key) * sets_.size()) >> 64);
  }

  std::vector<Set> sets_;
};

}  // namespace portolan
