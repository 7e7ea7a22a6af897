// Sequential reading and writing of a File in large pieces.
//
// Thread: one owner. Memory bound: the buffer given.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file.h"

namespace portolan::bench {

inline constexpr size_t kStreamBuffer = 1 << 20;

class FileWriter {
 public:
  explicit FileWriter(File& file, size_t buffer = kStreamBuffer) : file_(file), capacity_(buffer) {
    buffer_.reserve(buffer);
  }

  Status Append(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > capacity_) RETURN_IF_ERROR(Flush());
    if (bytes.size() > capacity_) return file_.Append(bytes);
    buffer_.append(bytes);
    return {};
  }

  Status Flush() {
    if (!buffer_.empty()) RETURN_IF_ERROR(file_.Append(buffer_));
    buffer_.clear();
    return {};
  }

 private:
  File& file_;
  const size_t capacity_;
  std::string buffer_;
};

class FileReader {
 public:
  explicit FileReader(File& file, size_t buffer = kStreamBuffer)
      : file_(file), capacity_(buffer), buffer_(std::make_unique_for_overwrite<char[]>(buffer)) {}

  // The next bytes, `count` or more unless the file ends before. REQUIRES: count <= the buffer's size.
  // The view is valid until the next call.
  Result<std::string_view> Peek(size_t count) {
    if (end_ - at_ < count && !at_end_) {
      std::memmove(buffer_.get(), buffer_.get() + at_, end_ - at_);
      end_ -= at_;
      at_ = 0;
      ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(offset_, buffer_.get() + end_, capacity_ - end_));
      at_end_ = got < capacity_ - end_;
      offset_ += got;
      end_ += got;
    }
    return std::string_view(buffer_.get() + at_, end_ - at_);
  }

  // REQUIRES: count bytes have been peeked.
  void Skip(size_t count) { at_ += count; }

 private:
  File& file_;
  const size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  uint64_t offset_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace portolan::bench
