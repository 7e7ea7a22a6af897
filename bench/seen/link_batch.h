// LinkBatch: links waiting for a database that is faster with many sorted keys at once than with one.
//
// Thread: one owner. Memory bound: `links` entries twice (the sort's scratch) and `text_bytes` of text, the last link's
// apart.

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/seen/key_sort.h"

namespace portolan::bench {

class LinkBatch {
 public:
  LinkBatch(size_t links, size_t text_bytes) : max_links_(links), max_text_(text_bytes) {
    entries_.reserve(links);
    scratch_.resize(links);
    ends_.reserve(links);
    text_.reserve(text_bytes + 4096);
  }

  void Add(uint64_t key, std::string_view text) {
    entries_.push_back(KeyEntry::Make(key, static_cast<uint32_t>(entries_.size())));
    text_.append(text);
    ends_.push_back(static_cast<uint32_t>(text_.size()));
  }

  bool empty() const { return entries_.empty(); }
  bool full() const { return entries_.size() >= max_links_ || text_.size() >= max_text_; }

  // Sorted by key, of equal keys the first to arrive only.
  std::span<const KeyEntry> SortedUnique() {
    SortByKey(entries_, scratch_);
    const auto same = [](const KeyEntry& a, const KeyEntry& b) { return a.key() == b.key(); };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
    return entries_;
  }

  std::string_view text(const KeyEntry& entry) const {
    const uint32_t begin = entry.number == 0 ? 0 : ends_[entry.number - 1];
    return std::string_view(text_).substr(begin, ends_[entry.number] - begin);
  }

  void Clear() {
    entries_.clear();
    ends_.clear();
    text_.clear();
  }

 private:
  const size_t max_links_;
  const size_t max_text_;
  std::vector<KeyEntry> entries_;
  std::vector<KeyEntry> scratch_;
  std::vector<uint32_t> ends_;  // of each link's text, in arrival order
  std::string text_;
};

}  // namespace portolan::bench
