// UrlIndex: from a URL's hash to the chunks of its slot that may have it, in less than two bytes per URL.
//
// A slot (the table chooses it by the host) has few chunks, so that a chunk's number within the slot takes five to
// twelve bits. The first bits of the URL's hash choose one of the slot's shards, the next nine a bucket, some more
// stand in the entry, beside the chunk's number. Entries of a shard are sorted by bucket without gaps; a bit vector has
// a one per entry and a zero behind each bucket (Elias's quotienting, as in Cleary's tables). So no place is ever
// empty, and a shard grows by 1/16. An entry is 11 bits. When a shard is full all shards of the slot are split: the bit
// that now chooses the shard is no longer needed in the entry, and the chunk's number gets it, which needs one more bit
// just when the slot has doubled. So 15 bits of the hash are known at any size and no URL is read again.
//
// Look-ups return candidates: of the n URLs of a slot, n / 2^15 wrong ones on average (one in 13 look-ups at 10 million
// URLs in 4096 slots, two in the largest slot). Hashes are keyed (base/hash_key.h), so nobody outside can fill a shard.
//
// Thread: one owner; const members from any number of threads while nothing is added.
// Memory bound: 1.8 bytes per entry: 11 bits, one for it, 0.5 to 1 bits of buckets, growth of 1/16, 32 bytes per
// 300 to 1024 entries. A slot takes kSlotUrls entries, at least half of them.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace portolan::graph {

class UrlIndex {
 private:
  static constexpr unsigned kBucketBits = 9;
  static constexpr uint32_t kBuckets = 1U << kBucketBits;
  static constexpr unsigned kShardBits = 10;
  static constexpr uint32_t kMaxEntries = 1U << kShardBits;  // of a shard
  static constexpr unsigned kChunkBits = 5;                  // of a chunk's number while the slot has one shard
  static constexpr unsigned kEntryBits = 11;
  static constexpr unsigned kMaxDepth = kEntryBits - kChunkBits;

 public:
  // The nth URL of a slot must be in chunk n / kChunkUrls or before.
  static constexpr uint32_t kChunkUrls = kMaxEntries >> kChunkBits;

  explicit UrlIndex(uint32_t slots) : slots_(slots) {}

  // Whether an entry could be added: false if the slot is full, which it then stays.
  bool Add(uint32_t slot, uint64_t hash, uint32_t chunk);
  bool Full(uint32_t slot) const { return slots_[slot].full; }

  // Calls try_chunk(chunk) for each chunk that may have the URL, until it gives true.
  template <typename Try>
  bool Find(uint32_t slot, uint64_t hash, Try try_chunk) const {
    const Slot& in = slots_[slot];
    if (in.shards == nullptr) return false;
    const Shard& shard = in.shards[Bits(hash, 0, in.depth)];
    Prefetch(shard, Bits(hash, in.depth, kBucketBits));
    const Range range = BucketOf(shard, Bits(hash, in.depth, kBucketBits));
    const uint32_t rest = RestOf(hash, in.depth);
    const unsigned chunk_bits = kChunkBits + in.depth;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const uint32_t entry = Entry(shard, i);
      if (entry >> chunk_bits == rest && try_chunk(entry & ((1U << chunk_bits) - 1))) return true;
    }
    return false;
  }

  uint64_t memory() const { return memory_ + slots_.capacity() * sizeof(Slot); }

 private:
  // One allocation: the bit vector of capacity + kBuckets bits, then the entries, then a word that may be read.
  struct Shard {
    std::unique_ptr<uint64_t[]> words;
    uint16_t size = 0;
    uint16_t capacity = 0;
  };
  struct Slot {
    std::unique_ptr<Shard[]> shards;  // 2^depth; none: empty
    uint8_t depth = 0;
    bool full = false;
  };
  struct Range {
    uint32_t begin;
    uint32_t end;
  };

  // `count` bits of the hash behind the first `skip`.
  static uint32_t Bits(uint64_t hash, unsigned skip, unsigned count) {
    return count == 0 ? 0 : static_cast<uint32_t>(hash << skip >> (64 - count));
  }
  static uint32_t RestOf(uint64_t hash, unsigned depth) { return Bits(hash, depth + kBucketBits, kMaxDepth - depth); }
  static uint32_t VectorWords(uint32_t capacity) { return (capacity + kBuckets + 63) / 64; }
  static uint32_t Words(uint32_t capacity) { return VectorWords(capacity) + (capacity * kEntryBits + 63) / 64 + 1; }
  static uint32_t Entry(const Shard& shard, uint32_t index) {
    const size_t bit = size_t{index} * kEntryBits;
    const auto* const bytes = reinterpret_cast<const char*>(shard.words.get() + VectorWords(shard.capacity));
    return static_cast<uint32_t>(LoadLe<uint64_t>(bytes + bit / 8) >> (bit % 8)) & ((1U << kEntryBits) - 1);
  }
  // The bit vector's lines as far as the bucket's, and where its entries are likely to be.
  static void Prefetch(const Shard& shard, uint32_t bucket) {
    const uint64_t* const words = shard.words.get();
    const uint64_t entries = uint64_t{shard.size} * bucket / kBuckets;
    for (size_t word = 0; word < (entries + bucket) / 64 + 1; word += 8) __builtin_prefetch(words + word);
    __builtin_prefetch(words + VectorWords(shard.capacity) + entries * kEntryBits / 64);
  }
  static Range BucketOf(const Shard& shard, uint32_t bucket);
  static void InsertBits(uint64_t* words, size_t size, size_t at, unsigned count, uint64_t value);
  void Insert(Shard& shard, uint32_t bucket, uint32_t entry);
  void Resize(Shard& shard, uint32_t capacity);
  bool Split(Slot& slot);

  std::vector<Slot> slots_;
  uint64_t memory_ = 0;
};

}  // namespace portolan::graph
