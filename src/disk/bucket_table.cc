#include "disk/bucket_table.h"

#include <algorithm>

#include "base/check.h"

namespace portolan {

char* ChunkPool::Take() {
  if (free_.empty()) {
    if (left_ == 0) return nullptr;
    const size_t made = std::min(left_, std::max<size_t>(1, kSlabBytes / chunk_bytes_));
    slabs_.push_back(std::make_unique_for_overwrite<char[]>(made * chunk_bytes_));
    for (size_t i = made; i > 0; --i) free_.push_back(slabs_.back().get() + (i - 1) * chunk_bytes_);
    left_ -= made;
  }
  char* chunk = free_.back();
  free_.pop_back();
  return chunk;
}

BucketTable::BucketTable(ChunkPool& pool, unsigned bucket_bits, size_t row_size)
    : pool_(&pool),
      row_size_(row_size),
      rows_per_chunk_(pool.chunk_bytes() / row_size),
      buckets_(size_t{1} << bucket_bits) {
  CHECK(rows_per_chunk_ > 0, "rows of {} bytes in chunks of {}", row_size, pool.chunk_bytes());
}

bool BucketTable::Grow(Bucket& bucket) {
  char* chunk = pool_->Take();
  if (chunk == nullptr) return false;
  bucket.chunks.push_back(chunk);
  bucket.at = chunk;
  bucket.end = chunk + rows_per_chunk_ * row_size_;
  largest_ = std::max<uint64_t>(largest_, bucket.chunks.size() * rows_per_chunk_);
  return true;
}

uint64_t BucketTable::rows(uint32_t bucket) const {
  const Bucket& b = buckets_[bucket];
  if (b.chunks.empty()) return 0;
  return (b.chunks.size() - 1) * rows_per_chunk_ + static_cast<size_t>(b.at - b.chunks.back()) / row_size_;
}

void BucketTable::Clear() {
  for (Bucket& bucket : buckets_) {
    for (char* chunk : bucket.chunks) pool_->Give(chunk);
    bucket = Bucket();
  }
  rows_ = 0;
  largest_ = 0;
}

}  // namespace portolan
