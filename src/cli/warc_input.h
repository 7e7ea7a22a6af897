// An archive named on the command line: a file through Env, or "-" for standard input, with progress on a terminal.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/env.h"
#include "warc/member_stream.h"

namespace portolan {

class WarcInput {
 public:
  static Result<WarcInput> Open(const std::string& path);
  WarcInput(WarcInput&&) = default;
  ~WarcInput();

  // The source uses this object's state and must not outlive it.
  ByteSource Source();

  const std::string& path() const { return path_; }
  bool is_stdin() const { return path_ == "-"; }
  // The last part of the path: the file's name in an index.
  std::string Name() const;

 private:
  WarcInput(std::string path, std::unique_ptr<File> file);
  void ShowProgress(uint64_t offset);

  std::string path_;
  std::unique_ptr<File> file_;  // null: standard input
  bool progress_ = false;
  bool shown_ = false;
  int64_t start_ns_ = 0;
  int64_t shown_ns_ = 0;
};

}  // namespace portolan
