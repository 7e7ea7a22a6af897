#include "graph/prefix_code.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace portolan::graph {
namespace {

// The depth of each leaf of a Huffman tree.
std::vector<uint8_t> HuffmanDepths(std::span<const uint64_t> counts) {
  const size_t symbols = counts.size();
  std::vector<uint32_t> parent(2 * symbols - 1);
  using Item = std::pair<uint64_t, uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  for (uint32_t i = 0; i < symbols; ++i) queue.emplace(counts[i], i);
  for (auto node = static_cast<uint32_t>(symbols); node < parent.size(); ++node) {
    const Item a = queue.top();
    queue.pop();
    const Item b = queue.top();
    queue.pop();
    parent[a.second] = node;
    parent[b.second] = node;
    queue.emplace(a.first + b.first, node);
  }
  std::vector<uint8_t> depth(parent.size());
  for (size_t node = parent.size() - 1; node-- > 0;) depth[node] = static_cast<uint8_t>(depth[parent[node]] + 1);
  depth.resize(symbols);
  return depth;
}

}  // namespace

std::vector<uint32_t> PrefixCode::Build(std::span<const uint64_t> counts) {
  // A count of at least a 2^21st of the whole bounds the depth: no path is longer than log_1.618 of that times a small
  // factor, so the floor is raised until it fits.
  uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{1});
  std::vector<uint8_t> depth;
  for (uint64_t floor = std::max<uint64_t>(1, total >> 21);; floor *= 2) {
    std::vector<uint64_t> raised(counts.begin(), counts.end());
    for (uint64_t& count : raised) count = std::max(count, floor);
    depth = HuffmanDepths(raised);
    if (*std::ranges::max_element(depth) <= kMaxBits) break;
  }
  std::vector<uint32_t> symbols(counts.size());
  std::iota(symbols.begin(), symbols.end(), 0);
  std::ranges::stable_sort(symbols, {}, [&depth](uint32_t symbol) { return depth[symbol]; });
  bits_.resize(symbols.size());
  for (size_t rank = 0; rank < symbols.size(); ++rank) bits_[rank] = depth[symbols[rank]];
  table_.assign(size_t{1} << kTableBits, 0);
  uint32_t next = 0;
  uint32_t rank = 0;
  for (unsigned length = 1; length <= kMaxBits; ++length) {
    next <<= 1;
    first_code_[length] = next;
    first_rank_[length] = rank;
    for (; rank < bits_.size() && bits_[rank] == length; ++rank, ++next) {
      if (length > kTableBits) continue;
      const unsigned free = kTableBits - length;
      const uint32_t entry = rank << 8 | length;
      std::fill_n(table_.begin() + (static_cast<size_t>(next) << free), size_t{1} << free, entry);
    }
    // With all codes of 2^length given out the shift would overflow; one less is the last window in any case.
    last_[length] = next == 0 ? 0 : ((uint64_t{next} - 1) << (64 - length)) | (~uint64_t{0} >> length);
  }
  return symbols;
}

PrefixCode::Decoded PrefixCode::DecodeLong(uint64_t window) const {
  unsigned length = kTableBits + 1;
  while (length < kMaxBits && window > last_[length]) ++length;
  const auto code = static_cast<uint32_t>(window >> (64 - length));
  return {first_rank_[length] + (code - first_code_[length]), length};
}

}  // namespace portolan::graph
