// LogText: the bytes of one file of a text log, plain or packed, from front to back.
//
// Thread: one owner; the file may be growing. Memory bound: MemberStream's, under 1 MiB.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"
#include "outputs/log_file_name.h"
#include "warc/member_stream.h"

namespace portolan {

class LogText {
 public:
  // From byte `begin` of the text on. Of a plain file only the first `length` bytes count, where that is given.
  static Result<std::unique_ptr<LogText>> Open(Env& env, const LogFilePath& file,
                                               std::optional<uint64_t> length = std::nullopt, uint64_t begin = 0);

  // The next bytes, empty at the end. The view is valid until the next call. kCorrupt: a packed file is broken.
  Result<std::string_view> Next();

 private:
  LogText(std::unique_ptr<File> file, std::optional<uint64_t> length, uint64_t begin);

  std::unique_ptr<File> file_;
  std::string fault_;
  size_t given_ = 0;  // of the last Peek
  MemberStream stream_;
};

// Calls `each` with every line of the file, without its line end, until it returns false. What follows the last line
// end is not a line (it is still being written). A line over `longest` is skipped. Returns whether all calls returned
// true.
Result<bool> ForEachLineOf(LogText& text, size_t longest, const std::function<bool(std::string_view line)>& each);

}  // namespace portolan
