// UrlCode: turns the ends of URLs into few bits, by a vocabulary that was learnt from such ends.
//
// The vocabulary has every byte, the end of a URL, and the strings that pay: words with the hyphen before them,
// "/wp-content/uploads/", ".html" with the end. It is learnt as byte pair encoding does (Gage 1994), many pairs per
// pass instead of one; then a Huffman code of the strings' uses is made, and URLs are cut where the sum of the codes is
// smallest. Ends of crawl-shaped URLs (32 bytes on average behind the prefix that they share with a neighbour) take 9
// to 10 bytes; xz takes 12 with the whole sorted list at once.
//
// A second Huffman code has the lengths of shared prefixes.
//
// Thread: const after Learn. Memory bound: at most kMaxStrings strings, about 40 bytes each, of which Forget gives half
// back once no URL is encoded any more. Learn takes 60 bytes per byte of the sample for a moment.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "graph/bit_writer.h"
#include "graph/prefix_code.h"

namespace portolan::graph {

class UrlCode {
 public:
  static constexpr uint32_t kMaxStrings = 24'576;
  static constexpr size_t kMaxString = 24;     // bytes
  static constexpr size_t kOverrun = 32;       // how far behind a decoded text Expand may write
  static constexpr unsigned kMaxShared = 254;  // the longest prefix that is shared
  static constexpr unsigned kSameShared = 255;

  struct Sample {
    std::vector<std::string> ends;
    std::vector<uint64_t> shared;  // how often each length, 0 to 255
  };
  // From no sample: the bytes.
  explicit UrlCode(const Sample& sample = {});

  // Bits at `at` of `data`, highest first; eight bytes behind the last are read as well.
  class Cursor {
   public:
    Cursor(const char* data, uint64_t at) : data_(data), at_(at) {}
    uint64_t window() const { return __builtin_bswap64(LoadLe<uint64_t>(data_ + at_ / 8)) << (at_ % 8); }
    void Skip(unsigned bits) { at_ += bits; }
    uint64_t Take(unsigned bits) {  // 1 to 32
      const uint64_t value = window() >> (64 - bits);
      at_ += bits;
      return value;
    }
    uint64_t position() const { return at_; }

   private:
    const char* data_;
    uint64_t at_;
  };

  void WriteShared(unsigned shared, BitWriter& out) const;
  unsigned ReadShared(Cursor& in) const {
    const auto [rank, bits, marked] = shared_code_.Decode(in.window());
    in.Skip(bits);
    return shared_of_rank_[rank];
  }

  void WriteEnd(std::string_view end, BitWriter& out) const;
  // Past an end, without its text.
  void SkipEnd(Cursor& in) const {
    for (bool ends = false; !ends;) {
      const auto [rank, bits, marked] = code_.Decode(in.window());
      in.Skip(bits);
      ends = marked;
    }
  }
  // Appends the next string at `to`; sets `ends` behind the last one. Up to kOverrun bytes may be written.
  char* Expand(Cursor& in, char* to, bool& ends) const {
    const auto [rank, bits, marked] = code_.Decode(in.window());
    in.Skip(bits);
    const uint32_t string = strings_[rank];
    std::memcpy(to, text_.data() + (string >> 6), kOverrun);
    ends = marked;
    return to + (string & 31);
  }

  void Forget();
  uint64_t memory() const;

 private:
  static bool Ends(uint32_t string) { return (string & 32) != 0; }

  struct Candidate {
    std::string text;
    bool ends;
  };
  // A node of the trie of all strings, in breadth-first order: its children are neighbours.
  struct Node {
    uint32_t children = 0;  // the first; the next node's first is the end
    uint16_t rank = kNone;
    uint16_t end_rank = kNone;  // of the string with the end behind it
  };
  static constexpr uint16_t kNone = 0xffff;

  static std::vector<Candidate> Pairs(const Sample& sample);
  // Candidates with the end behind them come first.
  void Set(const std::vector<Candidate>& candidates, const std::vector<uint64_t>& counts);
  void BuildTrie(const std::vector<Candidate>& by_rank);
  // The ranks of the cheapest way to write `end`, last one first.
  void Cut(std::string_view end, std::vector<uint32_t>& ranks) const;

  PrefixCode code_;
  std::vector<uint32_t> strings_;  // by rank: place in text_ * 64 + 32 if the end is behind it + length
  std::string text_;
  PrefixCode shared_code_;
  std::vector<uint8_t> shared_of_rank_;
  std::vector<uint16_t> rank_of_shared_;
  std::vector<Node> trie_;  // empty: no URL can be encoded
  std::string labels_;      // of each node, the byte that leads to it
};

}  // namespace portolan::graph
