#include "io/map_faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace portolan {
namespace {

std::atomic<uint64_t> g_map_faults{0};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "used in a signal handler");
uintptr_t g_page_size = 4096;

void ReplacePage(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  if (info->si_code == BUS_ADRERR) {
    const uintptr_t page = reinterpret_cast<uintptr_t>(info->si_addr) & ~(g_page_size - 1);
    if (::mmap(reinterpret_cast<void*>(page), g_page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
      g_map_faults.fetch_add(1, std::memory_order_relaxed);
      errno = saved;
      return;
    }
  }
  ::signal(signal, SIG_DFL);  // the instruction runs again, and this time it ends the program
}

}  // namespace

void SurviveMapFaults() {
  g_page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action{};
  action.sa_sigaction = &ReplacePage;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

uint64_t MapFaults() { return g_map_faults.load(std::memory_order_relaxed); }

}  // namespace portolan
