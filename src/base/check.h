// CHECK: the program is wrong, and going on would make it worse. Prints where and why, then aborts.
//
// For conditions that only a programming error can break. Bytes from the network or the disk are never CHECKed: they
// give a value or a named error. DCHECK marks a check on a hot path: a single comparison. It is on in every build,
// because tests and users run the same objects.

#pragma once

#include <fmt/core.h>

#include <string>

namespace portolan {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& detail);

inline std::string CheckDetail() { return {}; }
template <typename... Args>
std::string CheckDetail(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}

}  // namespace portolan

// CHECK(count <= limit, "count {} over limit {}", count, limit);
#define CHECK(condition, ...)                                                                        \
  do {                                                                                               \
    if (!(condition)) [[unlikely]] {                                                                 \
      ::portolan::CheckFailed(__FILE__, __LINE__, #condition, ::portolan::CheckDetail(__VA_ARGS__)); \
    }                                                                                                \
  } while (false)

#define DCHECK(condition, ...) CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
