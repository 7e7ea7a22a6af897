#include "io/env.h"

#include <algorithm>

namespace portolan {

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
    RETURN_IF_ERROR(file->Sync());
  }
  RETURN_IF_ERROR(env.Rename(beside, path));
  return env.SyncDir(DirName(path));
}

}  // namespace portolan
