// HitLogReader: reads a hit log line by line, also one whose server is still running or was killed.
//
//   ASSIGN_OR_RETURN(auto log, HitLogReader::Open(Env::Posix(), path));
//   for (;;) {
//     ASSIGN_OR_RETURN(const HitEvent* event, log->Next());
//     if (event == nullptr) break;
//     …
//   }
//
// Thread: one owner. Memory bound: one buffer of 256 KiB; a longer line is kCorrupt.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/env.h"
#include "sim/hits/hit_log_line.h"

namespace portolan::sim {

class HitLogReader {
 public:
  static constexpr size_t kBufferBytes = size_t{256} << 10;

  // kCorrupt when the first line is not that of a hit log; kUnsupported for another version.
  static Result<std::unique_ptr<HitLogReader>> Open(Env& env, const std::string& path);

  const HitLogHeader& header() const { return header_; }

  // The next event; valid until the next call. nullptr at the end: after the last whole line. More may come later if
  // the server still writes. kCorrupt names the line.
  Result<const HitEvent*> Next();

  // True when the file does not end with a line end: a server was killed while it wrote.
  bool cut() const { return at_ < buffer_.size(); }

 private:
  explicit HitLogReader(std::unique_ptr<File> file) : file_(std::move(file)) {}
  // The next whole line; nullopt at the end.
  Result<std::optional<std::string_view>> Line();

  const std::unique_ptr<File> file_;
  HitLogHeader header_;
  std::string buffer_;
  size_t at_ = 0;        // what of the buffer was handed out
  uint64_t offset_ = 0;  // of the buffer's end in the file
  uint64_t line_number_ = 0;
  std::string scratch_;
  HitEvent event_;
};

}  // namespace portolan::sim
