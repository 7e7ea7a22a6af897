// AppendFile: appends to a file through a buffer, and keeps the buffer when a write fails.
//
// Add never fails: it appends to the buffer. Flush writes the buffer. When that fails, the file is cut back to what was
// completely written before, the buffer is kept, and Flush may be called again.
//
// Thread: one owner. Memory bound: what was added since the last Flush; the owner flushes when wants_flush is true.
// Durability: what was added before a successful Sync. kNoSpace from Sync comes from Flush, and Sync may be tried
// again. After kIo it must not: the system may have dropped what it could not write, and the next Sync would not notice
// (SyncOnce).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

class AppendFile {
 public:
  static constexpr size_t kBuffer = size_t{1} << 20;

  // A new, empty file; an old one is replaced.
  static Result<AppendFile> Make(Env& env, const std::string& path);
  // Continues an existing file after its first `length` bytes. kCorrupt when it is absent or shorter.
  static Result<AppendFile> Continue(Env& env, const std::string& path, uint64_t length);

  void Add(std::string_view bytes) { buffer_ += bytes; }
  bool wants_flush() const { return buffer_.size() >= kBuffer; }
  Status Flush();
  Status Sync();  // flushes first

  uint64_t size() const { return written_ + buffer_.size(); }
  const std::string& path() const { return file_->path(); }

 private:
  AppendFile(std::unique_ptr<File> file, uint64_t written) : file_(std::move(file)), written_(written) {}

  std::unique_ptr<File> file_;
  uint64_t written_;
  bool torn_ = false;  // the file may be longer than written_
  std::string buffer_;
};

}  // namespace portolan
