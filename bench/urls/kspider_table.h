// The rival: KSpider's table of URLs (section 7 of the thesis), three arrays around an AVL tree.
//
//   TreeNode       8 bytes: left and right child, 28 bits each, and the height in two nibbles
//   DataPtr        4 bytes: where the node's data begins
//   CompressedURL  reference (4 bytes), common prefix (1), length (1), the tail
//
// A URL's reference is the node on the path from the root to its place with which it shares most. Getting a URL
// follows the references; each comparison on the way down gets a URL. The thesis: 26.5 bytes per URL of 59.5 bytes,
// 12 us to find and 1.4 us to get one, on the machines of 2003. Tails and prefixes are at most 255 bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace portolan::bench {

class KSpiderTable {
 public:
  uint32_t Insert(std::string_view url);  // tail of at most 255 bytes behind a prefix of at most 255
  std::optional<uint32_t> Find(std::string_view url) const;
  void Get(uint32_t number, std::string& out) const;

  uint64_t size() const { return pointers_.size(); }
  // What the elements take: the thesis allocates the arrays once, at their final size.
  uint64_t memory() const {
    return nodes_.size() * sizeof(TreeNode) + pointers_.size() * sizeof(uint32_t) + data_.size();
  }

 private:
  static constexpr uint32_t kNone = (1U << 28) - 1;
  struct TreeNode {
    uint32_t left = kNone;  // the highest four bits of each word: a nibble of the height
    uint32_t right = kNone | 1U << 28;
  };

  static uint32_t Child(uint32_t word) { return word & kNone; }
  uint32_t Left(uint32_t node) const { return Child(nodes_[node].left); }
  uint32_t Right(uint32_t node) const { return Child(nodes_[node].right); }
  void SetLeft(uint32_t node, uint32_t child) { nodes_[node].left = (nodes_[node].left & ~kNone) | child; }
  void SetRight(uint32_t node, uint32_t child) { nodes_[node].right = (nodes_[node].right & ~kNone) | child; }
  int Height(uint32_t node) const {
    if (node == kNone) return 0;
    return static_cast<int>((nodes_[node].left >> 28 << 4) | nodes_[node].right >> 28);
  }
  void UpdateHeight(uint32_t node);
  uint32_t RotateLeft(uint32_t node);
  uint32_t RotateRight(uint32_t node);
  uint32_t Balance(uint32_t node);

  std::vector<TreeNode> nodes_;
  std::vector<uint32_t> pointers_;
  std::string data_;
  uint32_t root_ = kNone;
};

}  // namespace portolan::bench
