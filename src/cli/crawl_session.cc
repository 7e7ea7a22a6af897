#include "cli/crawl_session.h"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "archive/log_search.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/crawl_flags.h"
#include "cli/limits.h"
#include "cli/live_display.h"
#include "crawl/engine.h"
#include "crawl/wiring.h"
#include "disk/manifest.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
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

// Written beside and renamed, so that a reader never sees half of it; not synced: it is a picture, not state. On a full
// disk the old one is written over, which needs no room: it is then that people look at it.
void WriteStatus(const std::string& path, const CrawlProgress& progress) {
  const std::string text = ProgressToJson(progress) + '\n';
  const std::string beside = path + ".new";
  std::error_code ignored;
  bool written = false;
  {
    std::ofstream file(beside, std::ios::trunc);
    file << text;
    written = bool(file.flush());
  }
  if (written) {
    std::filesystem::rename(beside, path, ignored);
    return;
  }
  std::filesystem::remove(beside, ignored);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  if (file << text && file.flush()) std::filesystem::resize_file(path, text.size(), ignored);
}

// A part of what is free when the crawl begins, so that small disks can be used too.
uint64_t ReserveOf(const EngineOptions& options) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  constexpr uint64_t kMost = uint64_t{256} << 20;
  uint64_t reserve = kMost;
  std::vector<std::string> dirs = options.archive.directories;
  dirs.push_back(options.log.dir);
  dirs.push_back(options.state_dir);
  for (std::string dir : dirs) {
    while (!dir.empty() && !Env::Posix().Exists(dir)) dir = DirName(dir) == dir ? "" : DirName(dir);
    const auto room = Env::Posix().FreeSpace(dir.empty() ? "." : dir);
    if (room) reserve = std::min(reserve, *room / 8);
  }
  return std::max(reserve, kLeast);
}

// A crawl that has files but no manifest is not taken for a new one: recovery would remove what is left of its state.
Status CheckState(const EngineOptions& options) {
  Env& env = Env::Posix();
  const auto names = [&env](const std::string& dir) {
    auto listed = env.List(dir);
    return listed ? *std::move(listed) : std::vector<std::string>();
  };
  if (std::ranges::any_of(names(options.state_dir), IsManifestName)) return {};
  std::vector<std::string> dirs = options.archive.directories;
  dirs.push_back(options.log.dir);
  for (const std::string& dir : dirs) {
    if (names(dir).empty()) continue;
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{} has no manifest, but {} has files: the state of this crawl is lost. Nothing was touched; "
                    "put a copy of the state back, or begin a new crawl in another directory",
                    options.state_dir, dir));
  }
  return {};
}

// What people can do about an error that ended a crawl.
Error AtCheckpoint(const Error& error, const std::string& dir) {
  std::string limit;
  if (error.message().find("Too many open files") != std::string::npos) {
    limit = fmt::format(" (at most {}: ulimit -n; fewer --connections leave more for the crawl's own files)",
                        RaiseDescriptorLimit());
  }
  return Error(error.code(), fmt::format("{}{}. The last checkpoint stands: 'portolan resume {}' goes on from there",
                                         error.message(), limit, dir));
}

// The crawl's memory on this machine: a default is made smaller where there is less, a wish is refused.
Result<uint64_t> MemoryFor(const Config& config) {
  const uint64_t limit = MemoryLimit("");
  const uint64_t safe = SafeMemory(limit);
  const uint64_t wanted = config.memory.total.bytes;
  if (limit == 0 || wanted <= safe) return wanted;
  if (wanted != ForProfile(config.crawl.profile).memory.total.bytes && wanted > limit) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("memory.total: {} are more than the {} that this process may use (RAM, or memory.max of its "
                    "control group): at most {} are wise",
                    FormatBytes(wanted), FormatBytes(limit), FormatBytes(safe)));
  }
  if (wanted != ForProfile(config.crawl.profile).memory.total.bytes) {
    Log(LogLevel::kWarn, "memory.total leaves little for the page cache",
        {{"memory", FormatBytes(wanted)}, {"allowed", FormatBytes(limit)}, {"wise", FormatBytes(safe)}});
    return wanted;
  }
  constexpr uint64_t kLeast = uint64_t{128} << 20;
  Log(LogLevel::kWarn, "less memory than usual: this process may use little",
      {{"memory", FormatBytes(std::max(safe, kLeast))}, {"allowed", FormatBytes(limit)}});
  return std::max(safe, kLeast);
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

// Who is to be told when somebody asks to stop. Thread: any.
class Stopper {
 public:
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->RequestStop();
    changed_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void SetRunning(Engine* engine) {
    const std::lock_guard lock(mutex_);
    running_ = engine;
    if (stopped_ && engine != nullptr) engine->RequestStop();
  }
  // True when stopped.
  bool WaitFor(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return stopped_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;       // guarded by mutex_
  Engine* running_ = nullptr;  // guarded by mutex_
};

// A structure met the end of the disk in the middle of its work, with more room left than the reserve: a merge needs as
// much as its table. The crawl is back at its last checkpoint and would fail in the same way, after fetching the same
// pages again. So it waits for more room than there is now. False: somebody asks to stop.
bool WaitForMoreRoom(const EngineOptions& options, Stopper& stopper, const std::function<void(std::string)>& tell) {
  const std::string& dir = options.state_dir;
  {  // What no checkpoint names goes first: that is room, too.
    const auto lock = Env::Posix().Lock(JoinPath(dir, std::string(kStateLock)));
    const std::string_view keep[] = {kStateLock};
    if (lock) static_cast<void>(Manifest::Open(Env::Posix(), dir, keep));
  }
  const uint64_t room = Env::Posix().FreeSpace(dir).value_or(0);
  const uint64_t wanted = room + std::max(options.reserve_bytes, room / 8);
  Log(LogLevel::kWarn, "waiting for more room on the disk",
      {{"free", FormatBytes(room)}, {"wanted", FormatBytes(wanted)}});
  tell(fmt::format("paused: disk full: {} has {} free, {} are wanted", dir, FormatBytes(room), FormatBytes(wanted)));
  while (Env::Posix().FreeSpace(dir).value_or(0) < wanted) {
    if (stopper.WaitFor(std::chrono::nanoseconds(options.retry_ns))) return false;
  }
  Log(LogLevel::kInfo, "there is room again: going on", {});
  return !stopper.stopped();
}

// From the checkpoint, or from nothing, to the end or an error. `last` is the picture that was shown last.
Result<SessionEnd> RunEngine(const SessionOptions& options, const Config& config, const EngineOptions& engine_options,
                             Stopper& stopper, bool* made, bool* is_crawl, CrawlProgress* last) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, Engine::Open(Env::Posix(), engine_options));
  RETURN_IF_ERROR(engine->AddSeeds(options.seeds));
  if (!*is_crawl) {
    const std::string path = JoinPath(options.dir, kConfigFile);
    RETURN_IF_ERROR(ReplaceFile(Env::Posix(), path, ConfigToToml(config)));
    if (HoldsSecrets(config)) {
      using std::filesystem::perms;
      std::error_code ignored;  // the directory may be on a file system without permissions
      std::filesystem::permissions(path, perms::owner_read | perms::owner_write, ignored);
    }
  }
  *made = false;  // from here on it is a crawl
  stopper.SetRunning(engine.get());
  LiveDisplay display(LiveDisplay::Choose(options.quiet));
  const std::string status_path = JoinPath(options.dir, kStatusFile);
  double status_at = -kStatusEvery;
  auto end = engine->Run([&](const CrawlProgress& progress) {
    *is_crawl = true;  // its first checkpoint stands
    *last = progress;
    display.Show(progress);
    if (progress.session_seconds - status_at < kStatusEvery) return;
    status_at = progress.session_seconds;
    WriteStatus(status_path, progress);
  });
  stopper.SetRunning(nullptr);
  if (!end) return std::unexpected(std::move(end).error());
  display.End(*end);
  WriteStatus(status_path, *end);
  SessionEnd result{*std::move(end), std::string(engine->shard().limit_reached())};
  if (options.summary) PrintSummary(result, options);
  return result;
}

}  // namespace

Result<SessionEnd> RunCrawlSession(const SessionOptions& options) {
  Config config = options.config;
  config.crawl.seeds = options.seeds;
  if (!options.resume && options.seeds.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no seeds: name a URL, or a file with --seeds");
  }
  RETURN_IF_ERROR(ValidateConfig(config));  // as it was asked for, before this machine's limits change it
  WarnOfIgnoredProxy(config);
  const uint64_t descriptors = RaiseDescriptorLimit();
  const ConnectionPlan plan = PlanConnections(descriptors, config.fetch.connections, LoopsOf(config),
                                              config.budget.enabled ? config.budget.queues : 0);
  if (plan.connections == 0 && config.fetch.connections > 0) {
    return Fail(ErrorCode::kIo, fmt::format("the system allows {} open files (ulimit -n), a crawl needs more than {}",
                                            descriptors, kDescriptorsForFiles));
  }
  const uint64_t wanted = config.fetch.connections;
  config.fetch.connections = plan.connections;
  ASSIGN_OR_RETURN(const uint64_t memory, MemoryFor(options.config));
  config.memory.total.bytes = memory;
  ASSIGN_OR_RETURN(EngineOptions engine_options, WireCrawl(config, options.dir, options.seeds, PORTOLAN_VERSION));
  engine_options.fetch.idle_connections = plan.idle;
  engine_options.fetch.dns.max_outstanding = plan.questions;
  // What this machine allows is no setting of the crawl: another one may have more.
  config.fetch.connections = wanted;
  config.memory = options.config.memory;
  if (plan.connections < wanted) {
    Log(LogLevel::kWarn, "fewer connections: the system allows few open files (ulimit -n)",
        {{"connections", plan.connections}, {"open_files", descriptors}});
  }
  engine_options.reserve_bytes = ReserveOf(engine_options);

  bool made = false;
  RETURN_IF_ERROR(CheckDirectory(options, &made));
  if (options.resume) RETURN_IF_ERROR(CheckState(engine_options));
  // What fails before the first fetch leaves nothing behind. Declared before the engine, whose files it removes.
  const auto remove = [&options](const bool* dir_is_ours) {
    std::error_code ignored;
    if (*dir_is_ours) std::filesystem::remove_all(options.dir, ignored);
  };
  const std::unique_ptr<bool, decltype(remove)> half_made(&made, remove);
  // Declared before the engine, so that its threads inherit the blocked signals; told about it once it is there.
  Stopper stopper;
  SignalThread signals([&] { stopper.Stop(); });
  bool is_crawl = options.resume;  // there is something to go on with
  CrawlProgress last;
  for (;;) {
    auto end = RunEngine(options, config, engine_options, stopper, &made, &is_crawl, &last);
    if (end) return end;
    if (!is_crawl) return std::unexpected(std::move(end).error());
    if (end.error().code() != ErrorCode::kNoSpace || stopper.stopped()) {
      const bool disk = end.error().code() == ErrorCode::kNoSpace || end.error().code() == ErrorCode::kIo ||
                        end.error().code() == ErrorCode::kReadOnly;
      return std::unexpected(disk ? AtCheckpoint(end.error(), options.dir) : std::move(end).error());
    }
    Log(LogLevel::kWarn, "the disk is full: back to the last checkpoint", {{"why", end.error().message()}});
    const auto tell = [&](std::string state) {
      last.state = std::move(state);
      WriteStatus(JoinPath(options.dir, kStatusFile), last);
    };
    if (WaitForMoreRoom(engine_options, stopper, tell)) continue;
    return std::unexpected(AtCheckpoint(end.error(), options.dir));
  }
}

namespace {

// Of a crawl without a single page: what became of its first seed, or of the robots.txt before it. Empty: the log does
// not say.
std::string WhyNothing(const SessionOptions& options) {
  const std::string& seed = options.seeds.front();
  for (const std::string& url : {std::string(OriginOf(seed)) + "/robots.txt", seed}) {
    std::string last;
    const auto keep = [&](std::string_view line) { last = line; };
    if (!ForEachLogLine(Env::Posix(), JoinPath(options.dir, "log"), url, keep)) return {};
    const auto line = nlohmann::json::parse(last, nullptr, false);
    if (!line.is_object()) continue;
    const std::string outcome = line.value("outcome", "?");
    const bool answered = outcome == FetchOutcomeName(FetchOutcome::kAnswered);
    if (answered && url != seed) continue;
    const bool forbidden = outcome == FetchOutcomeName(FetchOutcome::kAddressForbidden);
    return fmt::format("{}: {}{}", url, answered ? line.value("status", nlohmann::json()).dump() : outcome,
                       forbidden ? " (no public address; --allow-private crawls it all the same)" : "");
  }
  return {};
}

}  // namespace

void PrintSummary(const SessionEnd& end, const SessionOptions& options) {
  const CrawlProgress& progress = end.progress;
  if (options.json) {
    fmt::print("{}\n", ProgressToJson(progress));
    return;
  }
  const CrawlCounts& counts = progress.counts;
  const char* why = progress.state != "done" ? "stopped" : end.limit.empty() ? "nothing is left to fetch" : "";
  fmt::print("{}: {}, {} received, in {}{}{}\n", progress.state == "done" ? "done" : "stopped",
             Counted(counts.pages(), "page"), FormatBytes(counts.wire_bytes), FormatDuration(progress.seconds),
             end.limit.empty() ? "" : ", limit: ",
             end.limit.empty() ? (progress.state == "done" ? fmt::format(" ({})", why) : "") : end.limit);
  if (progress.state == "done" && counts.pages() == 0 && !options.seeds.empty()) {
    if (const std::string nothing = WhyNothing(options); !nothing.empty()) fmt::print("  why       {}\n", nothing);
  }
  for (const HostTrouble& trouble : progress.unreachable_hosts) {
    fmt::print("  given up  {} ({})\n", trouble.what, trouble.why);
  }
  for (const LeftOut& left_out : progress.left_out) fmt::print("  left out  {}\n", LeftOutWords(left_out));
  if (options.config.archive.enabled) {
    for (const std::string& directory : options.config.archive.directories) {
      fmt::print("  archive   {}\n", ArchiveDirectory(options.dir, directory));
    }
  }
  if (options.config.log.fetches) fmt::print("  log       {}\n", JoinPath(options.dir, "log"));
  if (progress.waiting + progress.at_gate + progress.unanswered > 0) {
    fmt::print("  go on     portolan resume {}\n", options.dir);
  }
}

}  // namespace portolan
