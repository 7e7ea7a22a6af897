#include "graph/url_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace portolan::graph {
namespace {

constexpr uint32_t kEntryBytes = 3;
constexpr uint32_t kBlockHeader = 16;  // what an allocator keeps per block, at most

// The place of the nth one of a word that has more than n.
uint32_t SelectInWord(uint64_t word, uint32_t n) {
  for (; n > 0; --n) word &= word - 1;
  return static_cast<uint32_t>(std::countr_zero(word));
}

}  // namespace

UrlIndex::UrlIndex() : directory_(1) { shards_.push_back(Make(0, 32)); }

// A new shard: all buckets are empty, so the bit vector is zeros, of which the first kBuckets count.
UrlIndex::Shard UrlIndex::Make(unsigned depth, uint32_t capacity) {
  Shard shard;
  const size_t size = kBitWords * sizeof(uint64_t) + size_t{capacity} * kEntryBytes + 1;  // Entry reads four bytes
  shard.bytes = std::make_unique<uint8_t[]>(size);
  shard.capacity = static_cast<uint16_t>(capacity);
  shard.depth = static_cast<uint8_t>(depth);
  memory_ += size + kBlockHeader;
  return shard;
}

uint32_t UrlIndex::Entry(const Shard& shard, uint32_t index) {
  return LoadLe<uint32_t>(shard.bytes.get() + kBitWords * sizeof(uint64_t) + size_t{index} * kEntryBytes) & 0xffffff;
}

// Entries before the nth zero are those of the buckets before: the zero's place less n.
UrlIndex::Range UrlIndex::BucketOf(const Shard& shard, uint32_t bucket) {
  // The zero behind the bucket before this one, then count ones.
  uint32_t word = 0;
  uint32_t begin = 0;
  const auto load = [&shard](uint32_t at) { return LoadLe<uint64_t>(shard.bytes.get() + at * sizeof(uint64_t)); };
  if (bucket > 0) {
    uint32_t zeros = 0;
    for (;; ++word) {
      const auto here = static_cast<uint32_t>(std::popcount(~load(word)));
      if (zeros + here >= bucket) break;
      zeros += here;
    }
    begin = word * 64 + SelectInWord(~load(word), bucket - 1 - zeros) + 1;
  }
  word = begin / 64;
  uint32_t at = begin % 64;
  uint32_t ones = 0;
  while (word < kBitWords) {
    const auto run = static_cast<uint32_t>(std::countr_one(load(word) >> at));
    ones += std::min(run, 64 - at);
    if (run < 64 - at) break;
    at = 0;
    ++word;
  }
  return {begin - bucket, begin - bucket + ones};
}

void UrlIndex::Grow(Shard& shard) {
  const uint32_t capacity = std::min(kMaxEntries, shard.capacity + std::max<uint32_t>(16, shard.capacity / 16));
  Shard grown = Make(shard.depth, capacity);
  const size_t used = kBitWords * sizeof(uint64_t) + size_t{shard.size} * kEntryBytes;
  std::memcpy(grown.bytes.get(), shard.bytes.get(), used);
  grown.size = shard.size;
  memory_ -= kBitWords * sizeof(uint64_t) + size_t{shard.capacity} * kEntryBytes + 1 + kBlockHeader;
  shard = std::move(grown);
}

// Behind the bucket's last entry.
void UrlIndex::Insert(Shard& shard, uint32_t bucket, uint32_t entry) {
  if (shard.size == shard.capacity) Grow(shard);
  const uint32_t index = BucketOf(shard, bucket).end;
  uint8_t* const bits = shard.bytes.get();
  // A one before the zero of this bucket: the bits from there on move up by one.
  const uint32_t place = index + bucket;
  uint64_t carry = 1;
  for (uint32_t word = place / 64; word < kBitWords; ++word) {
    const auto old = LoadLe<uint64_t>(bits + word * sizeof(uint64_t));
    const uint32_t at = word == place / 64 ? place % 64 : 0;
    const uint64_t below = (uint64_t{1} << at) - 1;
    StoreLe<uint64_t>(bits + word * sizeof(uint64_t), (old & below) | (carry << at) | ((old & ~below) << 1));
    carry = old >> 63;
  }
  uint8_t* const to = bits + kBitWords * sizeof(uint64_t) + size_t{index} * kEntryBytes;
  std::memmove(to + kEntryBytes, to, size_t{shard.size - index} * kEntryBytes);
  std::memcpy(to, &entry, kEntryBytes);
  ++shard.size;
}

bool UrlIndex::Split(uint64_t hash) {
  const uint32_t id = ShardOf(hash);
  const unsigned depth = shards_[id].depth;
  if (depth == kMaxDepth) return false;
  if (depth == depth_) {
    std::vector<uint32_t> doubled(directory_.size() * 2);
    for (size_t i = 0; i < doubled.size(); ++i) doubled[i] = directory_[i / 2];
    directory_ = std::move(doubled);
    ++depth_;
  }
  const Shard old = std::exchange(shards_[id], Shard{});
  memory_ -= kBitWords * sizeof(uint64_t) + size_t{old.capacity} * kEntryBytes + 1 + kBlockHeader;
  Shard halves[2] = {Make(depth + 1, old.size / 2 + 32), Make(depth + 1, old.size / 2 + 32)};
  const unsigned chunk_bits = kChunkBits + depth;
  const unsigned rest_bits = kEntryBits - chunk_bits;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const Range range = BucketOf(old, bucket);
    for (uint32_t i = range.begin; i < range.end; ++i) {
      // Bucket and rest are one number; its first bit goes, and the chunk's number gets a zero before it.
      const uint32_t entry = Entry(old, i);
      const uint32_t chunk = entry & ((1U << chunk_bits) - 1);
      const uint32_t known = bucket << rest_bits | entry >> chunk_bits;
      const uint32_t kept = known & ((1U << (kBucketBits + rest_bits - 1)) - 1);
      const uint32_t new_bucket = kept >> (rest_bits - 1);
      const uint32_t rest = kept & ((1U << (rest_bits - 1)) - 1);
      Insert(halves[known >> (kBucketBits + rest_bits - 1)], new_bucket, rest << (chunk_bits + 1) | chunk);
    }
  }
  shards_[id] = std::move(halves[0]);
  if (shards_.size() == shards_.capacity()) shards_.reserve(shards_.size() + shards_.size() / 8 + 8);
  shards_.push_back(std::move(halves[1]));
  // The directory's slots of the second half of the old shard's range.
  const size_t slots = size_t{1} << (depth_ - depth);
  const size_t first = size_t{Bits(hash, 0, depth)} << (depth_ - depth);
  for (size_t i = slots / 2; i < slots; ++i) directory_[first + i] = static_cast<uint32_t>(shards_.size() - 1);
  return true;
}

bool UrlIndex::Add(uint64_t hash, uint32_t chunk) {
  while (true) {
    const Shard& shard = shards_[ShardOf(hash)];
    const bool room = shard.size < kMaxEntries && chunk >> (kChunkBits + shard.depth) == 0;
    if (room) break;
    if (!Split(hash)) return false;
  }
  Shard& shard = shards_[ShardOf(hash)];
  const uint32_t entry = RestOf(hash, shard.depth) << (kChunkBits + shard.depth) | chunk;
  Insert(shard, Bits(hash, shard.depth, kBucketBits), entry);
  return true;
}

}  // namespace portolan::graph
