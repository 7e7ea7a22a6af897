#include "reputation/in_degree_ranks.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace portolan {

void InDegreeRanks::Clear() {
  heap_.clear();
  sorted_ = false;
  outside_largest_ = 0;
  outside_equal_ = 0;
  domains_ = 0;
  linked_ = 0;
  in_degrees_ = 0;
}

void InDegreeRanks::TurnAway(uint32_t in_degree) {
  if (in_degree > outside_largest_) {
    outside_largest_ = in_degree;
    outside_equal_ = 0;
  }
  if (in_degree == outside_largest_) ++outside_equal_;
}

void InDegreeRanks::Add(uint32_t in_degree) {
  DCHECK(!sorted_);
  ++domains_;
  if (in_degree == 0) return;
  ++linked_;
  in_degrees_ += in_degree;
  if (heap_.size() < top_) {
    heap_.reserve(top_);  // growth by doubling would exceed the memory bound
    heap_.push_back(in_degree);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return;
  }
  if (heap_.empty() || in_degree <= heap_.front()) {
    TurnAway(in_degree);
    return;
  }
  TurnAway(heap_.front());
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.back() = in_degree;
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void InDegreeRanks::SortDown() {
  if (!sorted_) std::sort_heap(heap_.begin(), heap_.end(), std::greater<>());
  sorted_ = true;
}

}  // namespace portolan
