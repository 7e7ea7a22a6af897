#include "outputs/append_file.h"

#include <fmt/core.h>

#include <utility>

namespace portolan {

Result<AppendFile> AppendFile::Make(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, env.Open(path, OpenMode::kCreate));
  return AppendFile(std::move(file), 0);
}

Result<AppendFile> AppendFile::Continue(Env& env, const std::string& path, uint64_t length) {
  if (!env.Exists(path)) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: missing; the checkpoint names it with {} bytes", path, length));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, env.Open(path, OpenMode::kAppend));
  if (file->Size() < length) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: has {} bytes, the checkpoint says {}", path, file->Size(), length));
  }
  if (file->Size() > length) RETURN_IF_ERROR(file->Truncate(length));
  return AppendFile(std::move(file), length);
}

Status AppendFile::Flush() {
  if (buffer_.empty()) return {};
  if (torn_) RETURN_IF_ERROR(file_->Truncate(written_));
  torn_ = true;
  RETURN_IF_ERROR(file_->Append(buffer_));
  torn_ = false;
  written_ += buffer_.size();
  buffer_.clear();
  if (buffer_.capacity() > 2 * kBuffer) std::string().swap(buffer_);
  return {};
}

Status AppendFile::Sync() {
  RETURN_IF_ERROR(Flush());
  return SyncOnce(*file_);
}

}  // namespace portolan
