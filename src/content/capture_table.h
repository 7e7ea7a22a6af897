// CaptureTable: the first captures of recent payloads in RAM, with their URLs, found by payload.
//
// Entries are in one ring of bytes in the order in which they came; an open-addressed index finds them. The oldest
// leave first; whether one that was found since may stay is the caller's decision (found()). An entry costs 40 bytes,
// its URL rounded up to 8, and its share of the index: about 115 bytes for a URL of 60.
//
// The order matters: the caller has the same entries, in the same order, in a queue on disk, so that the table can be
// made again after a restart. So an entry that is removed stays in the ring, unreachable, until it is the oldest, and a
// removal is an entry of its own.
//
// Thread: one owner. Deterministic. Memory bound: Options of the constructor, all of it allocated as it is used.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "content/first_capture.h"

namespace portolan {

class CaptureTable {
 public:
  static constexpr uint64_t kMinMemory = uint64_t{64} << 10;
  // The most entries that leave when one comes.
  static constexpr size_t kMostEvicted = 2 * ((40 + kMaxFirstUrl) / 40 + 1);

  // REQUIRES: memory >= kMinMemory.
  explicit CaptureTable(uint64_t memory);

  // The live entry of the payload; nullptr if there is none. Marks it as found. Valid until the next change.
  struct Entry;
  const Entry* Find(const PayloadKey& payload);

  // Whether an entry with a URL of that size can be added now; otherwise the oldest has to leave first.
  bool Fits(size_t url_size) const;
  // Adds a capture, or a removal: this also hides the capture that it takes back. REQUIRES: Fits; no live entry of the
  // payload if it is a capture.
  void Add(const FirstCapture& capture);

  // The oldest entry. REQUIRES: entries() > 0.
  struct Oldest {
    FirstCapture capture;  // its URL is valid until the next change
    bool live = false;     // false: it was taken back, or is a removal
    bool found = false;    // since it was added
  };
  Oldest oldest() const;
  void RemoveOldest();

  uint64_t entries() const { return entries_; }  // in the ring
  uint64_t live() const { return live_; }
  uint64_t memory() const { return ring_size_ + index_.size() * sizeof(uint64_t); }

  struct Entry {
    uint64_t key;
    uint64_t check;
    int64_t unix_ms;
    uint32_t size;  // of the whole entry, a multiple of 8
    uint16_t url_size;
    uint16_t depth;
    uint8_t type;
    uint8_t flags;
    uint16_t unused;
    uint32_t unused_too;

    std::string_view url() const { return {reinterpret_cast<const char*>(this + 1), url_size}; }
  };
  static_assert(sizeof(Entry) == 40);

 private:
  enum Flag : uint8_t { kLive = 1, kOurs = 2, kRemoval = 4, kFound = 8 };
  static constexpr uint64_t kFree = 0;

  Entry* At(uint64_t offset) { return reinterpret_cast<Entry*>(&ring_[offset / 8]); }
  const Entry* At(uint64_t offset) const { return reinterpret_cast<const Entry*>(&ring_[offset / 8]); }
  // An index slot: the upper half of the key, and where the entry is, in units of 8 bytes, plus 1.
  static uint64_t SlotOf(uint64_t key, uint64_t offset) { return (key >> 32) << 32 | (offset / 8 + 1); }
  static uint64_t OffsetOf(uint64_t slot) { return ((slot & 0xffffffff) - 1) * 8; }
  size_t Home(uint64_t key) const { return static_cast<size_t>(key) & (index_.size() - 1); }
  // The slot of the live entry of the payload, or index_.size().
  size_t FindSlot(const PayloadKey& payload) const;
  void EraseSlot(size_t slot);

  uint64_t ring_size_;           // bytes
  std::vector<uint64_t> ring_;   // grows up to ring_size_
  std::vector<uint64_t> index_;  // a power of two of slots
  uint64_t begin_ = 0;           // of the oldest entry
  uint64_t end_ = 0;             // of the newest
  uint64_t wrap_ = 0;            // where the entries before the ring's end stop, if end_ is before begin_
  bool wrapped_ = false;         // the newest entries are at the ring's begin, the oldest behind them
  uint64_t entries_ = 0;
  uint64_t live_ = 0;
};

}  // namespace portolan
