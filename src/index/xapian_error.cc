#include "index/xapian_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace portolan {

Error XapianError(std::string_view what, const Xapian::Error& error) {
  const char* const system = error.get_error_string();
  const std::string message = fmt::format("{}: {}{}{} ({})", what, error.get_msg(), system != nullptr ? ": " : "",
                                          system != nullptr ? system : "", error.get_type());
  const std::string_view type = error.get_type();
  if (type == "DatabaseLockError" || type == "DatabaseModifiedError") return Error(ErrorCode::kBusy, message);
  if (system != nullptr && std::strcmp(system, std::strerror(ENOSPC)) == 0) return Error(ErrorCode::kNoSpace, message);
  if (system != nullptr && std::strcmp(system, std::strerror(EIO)) == 0) return Error(ErrorCode::kIo, message);
  return Error(ErrorCode::kCorrupt, message);
}

}  // namespace portolan
