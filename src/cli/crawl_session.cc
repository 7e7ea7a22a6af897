#include "cli/crawl_session.h"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/live_display.h"
#include "crawl/engine.h"
#include "crawl/wiring.h"
#include "io/env.h"

namespace portolan {
namespace {

constexpr double kStatusEvery = 2;  // seconds between two status files

// SIGINT and SIGTERM, taken by a thread that waits for nothing else. Other threads must be made while this exists, so
// that they do not take them.
class SignalThread {
 public:
  explicit SignalThread(std::function<void()> on_first) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this, on_first = std::move(on_first)] {
      int count = 0;
      for (;;) {
        int signal = 0;
        if (sigwait(&signals_, &signal) != 0 || signal == SIGUSR2) return;
        if (++count > 1) std::_Exit(128 + signal);
        on_first();
      }
    });
  }
  ~SignalThread() {
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  sigset_t signals_;
  sigset_t before_;
  std::thread thread_;
};

// A connection is a descriptor. Returns how many there may be.
uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// Written beside and renamed, so that a reader never sees half of it; not synced: it is a picture, not state.
void WriteStatus(const std::string& path, const CrawlProgress& progress) {
  const std::string beside = path + ".new";
  {
    std::ofstream file(beside, std::ios::trunc);
    file << ProgressToJson(progress) << '\n';
    if (!file.flush()) return;
  }
  std::error_code ignored;
  std::filesystem::rename(beside, path, ignored);
}

Status CheckDirectory(const SessionOptions& options, bool* made) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool has_crawl = fs::exists(JoinPath(options.dir, kConfigFile), error);
  if (options.resume) {
    if (has_crawl) return {};
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no crawl here (no {})", options.dir, kConfigFile));
  }
  if (has_crawl) {
    return Fail(ErrorCode::kExists,
                fmt::format("{}: a crawl is here already. Go on with 'portolan resume {}', or choose another --dir",
                            options.dir, options.dir));
  }
  if (fs::exists(options.dir, error)) {
    if (!fs::is_directory(options.dir, error)) {
      return Fail(ErrorCode::kExists, fmt::format("{}: is not a directory", options.dir));
    }
    if (!fs::is_empty(options.dir, error)) {
      return Fail(ErrorCode::kExists,
                  fmt::format("{}: is not empty and holds no crawl: choose another --dir", options.dir));
    }
  } else {
    *made = true;
  }
  return Env::Posix().CreateDirs(options.dir);
}

}  // namespace

Result<std::vector<std::string>> ReadSeeds(const std::vector<std::string>& urls, const std::string& file,
                                           const Config& config) {
  std::vector<std::string> seeds;
  for (const std::string& url : urls) {
    ASSIGN_OR_RETURN(std::string seed, CanonicalSeed(url, config));
    seeds.push_back(std::move(seed));
  }
  if (!file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), file));
    size_t number = 0;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find('\n', begin);
      if (end == std::string::npos) end = text.size();
      std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      ++number;
      line = line.substr(0, line.starts_with('#') ? 0 : line.find(" #"));
      while (!line.empty() && static_cast<uint8_t>(line.back()) <= ' ') line.remove_suffix(1);
      while (!line.empty() && static_cast<uint8_t>(line.front()) <= ' ') line.remove_prefix(1);
      if (line.empty()) continue;
      auto seed = CanonicalSeed(line, config);
      if (!seed)
        return Fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", file, number, seed.error().message()));
      seeds.push_back(*std::move(seed));
    }
  }
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

Result<SessionEnd> RunCrawlSession(const SessionOptions& options) {
  Config config = options.config;
  config.crawl.seeds = options.seeds;
  if (!options.resume && options.seeds.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no seeds: name a URL, or a file with --seeds");
  }
  const uint64_t descriptors = RaiseDescriptorLimit();
  if (config.fetch.connections + 256 > descriptors) {
    config.fetch.connections = std::max<uint64_t>(16, descriptors > 512 ? descriptors - 256 : descriptors / 2);
    Log(LogLevel::kWarn, "fewer connections: the system allows few open files",
        {{"connections", config.fetch.connections}, {"open_files", descriptors}});
  }
  ASSIGN_OR_RETURN(const EngineOptions engine_options, WireCrawl(config, options.dir, options.seeds, PORTOLAN_VERSION));

  bool made = false;
  RETURN_IF_ERROR(CheckDirectory(options, &made));
  // What fails before the first fetch leaves nothing behind. Declared before the engine, whose files it removes.
  const auto remove = [&options](const bool* dir_is_ours) {
    std::error_code ignored;
    if (*dir_is_ours) std::filesystem::remove_all(options.dir, ignored);
  };
  const std::unique_ptr<bool, decltype(remove)> half_made(&made, remove);
  // Declared before the engine, so that its threads inherit the blocked signals; told about it once it is there.
  Engine* running = nullptr;
  bool stop_early = false;
  std::mutex mutex;
  SignalThread signals([&] {
    const std::lock_guard lock(mutex);
    stop_early = true;
    if (running != nullptr) running->RequestStop();
  });
  auto engine = Engine::Open(Env::Posix(), engine_options);
  if (!engine) return std::unexpected(std::move(engine).error());
  RETURN_IF_ERROR((*engine)->AddSeeds(options.seeds));
  if (!options.resume) {
    RETURN_IF_ERROR(ReplaceFile(Env::Posix(), JoinPath(options.dir, kConfigFile), ConfigToToml(config)));
  }
  made = false;  // from here on it is a crawl
  {
    const std::lock_guard lock(mutex);
    running = engine->get();
    if (stop_early) running->RequestStop();
  }

  LiveDisplay display(LiveDisplay::Choose(options.quiet));
  const std::string status_path = JoinPath(options.dir, kStatusFile);
  double status_at = -kStatusEvery;
  auto end = (*engine)->Run([&](const CrawlProgress& progress) {
    display.Show(progress);
    if (progress.session_seconds - status_at < kStatusEvery) return;
    status_at = progress.session_seconds;
    WriteStatus(status_path, progress);
  });
  {
    const std::lock_guard lock(mutex);
    running = nullptr;
  }
  if (!end) return std::unexpected(std::move(end).error());
  display.End(*end);
  WriteStatus(status_path, *end);
  SessionEnd result{*std::move(end), std::string((*engine)->shard().limit_reached())};
  result.progress.state = result.progress.state == "done" ? "done" : "stopped";  // a view that outlives the engine
  if (options.summary) PrintSummary(result, options);
  return result;
}

void PrintSummary(const SessionEnd& end, const SessionOptions& options) {
  const CrawlProgress& progress = end.progress;
  if (options.json) {
    fmt::print("{}\n", ProgressToJson(progress));
    return;
  }
  const CrawlCounts& counts = progress.counts;
  const char* why = progress.state != "done" ? "stopped" : end.limit.empty() ? "nothing is left to fetch" : "";
  fmt::print("{}: {} pages, {} received, in {}{}{}\n", progress.state == "done" ? "done" : "stopped", counts.pages(),
             FormatBytes(counts.wire_bytes), FormatDuration(progress.seconds), end.limit.empty() ? "" : ", limit: ",
             end.limit.empty() ? (progress.state == "done" ? fmt::format(" ({})", why) : "") : end.limit);
  fmt::print("  archive   {}\n", JoinPath(options.dir, options.config.archive.directories.front()));
  fmt::print("  log       {}\n", JoinPath(options.dir, "log"));
  if (progress.waiting + progress.at_gate + progress.unanswered > 0) {
    fmt::print("  go on     portolan resume {}\n", options.dir);
  }
}

}  // namespace portolan
