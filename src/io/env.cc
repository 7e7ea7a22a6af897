#include "io/env.h"

#include <fmt/core.h>

#include <algorithm>

namespace portolan {

Result<std::string> Env::Identity(const std::string& dir) {
  return Fail(ErrorCode::kUnsupported, fmt::format("{}: this file system cannot identify a directory", dir));
}

namespace {

class CopiedBytes : public FileBytes {
 public:
  explicit CopiedBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view view() const override { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<FileBytes>> Env::Map(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(*this, path));
  return std::make_unique<CopiedBytes>(std::move(bytes));
}

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty()) return std::string(name);
  std::string path(dir);
  if (path.back() != '/') path += '/';
  return path += name;
}

std::string DirName(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

Status SyncDirOnce(Env& env, const std::string& dir) {
  if (const Status synced = env.SyncDir(dir); !synced) return Fail(ErrorCode::kIo, synced.error().message());
  return {};
}

Result<std::string> ReadWholeFile(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  std::string contents(file->Size(), '\0');
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, contents.data(), contents.size()));
  contents.resize(got);
  return contents;
}

Status ReplaceFile(Env& env, const std::string& path, std::string_view contents) {
  const std::string beside = path + ".new";
  {
    ASSIGN_OR_RETURN(const auto file, env.Open(beside, OpenMode::kCreate));
    RETURN_IF_ERROR(file->Append(contents));
    RETURN_IF_ERROR(SyncOnce(*file));
  }
  RETURN_IF_ERROR(env.Rename(beside, path));
  return SyncDirOnce(env, DirName(path));
}

}  // namespace portolan
