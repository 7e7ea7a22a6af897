#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace portolan {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kExists:
      return "already exists";
    case ErrorCode::kIo:
      return "I/O error";
    case ErrorCode::kNoSpace:
      return "no space";
    case ErrorCode::kReadOnly:
      return "not writable";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kClosed:
      return "closed";
  }
  return "unknown";
}

Error Error::FromErrno(int error_number, std::string_view what) {
  ErrorCode code = ErrorCode::kIo;
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      code = ErrorCode::kNotFound;
      break;
    case EEXIST:
      code = ErrorCode::kExists;
      break;
    case ENOSPC:
    case EDQUOT:
      code = ErrorCode::kNoSpace;
      break;
    case EROFS:
    case EACCES:
    case EPERM:
      code = ErrorCode::kReadOnly;
      break;
    case EINVAL:
    case EISDIR:
      code = ErrorCode::kInvalidArgument;
      break;
    case EAGAIN:
      code = ErrorCode::kBusy;
      break;
    default:
      break;
  }
  char buffer[256];
  const char* text = strerror_r(error_number, buffer, sizeof buffer);
  return Error(code, std::string(what) + ": " + text);
}

std::string Error::ToString() const { return std::string(ErrorCodeName(code_)) + ": " + message_; }

}  // namespace portolan
