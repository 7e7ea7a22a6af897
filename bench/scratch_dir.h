// ScratchDir: a folder for a benchmark's files that goes away with everything in it.

#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace portolan::bench {

class ScratchDir {
 public:
  // In `under`, or where temporary files belong.
  static Result<ScratchDir> Create(std::string_view benchmark, const std::string& under = "") {
    const std::filesystem::path base =
        under.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(under);
    std::string name = (base / ("portolan-" + std::string(benchmark) + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return std::unexpected(Error::FromErrno(errno, name));
    return ScratchDir(std::move(name));
  }
  ScratchDir(ScratchDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDir& operator=(ScratchDir&&) = delete;
  ~ScratchDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDir(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace portolan::bench
