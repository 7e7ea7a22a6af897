// A disk that is slow where it is told to be, for programs that do not know: loaded with LD_PRELOAD.
//
// Writes to files whose path contains SLOW_DISK_PATH take at least as long as SLOW_DISK_RATE bytes per second allow.

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Pwrite = ssize_t (*)(int, const void*, size_t, off_t);

void Wait(int fd, size_t bytes) {
  const char* wanted = getenv("SLOW_DISK_PATH");
  const char* rate = getenv("SLOW_DISK_RATE");
  if (wanted == nullptr || rate == nullptr) return;
  std::array<char, 4096> path{};
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
  if (size <= 0) return;
  if (std::string_view(path.data(), static_cast<size_t>(size)).find(wanted) == std::string_view::npos) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(static_cast<double>(bytes) / atof(rate)));
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  static const auto real = reinterpret_cast<Pwrite>(dlsym(RTLD_NEXT, "pwrite"));
  Wait(fd, count);
  return real(fd, bytes, count, offset);
}

extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  static const auto real = reinterpret_cast<Pwrite>(dlsym(RTLD_NEXT, "pwrite64"));
  Wait(fd, count);
  return real(fd, bytes, count, offset);
}
