#include "io/remove_tree.h"

#include <filesystem>
#include <system_error>

namespace portolan {

Status RemoveTree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? std::unexpected(Error::FromErrno(error.value(), "remove " + path)) : Status();
}

}  // namespace portolan
