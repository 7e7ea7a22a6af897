// ExportFile: a file that a user asked for, whole or not there at all.
//
// It is written under a name beside the wanted one (NAME.<16 digits>.part) and gets its own with Publish. What is not
// published is removed when the object goes away; only a kill leaves a part behind. If the wanted name ends in ".gz",
// the bytes are packed on the way, as one gzip member without a time, so that the same bytes give the same file.
//
// Thread: one owner. Memory bound: kBuffer, and zlib's 256 KiB if it packs. Durability: after Publish the bytes, and
// the name as far as the file system can do that.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

class ExportFile {
 public:
  static constexpr size_t kBuffer = size_t{1} << 18;
  using Sink = std::function<Status(std::string_view)>;

  // kExists: there is such a file, and it may not be replaced. REQUIRES: env outlives this.
  static Result<ExportFile> Create(Env& env, const std::string& path, bool replace);
  // Nothing on disk: bytes go to `sink`, and Publish gives it the rest of them.
  static ExportFile To(Sink sink);

  ExportFile(ExportFile&&) noexcept;
  ExportFile& operator=(ExportFile&&) = delete;
  ~ExportFile();

  // The bytes to come: append to it, and call FlushFull now and then.
  std::string& buffer() { return buffer_; }
  Status FlushFull() { return buffer_.size() < kBuffer ? Status() : Flush(); }
  Status Append(std::string_view bytes) {
    buffer_ += bytes;
    return FlushFull();
  }

  // All bytes to the disk. Nothing may be appended after it.
  Status Seal();
  // Its own name. REQUIRES: sealed.
  Status Publish();

  const std::string& path() const { return path_; }  // that it has once it is published; "" of a sink
  uint64_t size() const { return written_; }         // bytes in the file

 private:
  struct Deflate;

  ExportFile();
  Status Flush();
  Status Pack(std::string_view bytes, bool last);
  Status Write(std::string_view bytes);

  Env* env_ = nullptr;
  Sink sink_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Deflate> deflate_;  // null: bytes as they are
  std::string path_;
  std::string part_;  // the name on disk; "": there is none to remove
  bool replace_ = false;
  std::string buffer_;
  std::string packed_;
  uint64_t written_ = 0;
};

}  // namespace portolan
