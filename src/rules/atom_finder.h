// AtomFinder: which of many short texts ("atoms", in lower case) occur in a URL.
//
// Each atom of four bytes and more is filed under four consecutive bytes of it, those that the fewest other atoms have.
// A search looks at each four bytes of the URL: one bit of a small table says for nearly all of them that no atom is
// filed there. Atoms of three bytes are filed under these.
//
// Thread: const after construction. Memory bound: 64 KiB and about 100 bytes per atom.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

class AtomFinder {
 public:
  static constexpr size_t kLeast = 3;  // bytes of an atom

  AtomFinder() = default;
  // REQUIRES: each has at least kLeast bytes.
  explicit AtomFinder(const std::vector<std::string>& atoms);

  // The indexes of the atoms that occur in `text`, without order, each once. `text` is in lower case.
  void Find(std::string_view text, std::vector<int>& found) const;

 private:
  struct Filed {
    uint32_t gram = 0;
    uint16_t offset = 0;  // of the gram in the atom
    int atom = 0;
  };
  struct Slot {
    uint32_t gram = 0;
    uint32_t first = 0;  // one more than the index in filed_; 0: free
  };
  static constexpr size_t kBits = size_t{1} << 19;

  static uint32_t Mixed(uint32_t gram) { return gram * 0x9e3779b1U; }
  static uint32_t BitOf(uint32_t gram) { return Mixed(gram) >> 13; }  // the highest 19 bits
  bool MayHave(uint32_t gram) const { return (bits_[BitOf(gram) / 64] >> (BitOf(gram) % 64) & 1) != 0; }
  void Try(uint32_t gram, std::string_view text, size_t at, std::vector<int>& found) const;

  std::vector<std::string> atoms_;
  std::vector<uint64_t> bits_;
  std::vector<Filed> filed_;  // by gram
  std::vector<Slot> slots_;   // open addressing; a power of two, at most half full
  bool short_ = false;        // some atom has three bytes
};

}  // namespace portolan
