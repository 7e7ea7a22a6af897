// The rival: lists of successors as varints. Each list is its length and its gaps, seven bits per byte; where each list
// begins is an array of 64-bit numbers, for random access.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "graph/properties.h"

namespace portolan::bench {

class VarintLists {
 public:
  void Add(std::span<const graph::NodeId> list) {
    begins_.push_back(bytes_.size());
    AppendVarint(bytes_, list.size());
    const auto node = static_cast<int64_t>(begins_.size()) - 1;
    for (size_t i = 0; i < list.size(); ++i) {
      AppendVarint(bytes_, i == 0 ? ZigZag(static_cast<int64_t>(list[0]) - node) : list[i] - list[i - 1] - 1);
    }
  }

  uint64_t nodes() const { return begins_.size(); }
  uint64_t bits() const { return bytes_.size() * 8; }
  uint64_t begin(uint64_t node) const { return begins_[node]; }

  // The list at `at`, which is node's; moves `at` behind it. The bytes are our own: nothing is checked.
  void Decode(uint64_t node, uint64_t& at, std::vector<graph::NodeId>& out) const {
    const auto* from = reinterpret_cast<const uint8_t*>(bytes_.data()) + at;
    const auto* const begin = from;
    const uint64_t count = Next(from);
    if (out.size() < count) out.resize(count);
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t x = Next(from);
      last = i == 0 ? node + static_cast<uint64_t>(UnZigZag(x)) : last + x + 1;
      out[i] = static_cast<graph::NodeId>(last);
    }
    size_ = count;
    at += static_cast<uint64_t>(from - begin);
  }
  // Of the list decoded last.
  uint64_t size() const { return size_; }

 private:
  static uint64_t Next(const uint8_t*& from) {
    uint64_t x = *from++;
    if (x < 0x80) return x;
    x &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      const uint64_t byte = *from++;
      x |= (byte & 0x7f) << shift;
      if (byte < 0x80) return x;
    }
  }

  std::string bytes_;
  std::vector<uint64_t> begins_;
  mutable uint64_t size_ = 0;
};

}  // namespace portolan::bench
