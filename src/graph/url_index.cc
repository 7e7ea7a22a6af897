#include "graph/url_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace portolan::graph {
namespace {

constexpr uint32_t kFirstCapacity = 16;
constexpr uint32_t kBlockHeader = 16;  // what an allocator keeps per block, at most

// The place of the nth one of a word that has more than n.
uint32_t SelectInWord(uint64_t word, uint32_t n) {
  for (; n > 0; --n) word &= word - 1;
  return static_cast<uint32_t>(std::countr_zero(word));
}

}  // namespace

void UrlIndex::Resize(Shard& shard, uint32_t capacity) {
  auto words = std::make_unique<uint64_t[]>(Words(capacity));
  if (shard.words != nullptr) {
    const uint64_t* const from = shard.words.get();
    std::copy_n(from, VectorWords(shard.capacity), words.get());
    const size_t used = (size_t{shard.size} * kEntryBits + 63) / 64;
    std::copy_n(from + VectorWords(shard.capacity), used, words.get() + VectorWords(capacity));
    memory_ -= Words(shard.capacity) * sizeof(uint64_t) + kBlockHeader;
  }
  memory_ += Words(capacity) * sizeof(uint64_t) + kBlockHeader;
  shard.words = std::move(words);
  shard.capacity = static_cast<uint16_t>(capacity);
}

// Entries before the nth zero are those of the buckets before: the zero's place less n.
UrlIndex::Range UrlIndex::BucketOf(const Shard& shard, uint32_t bucket) {
  const uint64_t* const words = shard.words.get();
  // The zero behind the bucket before this one, then count ones.
  uint32_t word = 0;
  uint32_t begin = 0;
  if (bucket > 0) {
    uint32_t zeros = 0;
    for (;; ++word) {
      const auto here = static_cast<uint32_t>(std::popcount(~words[word]));
      if (zeros + here >= bucket) break;
      zeros += here;
    }
    begin = word * 64 + SelectInWord(~words[word], bucket - 1 - zeros) + 1;
  }
  const uint32_t last_word = VectorWords(shard.capacity);
  word = begin / 64;
  uint32_t at = begin % 64;
  uint32_t ones = 0;
  while (word < last_word) {
    const auto run = static_cast<uint32_t>(std::countr_one(words[word] >> at));
    ones += std::min(run, 64 - at);
    if (run < 64 - at) break;
    at = 0;
    ++word;
  }
  return {begin - bucket, begin - bucket + ones};
}

// `count` bits at `at` of `size`; those from there on move up.
void UrlIndex::InsertBits(uint64_t* words, size_t size, size_t at, unsigned count, uint64_t value) {
  const size_t first = at / 64;
  for (size_t word = (size + count - 1) / 64; word > first; --word) {
    words[word] = words[word] << count | words[word - 1] >> (64 - count);
  }
  const unsigned offset = at % 64;
  const uint64_t below = (uint64_t{1} << offset) - 1;
  // What lay above `offset` in the first word was taken into the next one already; what was below must not be.
  const uint64_t old = words[first];
  words[first] = (old & below) | (old & ~below) << count | value << offset;
  if (offset + count > 64) {
    const unsigned over = offset + count - 64;
    words[first + 1] = (words[first + 1] & ~((uint64_t{1} << over) - 1)) | value >> (count - over);
  }
}

// Behind the bucket's last entry.
void UrlIndex::Insert(Shard& shard, uint32_t bucket, uint32_t entry) {
  if (shard.size == shard.capacity) {
    Resize(shard, std::min(kMaxEntries, shard.capacity + std::max<uint32_t>(kFirstCapacity, shard.capacity / 16)));
  }
  const uint32_t index = BucketOf(shard, bucket).end;
  // A one before the zero of this bucket.
  InsertBits(shard.words.get(), size_t{shard.size} + kBuckets, size_t{index} + bucket, 1, 1);
  InsertBits(shard.words.get() + VectorWords(shard.capacity), size_t{shard.size} * kEntryBits,
             size_t{index} * kEntryBits, kEntryBits, entry);
  ++shard.size;
}

bool UrlIndex::Split(Slot& slot) {
  const unsigned depth = slot.depth;
  if (depth == kMaxDepth) return false;
  const size_t shards = size_t{1} << depth;
  auto halves = std::make_unique<Shard[]>(2 * shards);
  memory_ += shards * sizeof(Shard);
  const unsigned chunk_bits = kChunkBits + depth;
  const unsigned rest_bits = kEntryBits - chunk_bits;
  for (size_t i = 0; i < shards; ++i) {
    const Shard old = std::exchange(slot.shards[i], Shard{});
    for (size_t half = 0; half < 2; ++half) {
      Resize(halves[2 * i + half], std::min<uint32_t>(kMaxEntries, old.size / 2 + kFirstCapacity));
    }
    for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      const Range range = BucketOf(old, bucket);
      for (uint32_t at = range.begin; at < range.end; ++at) {
        // Bucket and rest are one number; its first bit goes, and the chunk's number gets a zero before it.
        const uint32_t entry = Entry(old, at);
        const uint32_t chunk = entry & ((1U << chunk_bits) - 1);
        const uint32_t known = bucket << rest_bits | entry >> chunk_bits;
        const uint32_t kept = known & ((1U << (kBucketBits + rest_bits - 1)) - 1);
        const uint32_t rest = kept & ((1U << (rest_bits - 1)) - 1);
        Insert(halves[2 * i + (known >> (kBucketBits + rest_bits - 1))], kept >> (rest_bits - 1),
               rest << (chunk_bits + 1) | chunk);
      }
    }
    memory_ -= Words(old.capacity) * sizeof(uint64_t) + kBlockHeader;
  }
  slot.shards = std::move(halves);
  ++slot.depth;
  return true;
}

bool UrlIndex::Add(uint32_t slot, uint64_t hash, uint32_t chunk) {
  Slot& in = slots_[slot];
  if (in.full) return false;
  if (in.shards == nullptr) {
    in.shards = std::make_unique<Shard[]>(1);
    memory_ += sizeof(Shard) + kBlockHeader;
    Resize(in.shards[0], kFirstCapacity);
  }
  while (in.shards[Bits(hash, 0, in.depth)].size == kMaxEntries || chunk >> (kChunkBits + in.depth) != 0) {
    if (!Split(in)) {
      in.full = true;
      return false;
    }
  }
  Insert(in.shards[Bits(hash, 0, in.depth)], Bits(hash, in.depth, kBucketBits),
         RestOf(hash, in.depth) << (kChunkBits + in.depth) | chunk);
  return true;
}

}  // namespace portolan::graph
