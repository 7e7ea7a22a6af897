// Records (byte strings that resemble their neighbours) packed into the payload of a block.
//
// Each record is stored as how many bytes it shares with the record before it, and the rest: front coding. On the link
// stream of a crawl, in arrival order, that makes the block compressor both faster and better, because half of the
// bytes never reach it: 2.84 × at 100 ns a URL instead of 2.54 × at 119 (lz4, 64 KiB blocks of real links).
//
// Payload, plain: tags (count × tag_width bytes), then a pair of varints (shared, rest length) for each record.
// Payload, compressible: the rests, one after the other. The first record of a block shares nothing.
//
// A tag is a number of tag_width bytes (0, 1 or 2) that travels with its record and does not compress: DRUM's bucket.
//
// Thread: one owner. Memory bound: the builder holds what was added; Add says when it is over the block size.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "disk/block_file.h"

namespace portolan {

class RecordBlockBuilder {
 public:
  explicit RecordBlockBuilder(size_t tag_width = 0) : tag_width_(tag_width) {}

  void Add(std::string_view record, uint32_t tag = 0);
  uint32_t records() const { return records_; }
  bool empty() const { return records_ == 0; }
  // Bytes that the payload would have now.
  size_t size() const { return tags_.size() + lengths_.size() + rests_.size(); }

  // The payload's parts; views into this, valid until the next Add, Finish or Clear.
  BlockParts Finish(uint8_t kind);
  void Clear();

 private:
  size_t tag_width_;
  uint32_t records_ = 0;
  std::string tags_;
  std::string lengths_;
  std::string rests_;
  std::string last_;  // the record before, in the first last_size_ bytes
  size_t last_size_ = 0;
  std::string plain_;
};

// Walks the records of a decoded block. A payload that breaks its promises ends the walk with ok() false.
class RecordBlockReader {
 public:
  RecordBlockReader() = default;
  // REQUIRES: block.payload stays valid.
  RecordBlockReader(const Block& block, size_t tag_width);

  // False at the end, or when the payload is broken.
  bool Next() {
    if (left_ == 0) return false;
    return Step();
  }
  std::string_view record() const { return {text_.data(), size_}; }
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
  std::string text_;  // holds the current record; the next one overwrites it from its shared length on
  size_t size_ = 0;
};

}  // namespace portolan
