// NearTable: which recent text is nearly this one? Pages by the similarity hash of their text, within 3 bits.
//
// Two hashes that differ in at most 3 of 64 bits are equal in one of their four blocks of 16 bits. For each block and
// each value of it the entries that have it are a chain, newest first, of which the head is in a table and the rest in
// the entries themselves. The oldest entries leave from the other end, so a chain simply ends where it reaches one that
// has left: nothing is ever unlinked.
//
// Of several neighbours the nearest is found, of these the oldest that was looked at.
//
// Thread: one owner. Deterministic. Memory bound: that of the constructor: 1 MiB of heads, and per entry about 144
// bytes at a URL of 60. Time per look: at most kMostLooked entries per chain, n / 65,536 on average; where a chain is
// longer (texts that agree in 16 bits by chance or by intent), the older ones are not found.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

struct NearPage {
  uint64_t similarity = 0;  // not 0
  std::string_view url;
  uint16_t depth = 0;  // links from a seed
  uint8_t type = 0;    // of the detected MIME type (content/first_capture.h)

  bool operator==(const NearPage&) const = default;
};

class NearTable {
 public:
  static constexpr uint64_t kMinMemory = uint64_t{3} << 19;
  static constexpr uint32_t kMostLooked = 512;

  // REQUIRES: memory >= kMinMemory.
  explicit NearTable(uint64_t memory);

  struct Entry {
    uint64_t similarity;
    uint32_t before[4];  // per block: the low bits of the number of the entry before in its chain
    std::string url;
    uint16_t depth;
    uint8_t type;
    bool found;

    NearPage page() const { return {.similarity = similarity, .url = url, .depth = depth, .type = type}; }
  };
  // The nearest entry; nullptr: none is near. Marks it as found. Valid until the next change.
  const Entry* Find(uint64_t similarity);

  bool Fits(size_t url_size) const { return used_ + CostOf(url_size) <= memory_; }
  void Add(const NearPage& page);                           // REQUIRES: Fits
  const Entry& oldest() const { return entries_.front(); }  // REQUIRES: entries() > 0
  void RemoveOldest();                                      // likewise

  uint64_t entries() const { return entries_.size(); }

 private:
  static constexpr int kBlocks = 4;
  static uint64_t CostOf(size_t url_size) { return sizeof(Entry) + 24 + (url_size + 15) / 16 * 16; }
  static size_t HeadOf(uint64_t similarity, int block) {
    return static_cast<size_t>(block) << 16 | ((similarity >> (16 * block)) & 0xffff);
  }
  // How many numbers before the next one; as long as that is at most entries(), the entry is there.
  uint32_t AgeOf(uint32_t number) const { return next_ - number; }

  const uint64_t memory_;
  uint64_t used_;
  uint32_t next_ = 0;            // the number of the next entry; wraps
  std::deque<Entry> entries_;    // the oldest first
  std::vector<uint32_t> heads_;  // per block and value: the number of the newest entry
};

}  // namespace portolan
