// SpoolFile: a file of sorted runs for one piece of work, written once and then read from several places at a time.
//
// It has no name while it is used, so a kill leaves nothing behind; a crash just after it was made leaves a "tmp-"
// file, which the next build removes. SpoolReader reads a part of it from front to back.
//
// Thread: one owner; all readers on its thread. Memory bound: kBuffer of what is written; per reader the size it is
// given, or the longest record if that is more. Durability: none.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "io/env.h"

namespace portolan {

class SpoolFile {
 public:
  static constexpr size_t kBuffer = size_t{1} << 20;

  // In `dir`, under a name that begins with "tmp-" and is removed at once.
  static Result<SpoolFile> Make(Env& env, const std::string& dir, std::string_view what);

  // What is appended to it is written by the next FlushFull or Flush.
  std::string& buffer() { return buffer_; }
  Status FlushFull() { return buffer_.size() < kBuffer ? Status() : Flush(); }
  Status Flush();
  uint64_t size() const { return file_->Size() + buffer_.size(); }
  File& file() { return *file_; }

 private:
  explicit SpoolFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  std::unique_ptr<File> file_;
  std::string buffer_;
};

struct SpoolPart {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class SpoolReader {
 public:
  // REQUIRES: the part was flushed; the file outlives this.
  SpoolReader(File& file, const SpoolPart& part, size_t buffer)
      : file_(&file), at_(part.begin), end_(part.end), size_(std::max<size_t>(buffer, 4096)) {}

  bool done() const { return next_ == filled_ && at_ == end_; }
  // Makes at least `count` of the next bytes, or all that are left, visible.
  Status Need(size_t count) { return filled_ - next_ >= count || at_ == end_ ? Status() : Fill(count); }
  std::string_view view() const { return {buffer_.get() + next_, filled_ - next_}; }
  void Skip(size_t count) { next_ += std::min(count, filled_ - next_); }

  // Need before it: kMaxVarint bytes. False: there is no whole number.
  bool TakeVarint(uint64_t& value) {
    if (next_ < filled_ && static_cast<uint8_t>(buffer_[next_]) < 0x80) [[likely]] {
      value = static_cast<uint8_t>(buffer_[next_++]);
      return true;
    }
    ByteReader reader(view());
    if (!reader.ReadVarint(value)) return false;
    next_ += reader.position();
    return true;
  }

 private:
  Status Fill(size_t count);

  File* file_;
  uint64_t at_;
  uint64_t end_;
  size_t size_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t next_ = 0;
  size_t filled_ = 0;
};

// The error of a reader that finds no record where one must be.
std::unexpected<Error> SpoolBroken(const char* what);

}  // namespace portolan
