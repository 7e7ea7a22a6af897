// Result<T>: the value of a call that can fail, or the Error that says why.
//
// Only our own failures are errors: a disk that refuses, a file that is corrupt, an argument that makes no sense.
// What the web does (a 404, a reset, a bad certificate) is data with its own closed enums, never an Error.
//
// Codes are few, because callers branch on them: every code here is treated differently somewhere.

#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace portolan {

enum class ErrorCode : uint8_t {
  kInvalidArgument,  // the caller asked for something impossible
  kNotFound,         // no such file, key or verb
  kExists,           // it must not exist, and it does
  kIo,               // the system refused a read, write or sync
  kNoSpace,          // the disk is full: free some space and go on
  kReadOnly,         // the file system or the directory may not be written
  kCorrupt,          // bytes on disk are not what their checksum or format promises
  kUnsupported,      // a valid format of a version that this program does not know
  kBusy,             // a stated bound is reached, or a lock is held: try again later
  kClosed,           // the other side is gone
};

std::string_view ErrorCodeName(ErrorCode code);

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // From errno after a failed system call on `what` (usually "write /path").
  static Error FromErrno(int error_number, std::string_view what);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "what: message": each level that passes the error on may say what it was doing.
  Error Context(std::string_view what) && {
    message_ = std::string(what) + ": " + message_;
    return std::move(*this);
  }

  // "corrupt: drum/z-000001: block at 4096: checksum differs"
  std::string ToString() const;

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error(code, std::move(message)));
}

}  // namespace portolan

#define PORTOLAN_CONCAT_INNER(a, b) a##b
#define PORTOLAN_CONCAT(a, b) PORTOLAN_CONCAT_INNER(a, b)

// RETURN_IF_ERROR(file->Sync());
#define RETURN_IF_ERROR(expr)                                            \
  do {                                                                   \
    auto portolan_status = (expr);                                       \
    if (!portolan_status) [[unlikely]] {                                 \
      return std::unexpected<Error>(std::move(portolan_status).error()); \
    }                                                                    \
  } while (false)

// ASSIGN_OR_RETURN(auto file, env.Open(path));
#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_INNER(PORTOLAN_CONCAT(portolan_result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(tmp, lhs, expr)             \
  auto tmp = (expr);                                       \
  if (!tmp) [[unlikely]] {                                 \
    return std::unexpected<Error>(std::move(tmp).error()); \
  }                                                        \
  lhs = *std::move(tmp)
