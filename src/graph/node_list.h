// A list of successors in memory that is used again and again: it grows to the longest and allocates no more.
//
// Thread: one owner. Memory: the longest list it had, doubled at most, and a few words.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/properties.h"

namespace portolan::graph {

class NodeList {
 public:
  // Entries behind the last one that may be overwritten with anything: runs are copied in pieces of this many.
  static constexpr size_t kSlack = 8;

  // Room for `count` entries and the slack. What is in the list stays.
  NodeId* Room(size_t count) {
    if (space_.size() < count + kSlack) space_.resize(std::max(count + kSlack, 2 * space_.size()));
    return space_.data();
  }
  void set_size(size_t size) { size_ = size; }
  size_t size() const { return size_; }
  const NodeId* data() const { return space_.data(); }
  std::span<const NodeId> nodes() const { return {space_.data(), size_}; }

 private:
  std::vector<NodeId> space_;
  size_t size_ = 0;
};

}  // namespace portolan::graph
