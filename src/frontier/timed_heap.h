// TimedHeap: ids by time, the earliest on top, with removal and change of any of them in O(log n).
//
// Each node has its time, so comparing touches nothing else. The position of each id is written to `position(id)`, a
// field that the owner of the id provides (a host is in one heap at a time and has one such field). Ties are ordered by
// sequence number: first come, first served, and the same order in every run.
//
// Thread: one owner. Memory bound: 24 bytes per entry.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace portolan {

struct TimedNode {
  int64_t time_ns = 0;
  uint64_t sequence = 0;
  uint32_t id = 0;

  bool Before(const TimedNode& other) const {
    return time_ns != other.time_ns ? time_ns < other.time_ns : sequence < other.sequence;
  }
};

class TimedHeap {
 public:
  static constexpr uint32_t kOutside = ~uint32_t{0};

  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  size_t capacity() const { return nodes_.capacity(); }
  // REQUIRES: not empty.
  const TimedNode& top() const { return nodes_.front(); }
  const TimedNode& at(uint32_t place) const { return nodes_[place]; }

  template <typename Position>
  void Push(const TimedNode& node, Position&& position) {
    nodes_.push_back(node);
    Up(nodes_.size() - 1, position);
  }

  template <typename Position>
  void Remove(uint32_t place, Position&& position) {
    DCHECK(place < nodes_.size());
    position(nodes_[place].id) = kOutside;
    const TimedNode last = nodes_.back();
    nodes_.pop_back();
    if (nodes_.empty() && nodes_.capacity() > 64) nodes_ = {};
    if (place == nodes_.size()) return;
    nodes_[place] = last;
    Sift(place, position);
  }

  template <typename Position>
  void Change(uint32_t place, int64_t time_ns, uint64_t sequence, Position&& position) {
    DCHECK(place < nodes_.size());
    nodes_[place].time_ns = time_ns;
    nodes_[place].sequence = sequence;
    Sift(place, position);
  }

  // True if every parent is before its children. For checks.
  bool Ordered() const {
    for (size_t i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].Before(nodes_[(i - 1) / kChildren])) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kChildren = 4;  // half as many levels as with two, and siblings share cache lines

  template <typename Position>
  void Sift(size_t place, Position& position) {
    if (place > 0 && nodes_[place].Before(nodes_[(place - 1) / kChildren])) {
      Up(place, position);
    } else {
      Down(place, position);
    }
  }

  template <typename Position>
  void Up(size_t place, Position& position) {
    const TimedNode node = nodes_[place];
    while (place > 0) {
      const size_t parent = (place - 1) / kChildren;
      if (!node.Before(nodes_[parent])) break;
      Set(place, nodes_[parent], position);
      place = parent;
    }
    Set(place, node, position);
  }

  template <typename Position>
  void Down(size_t place, Position& position) {
    const TimedNode node = nodes_[place];
    for (;;) {
      const size_t first = kChildren * place + 1;
      if (first >= nodes_.size()) break;
      const size_t end = std::min(first + kChildren, nodes_.size());
      size_t child = first;
      for (size_t other = first + 1; other < end; ++other) {
        if (nodes_[other].Before(nodes_[child])) child = other;
      }
      if (!nodes_[child].Before(node)) break;
      Set(place, nodes_[child], position);
      place = child;
    }
    Set(place, node, position);
  }

  template <typename Position>
  void Set(size_t place, const TimedNode& node, Position& position) {
    nodes_[place] = node;
    position(node.id) = static_cast<uint32_t>(place);
  }

  std::vector<TimedNode> nodes_;
};

}  // namespace portolan
