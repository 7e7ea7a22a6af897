// ReplaceHeap: the front of a merge of sorted runs. The smallest head is on top; it is replaced by the next one of its
// run, or removed when the run has ended: one way down per item.
//
// Thread: one owner. Memory: the heads.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace portolan {

// Less is a strict order of T without equals: runs that have the same head are ordered by their numbers.
template <typename T, typename Less>
class ReplaceHeap {
 public:
  explicit ReplaceHeap(Less less = Less()) : less_(less) {}

  bool empty() const { return heads_.empty(); }
  const T& top() const { return heads_.front(); }

  void Push(T head) {
    heads_.push_back(std::move(head));
    for (size_t at = heads_.size() - 1; at > 0;) {
      const size_t parent = (at - 1) / 2;
      if (!less_(heads_[at], heads_[parent])) return;
      std::swap(heads_[at], heads_[parent]);
      at = parent;
    }
  }
  void ReplaceTop(T head) {
    heads_.front() = std::move(head);
    Sink();
  }
  void Pop() {
    heads_.front() = std::move(heads_.back());
    heads_.pop_back();
    if (!heads_.empty()) Sink();
  }

 private:
  void Sink() {
    const size_t size = heads_.size();
    for (size_t at = 0;;) {
      size_t child = 2 * at + 1;
      if (child >= size) return;
      if (child + 1 < size && less_(heads_[child + 1], heads_[child])) ++child;
      if (!less_(heads_[child], heads_[at])) return;
      std::swap(heads_[child], heads_[at]);
      at = child;
    }
  }

  std::vector<T> heads_;
  Less less_;
};

}  // namespace portolan
