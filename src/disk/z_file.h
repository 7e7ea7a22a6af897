// Z: DRUM's repository on disk, every key ever stored, sorted, with its value.
//
// A file of blocks (block_format.h): key blocks hold up to kKeysPerBlock keys, gap-coded (gap_code.h), and then their
// values, fixed-size, in the same order; one end block with the number of keys closes the file, so that a file
// truncated between two blocks is recognised. A round of DRUM reads the old Z from front to back and writes the new one
// beside it.
//
// Thread: one owner each. Memory bound: one block decoded and one being made: about 2 × kKeysPerBlock × (8 + value
// size) bytes, and the reader's read-ahead.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "io/env.h"

namespace portolan {

inline constexpr size_t kKeysPerBlock = 4096;
// On disk: kinds of blocks in a Z file.
inline constexpr uint8_t kZKeysBlock = 1;
inline constexpr uint8_t kZEndBlock = 2;

class ZWriter {
 public:
  static Result<ZWriter> Create(Env& env, const std::string& path, size_t value_size);

  // REQUIRES: key larger than the one before; value of the size given; not full().
  void Push(uint64_t key, std::string_view value) {
    keys_.push_back(key);
    values_.append(value);
  }
  // For sets, where values are empty.
  void Push(uint64_t key) { keys_.push_back(key); }
  bool full() const { return keys_.size() == kKeysPerBlock; }
  // Due when full.
  Status WriteBlock();
  // Writes the end block and, if asked, syncs.
  Status Finish(bool sync);

  uint64_t keys() const { return written_ + keys_.size(); }
  uint64_t length() const { return file_.length(); }

 private:
  ZWriter(BlockFileWriter file, size_t value_size);

  BlockFileWriter file_;
  size_t value_size_;
  uint64_t written_ = 0;
  std::vector<uint64_t> keys_;
  std::string values_;
  std::string payload_;
};

class ZReader {
 public:
  // An empty path is an empty Z. The first key is ready when Open returns.
  static Result<ZReader> Open(Env& env, const std::string& path, uint64_t length, size_t value_size, size_t read_ahead);

  // No key is left. REQUIRES, as for key() and value(): not empty_block().
  bool done() const { return count_ == 0; }
  uint64_t key() const { return keys_[at_]; }
  std::string_view value() const { return values_.substr(at_ * value_size_, value_size_); }
  // Skips the key; then, if empty_block(), NextBlock() must be called.
  void Pop() { ++at_; }
  bool empty_block() const { return at_ == count_ && count_ > 0; }
  Status NextBlock();
  uint64_t keys_read() const { return keys_read_; }

 private:
  explicit ZReader(size_t value_size) : value_size_(value_size) {}

  std::vector<BlockFileReader> file_;  // none or one
  std::string path_;
  size_t value_size_;
  std::vector<uint64_t> keys_;
  std::string_view values_;
  size_t at_ = 0;
  size_t count_ = 0;
  uint64_t keys_read_ = 0;
  uint64_t last_key_ = 0;
};

}  // namespace portolan
