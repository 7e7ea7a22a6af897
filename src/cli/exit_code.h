// What the program's exit codes mean. Documented in README.md; scripts rely on them.

#pragma once

#include "base/result.h"

namespace portolan {

enum ExitCode : int {
  kExitOk = 0,
  kExitVerdict = 1,   // the work was done and the result is negative: a check failed, a violation was found
  kExitUsage = 2,     // wrong verb, flag or argument
  kExitBadInput = 3,  // a configuration, seed or data file that cannot be used
  kExitSystem = 4,    // a system error: disk full or read-only, no permission, no memory
  kExitInternal = 5,  // a bug in this program
};

inline ExitCode ExitCodeFor(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kExists:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
      return kExitBadInput;
    case ErrorCode::kIo:
    case ErrorCode::kNoSpace:
    case ErrorCode::kReadOnly:
    case ErrorCode::kBusy:
      return kExitSystem;
    case ErrorCode::kClosed:
      break;
  }
  return kExitInternal;
}

}  // namespace portolan
