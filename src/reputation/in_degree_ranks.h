// InDegreeRanks: the ranks of the domains with the largest in-degrees, from one pass over all of them.
//
// A heap keeps the largest `top` in-degrees. Besides, it is counted how many of the domains outside the heap have the
// largest in-degree among those, so that the last class of equal ones is counted in full. So ranks are exact, and only
// the heap is sorted. Domains without links to them have no rank.
//
// These are the domains of one shard; among those of all shards CrawlRanks ranks them (crawl_ranks.h).
//
// Thread: one owner at a time. Memory bound: 4 bytes × top.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace portolan {

class InDegreeRanks {
 public:
  explicit InDegreeRanks(size_t top) : top_(top) {}

  void Clear();
  void Add(uint32_t in_degree);

  size_t top() const { return top_; }
  size_t kept() const { return heap_.size(); }
  uint64_t domains() const { return domains_; }        // domains that were added, …
  uint64_t linked() const { return linked_; }          // … of them with a link from another domain
  uint64_t in_degrees() const { return in_degrees_; }  // added up

  // Goes from the largest in-degree down: how many domains are above, and how many have exactly this one. Their mean
  // rank is above + (equal + 1) / 2; rank 1 is the best. Ends with the class that reaches rank `top`.
  template <typename Class>
  void ForEachClass(Class each) {
    SortDown();
    for (size_t begin = 0; begin < heap_.size();) {
      size_t end = begin + 1;
      while (end < heap_.size() && heap_[end] == heap_[begin]) ++end;
      const uint64_t outside = end == heap_.size() && heap_[begin] == outside_largest_ ? outside_equal_ : 0;
      each(heap_[begin], uint64_t{begin}, end - begin + outside);
      begin = end;
    }
  }

 private:
  void SortDown();
  void TurnAway(uint32_t in_degree);

  size_t top_;
  std::vector<uint32_t> heap_;  // the smallest first; after SortDown the largest
  bool sorted_ = false;
  uint32_t outside_largest_ = 0;  // the largest in-degree outside the heap
  uint64_t outside_equal_ = 0;    // how many have that one
  uint64_t domains_ = 0;
  uint64_t linked_ = 0;
  uint64_t in_degrees_ = 0;
};

}  // namespace portolan
