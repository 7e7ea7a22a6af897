#include "content/capture_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace portolan {
namespace {

constexpr uint64_t kMostRing = uint64_t{32} << 30;  // what 32 bits of 8-byte units reach

uint64_t SizeFor(size_t url_size) { return (sizeof(CaptureTable::Entry) + url_size + 7) / 8 * 8; }

}  // namespace

// An eighth or less is for the index; at 115 bytes per entry three quarters of it are used.
CaptureTable::CaptureTable(uint64_t memory) {
  CHECK(memory >= kMinMemory);
  const uint64_t slots = std::bit_floor(memory / 8 / sizeof(uint64_t));
  index_.resize(slots, kFree);
  ring_size_ = std::min(kMostRing, memory - slots * sizeof(uint64_t)) / 8 * 8;
  ring_.reserve(ring_size_ / 8);  // touched only as it is used
}

size_t CaptureTable::FindSlot(const PayloadKey& payload) const {
  const size_t mask = index_.size() - 1;
  for (size_t at = Home(payload.key); index_[at] != kFree; at = (at + 1) & mask) {
    if (index_[at] >> 32 != payload.key >> 32) continue;
    const Entry* const entry = At(OffsetOf(index_[at]));
    if (entry->key == payload.key && entry->check == payload.check) return at;
  }
  return index_.size();
}

const CaptureTable::Entry* CaptureTable::Find(const PayloadKey& payload) {
  const size_t slot = FindSlot(payload);
  if (slot == index_.size()) return nullptr;
  Entry* const entry = At(OffsetOf(index_[slot]));
  entry->flags |= kFound;
  return entry;
}

// Closes the gap, so that no search ends too early.
void CaptureTable::EraseSlot(size_t slot) {
  const size_t mask = index_.size() - 1;
  size_t gap = slot;
  for (size_t at = (slot + 1) & mask; index_[at] != kFree; at = (at + 1) & mask) {
    const size_t home = Home(At(OffsetOf(index_[at]))->key);
    // It may move to the gap if its home is not between the gap and it.
    if (((at - home) & mask) >= ((at - gap) & mask)) {
      index_[gap] = index_[at];
      gap = at;
    }
  }
  index_[gap] = kFree;
}

bool CaptureTable::Fits(size_t url_size) const {
  const uint64_t size = SizeFor(url_size);
  if ((live_ + 1) * 8 > index_.size() * 7) return false;
  if (entries_ == 0) return size <= ring_size_;
  if (wrapped_) return size <= begin_ - end_;
  return size <= ring_size_ - end_ || size <= begin_;
}

void CaptureTable::Add(const FirstCapture& capture) {
  CHECK(Fits(capture.url.size()) && capture.url.size() <= kMaxFirstUrl);
  const uint64_t size = SizeFor(capture.url.size());
  if (entries_ == 0) {
    begin_ = end_ = 0;
    wrapped_ = false;
  }
  if (!wrapped_ && size > ring_size_ - end_) {
    wrap_ = end_;
    end_ = 0;
    wrapped_ = true;
  }
  const uint64_t offset = end_;
  if (ring_.size() * 8 < offset + size) ring_.resize((offset + size) / 8);
  if (capture.removal) {
    const size_t slot = FindSlot(capture.payload);
    if (slot < index_.size()) {
      Entry* const gone = At(OffsetOf(index_[slot]));
      if (gone->url() == capture.url) {
        gone->flags &= static_cast<uint8_t>(~kLive);
        EraseSlot(slot);
        --live_;
      }
    }
  }
  Entry* const entry = At(offset);
  *entry = {.key = capture.payload.key,
            .check = capture.payload.check,
            .unix_ms = capture.unix_ms,
            .size = static_cast<uint32_t>(size),
            .url_size = static_cast<uint16_t>(capture.url.size()),
            .depth = capture.depth,
            .type = capture.type,
            .flags = static_cast<uint8_t>((capture.ours ? kOurs : 0) | (capture.removal ? kRemoval : kLive)),
            .unused = 0,
            .unused_too = 0};
  std::memcpy(static_cast<void*>(entry + 1), capture.url.data(), capture.url.size());
  end_ = offset + size;
  ++entries_;
  if (capture.removal) return;
  const size_t mask = index_.size() - 1;
  size_t at = Home(capture.payload.key);
  while (index_[at] != kFree) at = (at + 1) & mask;
  index_[at] = SlotOf(capture.payload.key, offset);
  ++live_;
}

CaptureTable::Oldest CaptureTable::oldest() const {
  CHECK(entries_ > 0);
  const Entry* const entry = At(begin_);
  return {.capture = {.payload = {entry->key, entry->check},
                      .url = entry->url(),
                      .unix_ms = entry->unix_ms,
                      .depth = entry->depth,
                      .type = entry->type,
                      .ours = (entry->flags & kOurs) != 0,
                      .removal = (entry->flags & kRemoval) != 0},
          .live = (entry->flags & kLive) != 0,
          .found = (entry->flags & kFound) != 0};
}

void CaptureTable::RemoveOldest() {
  CHECK(entries_ > 0);
  const Entry* const entry = At(begin_);
  if ((entry->flags & kLive) != 0) {
    EraseSlot(FindSlot({entry->key, entry->check}));
    --live_;
  }
  begin_ += entry->size;
  --entries_;
  if (wrapped_ && begin_ == wrap_) {
    begin_ = 0;
    wrapped_ = false;
  }
}

}  // namespace portolan
