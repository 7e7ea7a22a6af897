// UrlIndex: from a URL's hash to the chunks that may have it, in three bytes and a fraction per URL.
//
// The first bits of the hash choose a shard (extendible hashing: Fagin et al. 1979), the next nine a bucket of the
// shard, some more stand in the entry, beside the chunk's number. Entries of a shard are sorted by bucket without gaps;
// a bit vector has a one per entry and a zero behind each bucket (Elias's quotienting, as in Cleary's tables). So no
// slot is ever empty, and a shard grows by 1/16. An entry is 24 bits. When a shard splits, the bit that now chooses the
// shard is no longer needed in the entry, and the chunk's number gets it: chunk numbers need one more bit just
// when the table has doubled. So 26 bits of the hash are known at any size and no URL is read again.
//
// Look-ups return candidates: of n URLs, n / 2^26 wrong ones on average (one in seven look-ups at 10 million).
// Hashes are keyed (base/hash_key.h), so nobody outside can fill one shard.
//
// Thread: one owner; const members from any number of threads while nothing is added.
// Memory bound: 3.4 bytes per entry: 3, a bit for it, 0.6 to 1 bits of buckets, growth of 1/16, 40 bytes per 700
// entries. At most 2^24 chunks.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace portolan::graph {

class UrlIndex {
 public:
  UrlIndex();

  // Whether an entry could be added: false if the chunk's number, or the hashes, are more than it can tell apart.
  bool Add(uint64_t hash, uint32_t chunk);

  // Calls try_chunk(chunk) for each chunk that may have the URL, until it gives true.
  template <typename Try>
  bool Find(uint64_t hash, Try try_chunk) const {
    const Shard& shard = shards_[ShardOf(hash)];
    const Range range = BucketOf(shard, Bits(hash, shard.depth, kBucketBits));
    const uint32_t rest = RestOf(hash, shard.depth);
    const unsigned chunk_bits = kChunkBits + shard.depth;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const uint32_t entry = Entry(shard, i);
      if (entry >> chunk_bits == rest && try_chunk(entry & ((1U << chunk_bits) - 1))) return true;
    }
    return false;
  }

  uint64_t memory() const {
    return memory_ + directory_.capacity() * sizeof(uint32_t) + shards_.capacity() * sizeof(Shard);
  }

 private:
  static constexpr unsigned kBucketBits = 9;
  static constexpr uint32_t kBuckets = 1U << kBucketBits;
  static constexpr uint32_t kMaxEntries = 1024;  // of a shard
  static constexpr uint32_t kBitWords = (kMaxEntries + kBuckets) / 64;
  static constexpr unsigned kEntryBits = 24;
  static constexpr unsigned kChunkBits = 7;  // of a chunk's number while there is one shard
  static constexpr unsigned kMaxDepth = kEntryBits - kChunkBits;

  // One allocation: kBitWords words of the bit vector, then the entries.
  struct Shard {
    std::unique_ptr<uint8_t[]> bytes;
    uint16_t size = 0;
    uint16_t capacity = 0;
    uint8_t depth = 0;  // bits of the hash that all of its entries share
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
  uint32_t ShardOf(uint64_t hash) const { return directory_[Bits(hash, 0, depth_)]; }
  static uint32_t Entry(const Shard& shard, uint32_t index);
  static Range BucketOf(const Shard& shard, uint32_t bucket);
  void Insert(Shard& shard, uint32_t bucket, uint32_t entry);
  void Grow(Shard& shard);
  bool Split(uint64_t hash);
  Shard Make(unsigned depth, uint32_t capacity);

  unsigned depth_ = 0;
  std::vector<uint32_t> directory_;  // by the first depth_ bits of the hash: the shard
  std::vector<Shard> shards_;
  uint64_t memory_ = 0;
};

}  // namespace portolan::graph
