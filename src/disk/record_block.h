// Records (byte strings that resemble their neighbours) packed into the payload of a block.
//
// Each record is stored as how many bytes it shares with a record before it in the block, and the rest: front coding.
// The reference is the record just before, or, where that shares more, the last one that began with the same bytes (the
// links of a page alternate between its own host and others). So less than half of the bytes reach the block
// compressor, which makes it faster and the result smaller.
//
// Payload, plain: tags (count × tag_width bytes), then for each record varints: shared × 2, plus 1 if the reference is
// not the record just before; in that case how many records back it is; the length of the rest. Payload, compressible:
// the rests, one after the other.
//
// A tag is a number of tag_width bytes (0, 1 or 2) that travels with its record and does not compress: DRUM's bucket.
//
// Thread: one owner. Memory bound: the reader holds the records of one block in full, usually two or three times
// size(), at most eight; the builder their first kRemembered bytes and the payload. The owner closes the block when
// size() is what it wants.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "disk/block_file.h"

namespace portolan {

// A byte buffer that only grows, without the zeroing and the calls that std::string costs for each short piece.
class GrowingBytes {
 public:
  // Room for `count` more bytes at the end; Use says how many of them were filled.
  char* Room(size_t count) {
    if (capacity_ - size_ < count) Grow(count);
    return bytes_.get() + size_;
  }
  void Use(size_t count) { size_ += count; }
  void Append(const char* from, size_t count);
  void Push(uint8_t byte) {
    *Room(1) = static_cast<char>(byte);
    ++size_;
  }
  void Clear() { size_ = 0; }
  size_t size() const { return size_; }
  const char* data() const { return bytes_.get(); }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  void Grow(size_t count);

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class RecordBlockBuilder {
 public:
  explicit RecordBlockBuilder(size_t tag_width = 0) : tag_width_(tag_width) {}

  void Add(std::string_view record, uint32_t tag = 0);
  uint32_t records() const { return static_cast<uint32_t>(ends_.size()); }
  bool empty() const { return ends_.empty(); }
  // The size that the payload would have now. It is larger when the decoded records are very much longer, so that a
  // block that is closed by its size is also bounded in memory, here and in its reader.
  size_t size() const {
    return std::max(tags_.size() + lengths_.size() + rests_.size(), static_cast<size_t>(in_full_ / kMaxExpansion));
  }

  // The payload's parts; views into this, valid until the next Add, Finish or Clear.
  BlockParts Finish(uint8_t kind);
  void Clear();

 private:
  static constexpr size_t kStarts = 256;      // beginnings that are remembered
  static constexpr size_t kMaxExpansion = 8;  // records in full over payload
  // Of each record, for those behind it: URLs are shorter, and no two pages begin with the same text.
  static constexpr size_t kRemembered = 4096;

  // The beginning that is remembered.
  std::string_view Text(uint32_t record) const {
    const uint32_t begin = record == 0 ? 0 : ends_[record - 1];
    return {texts_.data() + begin, ends_[record] - begin};
  }

  size_t tag_width_;
  GrowingBytes tags_;
  GrowingBytes lengths_;
  GrowingBytes rests_;
  GrowingBytes texts_;            // what is remembered of the records
  uint64_t in_full_ = 0;          // bytes of the records
  std::vector<uint32_t> ends_;    // of each in texts_
  std::vector<uint32_t> starts_;  // by hash of a beginning: the last record that had it, plus 1
  std::string plain_;
};

// Reads the records of a decoded block. A malformed payload ends the reading with ok() false.
class RecordBlockReader {
 public:
  RecordBlockReader() = default;
  // Begins a block; memory is reused. REQUIRES: block.payload stays valid.
  void Start(const Block& block, size_t tag_width);

  // False at the end, or when the payload is malformed.
  bool Next() {
    if (left_ == 0) return false;
    return Step();
  }
  // Valid until the next block, while this object lives.
  std::string_view record() const { return texts_.view().substr(begin_); }
  uint32_t tag() const { return tag_; }
  uint32_t left() const { return left_; }
  bool ok() const { return ok_; }

 private:
  bool Step();
  bool Broken() {
    ok_ = false;
    left_ = 0;
    return false;
  }

  const uint8_t* tags_ = nullptr;
  const uint8_t* lengths_ = nullptr;
  const uint8_t* lengths_end_ = nullptr;
  const char* rests_ = nullptr;
  const char* rests_end_ = nullptr;
  size_t tag_width_ = 0;
  uint32_t left_ = 0;
  uint32_t tag_ = 0;
  bool ok_ = true;
  GrowingBytes texts_;          // the records so far
  std::vector<uint32_t> ends_;  // of each in texts_
  size_t begin_ = 0;            // of the current record in texts_
};

}  // namespace portolan
