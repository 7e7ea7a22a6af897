// Fetching: pages per second and pages per CPU second of one loop against nginx on the loopback, with a new connection
// for each page and with kept connections. The rival is libcurl's multi interface on epoll with nothing around it.

#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "base/hash_key.h"
#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/fetch/bare_curl.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "fetch/fetch_loops.h"
#include "fetch/testing/nginx.h"
#include "flow/url_record.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

constexpr size_t kAddresses = 16;

struct Workload {
  uint16_t port = 0;
  size_t pages = 0;
  size_t page_bytes = 0;
  size_t hosts = 0;
  size_t concurrent = 0;
  size_t loops = 1;

  void At(size_t index, std::string& url, Address& address) const {
    const size_t host = index % hosts;
    url = fmt::format("http://h{}.test:{}/page.html", host, port);
    address = Address::V4(0x7f000001 + static_cast<uint32_t>(host % kAddresses));
  }
};

struct Figures {
  double pages_per_s = 0;
  double pages_per_cpu_s = 0;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Run>
Result<Figures> Measure(const Workload& work, Run run) {
  const double cpu = CpuSeconds();
  const int64_t begin = Clock::Real().NowNs();
  const uint64_t bytes = run();
  const double seconds = static_cast<double>(Clock::Real().NowNs() - begin) * 1e-9;
  const double cpu_seconds = CpuSeconds() - cpu;
  if (bytes != work.pages * work.page_bytes) return Fail(ErrorCode::kCorrupt, "not every page came whole");
  const auto pages = static_cast<double>(work.pages);
  return Figures{pages / seconds, pages / cpu_seconds};
}

// Keeps `concurrent` fetches going: each answer is followed by the next task, from the loop's own thread.
class Pump : public FetchHandler {
 public:
  explicit Pump(const Workload& work) : work_(work) {}

  uint64_t Run(FetchLoops& loops) {
    loops_ = &loops;
    for (size_t i = 0; i < work_.concurrent; ++i) SendNext();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return finished_ == work_.pages; });
    return bytes_;
  }

  void OnResponse(FetchResponse&& response, size_t) override {
    bytes_ += response.outcome == FetchOutcome::kAnswered ? response.body.size() : 0;
    SendNext();
    if (++finished_ != work_.pages) return;
    const std::lock_guard lock(mutex_);
    done_.notify_all();
  }
  void OnResolved(Resolution&&) override {}

 private:
  void SendNext() {
    const size_t index = next_++;
    if (index >= work_.pages) return;
    FetchTask task;
    task.id = index;
    work_.At(index, task.url, task.address);
    task.host = HostKey(task.url, HashKey::Known());
    loops_->Fetch(std::move(task));
  }

  const Workload& work_;
  FetchLoops* loops_ = nullptr;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> finished_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable done_;
};

Result<Figures> Ours(const Workload& work, bool reuse) {
  FetchOptions options;
  options.loops = work.loops;
  options.dns.allow_private = true;
  options.max_in_flight = work.concurrent;
  options.idle_connections = std::min<size_t>(work.hosts, 1024);
  options.reuse_connections = reuse;
  Pump pump(work);
  ASSIGN_OR_RETURN(auto loops, FetchLoops::Create(options, pump));
  auto figures = Measure(work, [&] { return pump.Run(*loops); });
  loops->Stop();
  return figures;
}

Result<Figures> Rival(const Workload& work, bool reuse) {
  size_t next = 0;
  return Measure(work, [&] {
    return FetchWithBareCurl(
        {.concurrent = work.concurrent, .reuse_connections = reuse, .next = [&](std::string& url, Address& address) {
           if (next == work.pages) return false;
           work.At(next++, url, address);
           return true;
         }});
  });
}

Result<nlohmann::ordered_json> RunFetchBench(int argc, char** argv, Report& report) {
  Workload work;
  work.pages = 40'000;
  work.page_bytes = 25'600;
  work.hosts = 200;
  work.concurrent = 64;
  std::string who = "both";
  std::string connections = "both";
  CLI::App app("Fetches pages from nginx on the loopback");
  app.add_option("--pages", work.pages, "pages per run");
  app.add_option("--bytes", work.page_bytes, "bytes per page");
  app.add_option("--hosts", work.hosts, "host names, over 16 addresses");
  app.add_option("--concurrent", work.concurrent, "fetches at once");
  app.add_option("--loops", work.loops, "threads of ours");
  app.add_option("--who", who, "ours, rival or both")->check(CLI::IsMember({"ours", "rival", "both"}));
  app.add_option("--connections", connections, "new, kept or both")->check(CLI::IsMember({"new", "kept", "both"}));
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (!Nginx::Installed()) return Fail(ErrorCode::kNotFound, "nginx is not installed");
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("fetch"));
  const std::string& dir = scratch.path();
  std::filesystem::permissions(dir, std::filesystem::perms(0755));
  std::ofstream(dir + "/page.html") << std::string(work.page_bytes, 'p');

  nlohmann::ordered_json json;
  Status status;
  {
    const Nginx nginx(dir, "", "", kAddresses);
    if (!nginx.running()) return Fail(ErrorCode::kIo, "nginx does not start");
    work.port = nginx.port();
    report.Line("{} pages of {} from nginx, {} hosts, {} at once", work.pages, FormatBytes(work.page_bytes), work.hosts,
                work.concurrent);
    report.Line("{:<34} {:>12} {:>18}", "", "pages/s", "pages a CPU second");
    for (const bool reuse : {false, true}) {
      const std::string kind = reuse ? "kept connections" : "new connections";
      if (connections == (reuse ? "new" : "kept")) continue;
      for (const bool ours : {true, false}) {
        if (who == (ours ? "rival" : "ours")) continue;
        auto figures = ours ? Ours(work, reuse) : Rival(work, reuse);
        if (!figures) {
          status = std::unexpected(std::move(figures).error().Context(kind));
          break;
        }
        report.Line("{:<34} {:>12.0f} {:>18.0f}", fmt::format("{}, {}", ours ? "portolan" : "bare libcurl", kind),
                    figures->pages_per_s, figures->pages_per_cpu_s);
        const std::string key = fmt::format("{}_{}", ours ? "ours" : "rival", reuse ? "kept" : "new");
        json[key + "_pages_per_s"] = figures->pages_per_s;
        json[key + "_pages_per_cpu_s"] = figures->pages_per_cpu_s;
      }
    }
  }
  RETURN_IF_ERROR(status);
  return json;
}

}  // namespace

PORTOLAN_BENCHMARK("fetch", "pages per second from nginx, beside bare libcurl", RunFetchBench);

}  // namespace portolan::bench
