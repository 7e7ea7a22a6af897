// PrefixTable: which of many prefixes a URL begins with, in the time of one binary search.
//
// The prefixes are sorted, and each knows the longest other one that it begins with. All prefixes of a URL are then on
// the way from the last one that is not behind the URL to its root.
//
// Thread: const after Finish. Memory bound: the texts and about 40 bytes per prefix.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

class PrefixTable {
 public:
  void Add(std::string_view prefix, uint32_t value) { entries_.push_back({std::string(prefix), value}); }

  // REQUIRES: called once, after the last Add and before Each.
  void Finish() {
    std::ranges::stable_sort(entries_, {}, &Entry::prefix);
    for (uint32_t i = 1; i < entries_.size(); ++i) {
      uint32_t above = i;  // one more than the index; 0: none
      while (above > 0 && !entries_[i].prefix.starts_with(entries_[above - 1].prefix)) {
        above = entries_[above - 1].above;
      }
      entries_[i].above = above;
    }
  }

  // Calls each(value) for every prefix of `text`.
  template <typename Call>
  void Each(std::string_view text, Call each) const {
    const auto behind = std::ranges::upper_bound(entries_, text, {},
                                                 [](const Entry& entry) -> std::string_view { return entry.prefix; });
    for (auto at = static_cast<uint32_t>(behind - entries_.begin()); at > 0; at = entries_[at - 1].above) {
      if (text.starts_with(entries_[at - 1].prefix)) each(entries_[at - 1].value);
    }
  }

  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::string prefix;
    uint32_t value = 0;
    uint32_t above = 0;  // one more than the index of the longest prefix of this one; 0: there is none
  };
  std::vector<Entry> entries_;
};

}  // namespace portolan
