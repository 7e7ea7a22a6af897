// UrlStrings: the strings that a UrlCode is made of, and how to find them in a URL.
//
// Every byte, the end of a URL, and strings that are frequent pairs of frequent pairs: words with the hyphen before
// them, "/wp-content/uploads/", ".html" with the end behind it. They are learnt as byte pair encoding does (Gage 1994),
// many pairs per pass instead of one. Numbers of five to nine digits are never part of a string: they are what differs
// between a site's URLs, and UrlCode has better ways to write them.
//
// Thread: const after construction. Memory bound: at most kMaxStrings strings after Keep, twice as many before, of at
// most 24 bytes; about 40 bytes each.

#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace portolan::graph {

inline constexpr unsigned kByteKinds = 8;

// What is written of a URL: the bytes behind those that it borrows from another one.
struct UrlEnd {
  std::string_view url;
  uint32_t shared = 0;
  bool whole = false;   // there is no other one
  uint32_t number = 0;  // of the other one (UrlCode)
};

// A run of five to nine digits without a zero in front, between bytes that are no letters or digits.
struct UrlNumber {
  size_t begin;
  size_t end;
  uint32_t value;
};
// The first number at `from` or behind it; begin is the URL's size if there is none.
UrlNumber NextNumber(std::string_view url, size_t from);

inline bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

// 0 to kByteKinds - 1: letters (and what is no ASCII), digits, some separators, others.
unsigned ByteKind(char byte);

class UrlStrings {
 public:
  static constexpr uint32_t kMaxStrings = 16'384;
  static constexpr size_t kMaxString = 24;  // bytes

  struct String {
    std::string text;
    bool ends = false;  // the URL ends behind it
  };

  UrlStrings() = default;
  explicit UrlStrings(std::vector<String> strings);
  // All bytes, the end, and strings that are frequent in `ends`.
  static UrlStrings Learn(std::span<const UrlEnd> ends);

  size_t size() const { return size_; }
  const String& operator[](size_t index) const { return strings_[index]; }
  static bool Needed(const String& string) { return string.text.size() + (string.ends ? 1 : 0) == 1; }

  // Calls each(index, end) for each string that stands at `from` and ends at or before `limit`; those with the end of
  // the URL only if `limit` is the URL's size, with an end one behind it.
  template <typename Each>
  void ForEachAt(std::string_view url, size_t from, size_t limit, Each each) const {
    uint32_t node = 0;
    for (size_t at = from;; ++at) {
      if (at > from && nodes_[node].string != kNone) each(nodes_[node].string, at);
      if (at == limit) {
        if (limit == url.size() && nodes_[node].ending != kNone) each(nodes_[node].ending, at + 1);
        return;
      }
      const uint32_t first = nodes_[node].children;
      const uint32_t count = nodes_[node + 1].children - first;
      const void* child = count == 0 ? nullptr : std::memchr(labels_.data() + first, url[at], count);
      if (child == nullptr) return;
      node = static_cast<uint32_t>(static_cast<const char*>(child) - labels_.data());
    }
  }

  // Only the texts: strings can still be found.
  void Forget() { std::vector<String>().swap(strings_); }
  uint64_t memory() const;

 private:
  static constexpr uint16_t kNone = 0xffff;
  // A node of the trie of all strings, in breadth-first order: its children are neighbours.
  struct Node {
    uint32_t children = 0;  // the first; the next node's first is the end
    uint16_t string = kNone;
    uint16_t ending = kNone;  // the string with the end behind it
  };

  size_t size_ = 0;
  std::vector<String> strings_;
  std::vector<Node> nodes_;
  std::string labels_;  // of each node, the byte that leads to it
};

}  // namespace portolan::graph
