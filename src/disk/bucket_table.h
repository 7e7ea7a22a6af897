// BucketTable: rows of one size, scattered over k buckets, in RAM, from a shared pool of chunks.
//
// A bucket is a chain of chunks; each row goes to the end of its bucket's last chunk. Chunks come from a ChunkPool that
// two tables share (the batch that is filled and the batch that is merged), so that no memory is reserved for the worst
// case of either. Rows do not move until Clear: a merge reads them while there is no writer.
//
// Thread: one writer; readers only when the writer has stopped. Memory bound: the pool's.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace portolan {

class ChunkPool {
 public:
  ChunkPool(size_t chunk_bytes, size_t chunks) : chunk_bytes_(chunk_bytes), left_(chunks) {}

  // Null at the bound.
  char* Take();
  void Give(char* chunk) { free_.push_back(chunk); }
  size_t chunk_bytes() const { return chunk_bytes_; }

 private:
  static constexpr size_t kSlabBytes = size_t{1} << 20;

  const size_t chunk_bytes_;
  size_t left_;                                 // chunks that may still be made
  std::vector<std::unique_ptr<char[]>> slabs_;  // made on demand, kept
  std::vector<char*> free_;
};

class BucketTable {
 public:
  // REQUIRES: row_size <= pool.chunk_bytes(); the pool outlives this.
  BucketTable(ChunkPool& pool, unsigned bucket_bits, size_t row_size);
  ~BucketTable() { Clear(); }
  BucketTable(const BucketTable&) = delete;
  BucketTable& operator=(const BucketTable&) = delete;

  // Room for one row at the end of the bucket, or null when the pool is at its bound.
  char* Append(uint32_t bucket) {
    Bucket& b = buckets_[bucket];
    if (b.at == b.end && !Grow(b)) return nullptr;
    char* row = b.at;
    b.at += row_size_;
    ++rows_;
    return row;
  }

  uint64_t rows() const { return rows_; }
  uint64_t rows(uint32_t bucket) const;
  // An upper bound of the rows in any bucket; at most one chunk too high.
  uint64_t largest() const { return largest_; }
  size_t buckets() const { return buckets_.size(); }
  size_t row_size() const { return row_size_; }

  // The rows of a bucket in order, as pieces of whole rows.
  template <typename Piece>
  void ForEachPiece(uint32_t bucket, Piece piece) const {
    const Bucket& b = buckets_[bucket];
    for (size_t i = 0; i < b.chunks.size(); ++i) {
      const char* begin = b.chunks[i];
      const char* end = i + 1 == b.chunks.size() ? b.at : begin + rows_per_chunk_ * row_size_;
      piece(std::string_view(begin, static_cast<size_t>(end - begin)));
    }
  }

  void Clear();

 private:
  struct Bucket {
    char* at = nullptr;
    char* end = nullptr;
    std::vector<char*> chunks;
  };
  bool Grow(Bucket& bucket);

  ChunkPool* pool_;
  size_t row_size_;
  size_t rows_per_chunk_;
  uint64_t rows_ = 0;
  uint64_t largest_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace portolan
