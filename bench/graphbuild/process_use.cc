#include "bench/graphbuild/process_use.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

namespace portolan::bench {
namespace {

// The number behind "name:" in a file of /proc; 0 if it is not there.
uint64_t NumberOf(const std::string& text, std::string_view name) {
  const size_t at = text.find(std::string(name) + ":");
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + name.size() + 1));
}

std::string ReadProc(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

struct ProcessWatch::Sampler {
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;           // guarded by mutex
  uint64_t anon = 0;           // likewise
  uint64_t file = 0;           // likewise
  std::thread thread{[this] {  // last: uses all of the above
    std::unique_lock lock(mutex);
    do {
      const std::string status = ReadProc("/proc/self/status");
      anon = std::max(anon, NumberOf(status, "RssAnon") << 10);
      file = std::max(file, (NumberOf(status, "RssFile") + NumberOf(status, "RssShmem")) << 10);
    } while (!wake.wait_for(lock, std::chrono::milliseconds(50), [this] { return stop; }));
  }};
};

ProcessWatch::ProcessWatch() : sampler_(std::make_unique<Sampler>()) {}

ProcessWatch::~ProcessWatch() {
  {
    const std::lock_guard lock(sampler_->mutex);
    sampler_->stop = true;
  }
  sampler_->wake.notify_one();
  sampler_->thread.join();
}

ProcessUse ProcessWatch::Use() {
  ProcessUse use;
  {
    const std::lock_guard lock(sampler_->mutex);
    use.peak_anon_bytes = sampler_->anon;
    use.peak_file_bytes = sampler_->file;
  }
  use.peak_bytes = NumberOf(ReadProc("/proc/self/status"), "VmHWM") << 10;
  const std::string io = ReadProc("/proc/self/io");
  use.asked_read = NumberOf(io, "rchar");
  use.asked_written = NumberOf(io, "wchar");
  use.disk_read = NumberOf(io, "\nread_bytes");
  use.disk_written = NumberOf(io, "\nwrite_bytes");
  return use;
}

}  // namespace portolan::bench
