// RecentKeys: which keys were seen recently? A cache of 64-bit keys in front of a DRUM that only reports new ones (the
// recent-URL cache of the thesis, ch. V).
//
// A key that is found here was stored before: its tuple need not touch the disk. A key that is not found may be new or
// forgotten: DRUM decides. So the cache can only save work, never change an answer.
//
// Each set is one cache line of eight words: seven keys and their CLOCK state (one mark per key, and a hand). A look-up
// costs one cache line. A key that was seen again since the hand last passed it stays, others are replaced. 0 marks an
// empty place, so key 0 is never found.
//
// Thread: one owner. Memory bound: the bytes given, rounded down to a power of two; 0 turns it off.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace portolan {

class RecentKeys {
 public:
  explicit RecentKeys(uint64_t bytes) {
    if (bytes < sizeof(Line)) return;
    const uint64_t lines = std::bit_floor(bytes / sizeof(Line));
    lines_ = std::make_unique<Line[]>(lines);
    shift_ = 64 - std::bit_width(lines - 1);
    if (lines == 1) shift_ = 63;
    mask_ = lines - 1;
  }

  bool enabled() const { return lines_ != nullptr; }
  uint64_t bytes() const { return enabled() ? (mask_ + 1) * sizeof(Line) : 0; }

  // True if the key is here; it is then marked as seen again. REQUIRES: enabled()
  bool Contains(uint64_t key) {
    Line& line = LineOf(key);
    uint32_t found = 0;
    for (uint32_t i = 0; i < kKeys; ++i) found |= uint32_t{line.keys[i] == key} << i;
    line.marks |= found;
    return found != 0 && key != 0;
  }

  // REQUIRES: enabled(), and the key is not here.
  void Insert(uint64_t key) {
    Line& line = LineOf(key);
    uint32_t hand = line.hand;
    while ((line.marks >> hand & 1) != 0) {
      line.marks &= ~(uint32_t{1} << hand);
      hand = hand + 1 == kKeys ? 0 : hand + 1;
    }
    line.keys[hand] = key;
    line.hand = hand + 1 == kKeys ? 0 : hand + 1;
  }

 private:
  static constexpr uint32_t kKeys = 7;
  struct alignas(64) Line {
    uint64_t keys[kKeys] = {};
    uint32_t marks = 0;  // bit i: keys[i] was seen since the hand passed it
    uint32_t hand = 0;
  };

  // If keys are hashes any bits will do; the multiplication is for keys that are not.
  Line& LineOf(uint64_t key) { return lines_[(key * 0x9e3779b97f4a7c15) >> shift_ & mask_]; }

  std::unique_ptr<Line[]> lines_;
  unsigned shift_ = 63;
  uint64_t mask_ = 0;
};

}  // namespace portolan
