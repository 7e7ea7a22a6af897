// TempFile: a file with this content, for as long as the object lives.

#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"

namespace portolan {

class TempFile {
 public:
  explicit TempFile(std::string_view content)
      : path_((std::filesystem::temp_directory_path() / "portolan-test-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    CHECK(fd >= 0);
    close(fd);
    Write(content);
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Another content, in a file that takes the old one's place.
  void Write(std::string_view content) const {
    std::ofstream(path_ + ".new", std::ios::binary) << content;
    std::filesystem::rename(path_ + ".new", path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace portolan
