#include "io/file.h"

#include <fmt/core.h>

namespace portolan {

Status ReadExactly(File& file, uint64_t offset, char* to, size_t count) {
  ASSIGN_OR_RETURN(const size_t got, file.ReadAt(offset, to, count));
  if (got != count) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: at {}: wanted {} bytes, the file ends after {}", file.path(), offset, count, got));
  }
  return {};
}

Status SyncOnce(File& file) {
  if (const Status synced = file.Sync(); !synced) return Fail(ErrorCode::kIo, synced.error().message());
  return {};
}

}  // namespace portolan
