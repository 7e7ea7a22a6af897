#include "io/process.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>

namespace portolan {
namespace {

int64_t NsOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

uint64_t ResidentBytes() {
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int read = std::fscanf(statm, "%llu %llu", &total, &resident);
  std::fclose(statm);
  return read == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t PeakResidentBytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

int64_t ProcessorNs() { return NsOf(CLOCK_PROCESS_CPUTIME_ID); }
int64_t ThreadProcessorNs() { return NsOf(CLOCK_THREAD_CPUTIME_ID); }

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

void NameThread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

Status LowerPriority() {
  // From linux/ioprio.h, which not every system has: class and level in one number, of one thread.
  constexpr int kWhoThread = 1;
  constexpr int kBestEffort = 2;
  constexpr int kClassShift = 13;
  constexpr int kLowest = 7;
  if (setpriority(PRIO_PROCESS, 0, 19) != 0) return std::unexpected(Error::FromErrno(errno, "lower the priority"));
  if (syscall(SYS_ioprio_set, kWhoThread, 0, kBestEffort << kClassShift | kLowest) != 0) {
    return std::unexpected(Error::FromErrno(errno, "lower the priority for disks"));
  }
  return {};
}

void KeepMallocSmall() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(kMappedBuffer));  // set, it does not move; else it grows to 32 MiB
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(kMappedBuffer));
  mallopt(M_ARENA_MAX, 2);
#endif
}

}  // namespace portolan
