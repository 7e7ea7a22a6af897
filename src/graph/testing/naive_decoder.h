// A second reader of the format for tests, written from docs/formats/graph.md alone: bit by bit, all lists in memory,
// sets instead of merges. It shares nothing with the readers it is compared with but the names of the codes.

#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/properties.h"

namespace portolan::graph {

class NaiveDecoder {
 public:
  NaiveDecoder(const GraphProperties& properties, const std::string& bytes) : p_(properties), bytes_(bytes) {}

  // Throws where the bytes end.
  std::vector<std::vector<NodeId>> DecodeAll() {
    std::vector<std::vector<NodeId>> lists;
    for (uint64_t node = 0; node < p_.nodes; ++node) lists.push_back(DecodeOne(static_cast<int64_t>(node), lists));
    return lists;
  }
  uint64_t position() const { return at_; }

 private:
  std::vector<NodeId> DecodeOne(int64_t node, const std::vector<std::vector<NodeId>>& before) {
    const uint64_t degree = Natural(p_.parameters.outdegrees);
    std::set<NodeId> found;
    if (degree == 0) return {};
    const uint64_t reference = p_.parameters.window > 0 ? Natural(p_.parameters.references) : 0;
    if (reference > 0) {
      const std::vector<NodeId>& other = before.at(before.size() - reference);
      std::vector<bool> copy;
      const uint64_t blocks = Natural(p_.parameters.block_counts);
      for (uint64_t b = 0; b < blocks; ++b) {
        const uint64_t length = Natural(p_.parameters.blocks) + (b == 0 ? 0 : 1);
        copy.insert(copy.end(), length, b % 2 == 0);
      }
      copy.resize(other.size(), blocks % 2 == 0);
      for (size_t i = 0; i < other.size(); ++i) {
        if (copy[i]) found.insert(other[i]);
      }
    }
    if (found.size() < degree && p_.parameters.min_interval > 0) {
      const uint64_t count = Natural(Code::kGamma);
      int64_t at = node;
      for (uint64_t i = 0; i < count; ++i) {
        at += i == 0 ? Signed(Natural(Code::kGamma)) : static_cast<int64_t>(Natural(Code::kGamma)) + 1;
        const uint64_t length = Natural(Code::kGamma) + p_.parameters.min_interval;
        for (uint64_t j = 0; j < length; ++j) found.insert(static_cast<NodeId>(at++));
      }
    }
    int64_t at = node;
    for (bool first = true; found.size() < degree; first = false) {
      const uint64_t code = Natural(p_.parameters.residuals);
      at += first ? Signed(code) : static_cast<int64_t>(code) + 1;
      found.insert(static_cast<NodeId>(at));
    }
    return {found.begin(), found.end()};
  }

  static int64_t Signed(uint64_t x) {
    return x % 2 == 0 ? static_cast<int64_t>(x / 2) : -static_cast<int64_t>((x + 1) / 2);
  }
  uint64_t Bit() {
    if (at_ / 8 >= bytes_.size()) throw std::runtime_error("the bytes end");
    const auto byte = static_cast<unsigned char>(bytes_[at_ / 8]);
    return byte >> (7 - at_++ % 8) & 1;
  }
  uint64_t Binary(uint64_t bits) {
    uint64_t x = 0;
    while (bits-- > 0) x = 2 * x + Bit();
    return x;
  }
  uint64_t Zeros() {
    uint64_t zeros = 0;
    while (Bit() == 0) ++zeros;
    return zeros;
  }
  uint64_t Natural(Code code) {
    const uint64_t k = p_.parameters.zeta_k;
    if (code == Code::kUnary) return Zeros();
    if (code == Code::kGamma) {
      const uint64_t bits = Zeros();
      return (1ULL << bits) + Binary(bits) - 1;
    }
    if (code == Code::kDelta) {
      const uint64_t bits = Natural(Code::kGamma);
      return (1ULL << bits) + Binary(bits) - 1;
    }
    if (code == Code::kZeta) {
      const uint64_t h = Zeros();
      const uint64_t low = 1ULL << (h * k);
      const uint64_t short_code = Binary(h * k + k - 1);
      if (short_code < low) return low + short_code - 1;
      return 2 * short_code + Bit() - 1;
    }
    uint64_t x = 0;
    for (;;) {
      const uint64_t last = Bit();
      x = 8 * x + Binary(3);
      if (last == 1) return x;
    }
  }

  GraphProperties p_;
  const std::string& bytes_;
  uint64_t at_ = 0;
};

}  // namespace portolan::graph
