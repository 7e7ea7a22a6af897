#include "cli/local_cluster.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/cluster_view.h"
#include "cli/cluster_work.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_summary.h"
#include "cli/engine_setup.h"
#include "cli/live_display.h"
#include "cli/nats_flags.h"
#include "cli/shard_dirs.h"
#include "cli/stop_request.h"
#include "cluster/node_record.h"
#include "cluster/shard_place.h"
#include "crawl/wiring.h"
#include "io/child_process.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/rng.h"
#include "io/small_file.h"
#include "io/stop_signals.h"

namespace portolan {
namespace {

constexpr int64_t kLocalLeaseMs = 2'000;  // nothing is between the nodes and the server
constexpr int64_t kWatchNs = 100 * kMillisecond;
constexpr int64_t kViewNs = kSecond;
constexpr int64_t kServerLookNs = 50 * kMillisecond;
constexpr int64_t kServerStartNs = 20 * kSecond;
constexpr int64_t kStopNs = 120 * kSecond;  // for the nodes to stop cleanly
constexpr int64_t kRestartNs = 500 * kMillisecond;
constexpr int kMostDeaths = 20;  // of one child within kDeathWindowNs: then something is wrong with it
constexpr int64_t kDeathWindowNs = 120 * kSecond;

struct LocalFile {
  uint32_t nodes = 0;
  uint32_t shards = 0;
  std::string password;
};

std::string EncodeLocalFile(const LocalFile& file) {
  return fmt::format("portolan-local 1 nodes={} shards={} password={}\n", file.nodes, file.shards, file.password);
}

Result<LocalFile> ReadLocalFile(const std::string& dir) {
  const std::string path = JoinPath(dir, kLocalFile);
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(Env::Posix(), path));
  char password[65] = {};
  LocalFile file;
  if (std::sscanf(text.c_str(), "portolan-local 1 nodes=%u shards=%u password=%64s", &file.nodes, &file.shards,
                  password) == 3) {
    file.password = password;
  }
  if (file.nodes == 0 || file.nodes > kMostLocalNodes || EncodeLocalFile(file) != text) {
    return Fail(ErrorCode::kCorrupt, path + ": does not describe a crawl with nodes");
  }
  return file;
}

// A program beside this one that is started again when it dies.
struct Child {
  std::string name;
  ChildProcess::Options options;
  std::unique_ptr<ChildProcess> process;  // null: it does not run
  std::vector<int64_t> deaths;
  int64_t start_at_ns = 0;
  bool finished = false;     // it ended by itself, and well
  int64_t processor_ns = 0;  // of all its processes that ended
};

class LocalCluster {
 public:
  LocalCluster(LocalClusterOptions& options, StopRequest& stop, Alarm& alarm)
      : options_(options), stop_(stop), alarm_(alarm) {}

  Result<ClusterView> Run();
  int exit_code() const { return exit_code_; }  // of a node that failed
  double NodesSeconds() const {                 // of processor time
    int64_t sum = 0;
    for (const Child& node : nodes_) sum += node.processor_ns;
    return static_cast<double>(sum) * 1e-9;
  }
  double ServerSeconds() const { return static_cast<double>(server_.processor_ns) * 1e-9; }

 private:
  Status Prepare();
  Status StartServer();
  Status OpenOrMake();
  Status MakeNodes();
  Status Watch(Child& child);
  Status WatchAll();
  void StopNodes();
  void Show(LiveDisplay& display, const std::string& state);
  std::string PathOf(const std::string& name) const { return JoinPath(options_.dir, name); }
  int64_t Now() const { return Clock::Real().NowNs(); }

  LocalClusterOptions& options_;
  StopRequest& stop_;
  Alarm& alarm_;
  std::unique_ptr<FileLock> lock_;
  LocalFile file_;
  std::string url_;
  std::unique_ptr<OpenCluster> cluster_;
  Child server_;
  std::vector<Child> nodes_;
  std::optional<ClusterView> view_;
  int64_t view_at_ns_ = 0;
  int64_t began_ns_ = 0;
  std::optional<uint64_t> pages_before_;
  int exit_code_ = kExitOk;
};

Status LocalCluster::Prepare() {
  Env& env = Env::Posix();
  if (options_.resume) {
    ASSIGN_OR_RETURN(file_, ReadLocalFile(options_.dir));
  } else {
    const auto names = env.List(options_.dir);
    if (HoldsLocalCluster(options_.dir)) {
      return Fail(ErrorCode::kExists, fmt::format("{0}: a crawl is here already. Go on with 'portolan resume {0}', or "
                                                  "choose another --dir",
                                                  options_.dir));
    }
    if (names && !names->empty()) {
      return Fail(ErrorCode::kExists, options_.dir + ": is not empty and holds no crawl: choose another --dir");
    }
    ASSIGN_OR_RETURN(const auto random, SystemRandomWords());
    const auto shards = static_cast<uint32_t>(options_.config.crawl.shards);
    file_ = {.nodes = options_.nodes,
             .shards = std::max(options_.nodes, shards),
             .password = fmt::format("{:016x}{:016x}", random[0], random[1])};
  }
  RETURN_IF_ERROR(env.CreateDirs(PathOf("nats")));
  auto lock = env.Lock(PathOf("local.lock"));
  if (!lock) {
    if (lock.error().code() != ErrorCode::kBusy) return std::unexpected(lock.error());
    return Fail(ErrorCode::kBusy, options_.dir + ": another portolan works on this crawl");
  }
  lock_ = *std::move(lock);
  if (!options_.resume) {
    RETURN_IF_ERROR(ReplaceSmallFile(PathOf(kLocalFile), EncodeLocalFile(file_), {.secret = true, .durable = true}));
  }
  return {};
}

Status LocalCluster::StartServer() {
  const std::string program = FindProgram("nats-server");
  if (program.empty()) {
    return Fail(ErrorCode::kIo, "nats-server is not installed: --nodes needs it (Debian package nats-server)");
  }
  const uint16_t port = FreeLoopbackPort();
  if (port == 0) return Fail(ErrorCode::kIo, "no port of 127.0.0.1 is free");
  const std::string settings = fmt::format(
      "listen: \"127.0.0.1:{}\"\nauthorization {{ user: portolan, password: \"{}\" }}\n"
      "jetstream {{ store_dir: \"{}\" }}\n",
      port, file_.password, PathOf("nats/store"));
  RETURN_IF_ERROR(ReplaceSmallFile(PathOf("nats/server.conf"), settings, {.secret = true}));
  url_ = fmt::format("nats://portolan:{}@127.0.0.1:{}", file_.password, port);
  server_ = {.name = "nats-server",
             .options = {.words = {program, "-c", PathOf("nats/server.conf")}, .output = PathOf("nats/log")}};
  return Watch(server_);
}

Status LocalCluster::OpenOrMake() {
  const int64_t until_ns = Now() + kServerStartNs;
  NatsOptions nats{.url = url_, .name = "portolan crawl", .retry_ns = 100 * kMillisecond};
  if (!options_.resume) {
    auto connection = NatsConnection::Connect(nats, Clock::Real(), [&](const NatsWait&) {
      return !stop_.WaitFor(kServerLookNs) && Now() < until_ns && !server_.process->Ended();
    });
    if (!connection) return std::unexpected(std::move(connection).error());
    ASSIGN_OR_RETURN(const uint64_t seeds, MakeCluster(**connection,
                                                       {.name = kLocalCluster,
                                                        .shards = file_.shards,
                                                        .nodes = file_.nodes,
                                                        .lease_ms = kLocalLeaseMs,
                                                        .version = PORTOLAN_VERSION},
                                                       options_.config, options_.given));
    Log(LogLevel::kInfo, "crawling with several nodes",
        {{"nodes", file_.nodes}, {"shards", file_.shards}, {"seeds", seeds}});
  }
  // All nodes are of this program, so its version is the cluster's from now on.
  ASSIGN_OR_RETURN(OpenCluster open, OpenClusterOf(nats, kLocalCluster, "", &stop_));
  cluster_ = std::make_unique<OpenCluster>(std::move(open));
  RETURN_IF_ERROR(cluster_->store->Put(kVersionKey, PORTOLAN_VERSION));
  return cluster_->store->Put(kControlKey, EncodeControl({}));
}

Status LocalCluster::MakeNodes() {
  ASSIGN_OR_RETURN(const Config config, ConfigOfCluster(cluster_->settings));
  ASSIGN_OR_RETURN(const uint64_t memory, MemoryFor(config));
  const uint32_t capacity = (file_.shards + file_.nodes - 1) / file_.nodes;
  for (uint32_t i = 1; i <= file_.nodes; ++i) {
    Child child{.name = fmt::format("node-{}", i), .options = {}};
    child.options.words = {
        ThisProgram(),   "node",
        "--cluster",     kLocalCluster,
        "--dir",         PathOf(child.name),
        "--name",        child.name,
        "--capacity",    std::to_string(capacity),
        "--memory",      std::to_string(memory / file_.nodes),
        "--connections", std::to_string(std::max<uint64_t>(1, config.fetch.connections / file_.nodes)),
        "--loops",       std::to_string(std::max<uint64_t>(1, LoopsOf(config) / file_.nodes))};
    child.options.environment = {{kNatsVariable, url_}};
    child.options.output = PathOf(child.name + ".log");
    nodes_.push_back(std::move(child));
  }
  return {};
}

// Starts it if it does not run. An error: it ends again and again, or says that it cannot go on.
Status LocalCluster::Watch(Child& child) {
  if (child.finished) return {};
  if (child.process) {
    const auto ending = child.process->Ended();
    if (!ending) return {};
    child.processor_ns += ending->processor_ns;
    child.process.reset();
    const bool is_node = &child != &server_;
    if (is_node && !ending->signalled) {
      child.finished = true;
      if (ending->code == kExitOk) return {};
      exit_code_ = ending->code;
      return Fail(ErrorCode::kIo, fmt::format("{} ended with exit code {}: the last lines of {} say why", child.name,
                                              ending->code, child.options.output));
    }
    child.deaths.push_back(Now());
    std::erase_if(child.deaths, [&](int64_t at) { return at < Now() - kDeathWindowNs; });
    if (child.deaths.size() > kMostDeaths) {
      return Fail(ErrorCode::kIo,
                  fmt::format("{} ends again and again: {} says why", child.name, child.options.output));
    }
    if (stop_.made() && is_node) {
      child.finished = true;  // killed while it stopped: 'resume' goes on from its last checkpoint
      return {};
    }
    Log(LogLevel::kWarn, "a process ended and is started again",
        {{"process", child.name}, {"signal", ending->signalled ? ending->code : 0}});
    child.start_at_ns = Now() + kRestartNs;
  }
  if (Now() < child.start_at_ns) return {};
  ASSIGN_OR_RETURN(child.process, ChildProcess::Start(child.options));
  return {};
}

Status LocalCluster::WatchAll() {
  RETURN_IF_ERROR(Watch(server_));
  for (Child& node : nodes_) RETURN_IF_ERROR(Watch(node));
  return {};
}

void LocalCluster::StopNodes() {
  for (Child& node : nodes_) {
    if (node.process) node.process->Signal(SIGTERM);
  }
}

void LocalCluster::Show(LiveDisplay& display, const std::string& state) {
  if (Now() >= view_at_ns_ && cluster_->connection->status().state == NatsState::kConnected) {
    if (auto view = ViewCluster(*cluster_)) view_ = *std::move(view);
    view_at_ns_ = Now() + kViewNs;
  }
  if (!view_) return;
  CrawlProgress progress;
  progress.state = state.empty() ? view_->state : state;
  progress.session_seconds = progress.seconds = static_cast<double>(Now() - began_ns_) * 1e-9;
  progress.counts.done[static_cast<size_t>(CountAs::kFetched)] = view_->pages;
  progress.counts.wire_bytes = view_->wire_bytes;
  if (!pages_before_) pages_before_ = view_->pages;
  progress.session_start.done[static_cast<size_t>(CountAs::kFetched)] = *pages_before_;
  progress.urls_seen = view_->urls_seen;
  progress.waiting = view_->waiting;
  progress.at_gate = view_->at_gate;
  progress.unanswered = view_->unanswered;
  progress.in_flight = view_->in_flight;
  progress.shards = file_.shards;
  display.Show(progress);
}

Result<ClusterView> LocalCluster::Run() {
  began_ns_ = Now();
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(StartServer());
  RETURN_IF_ERROR(OpenOrMake());
  RETURN_IF_ERROR(MakeNodes());
  LiveDisplay display(LiveDisplay::Choose(options_.quiet));
  Status failed;
  bool stopping = false;
  int64_t kill_at_ns = 0;
  const auto all_ended = [this] {
    return std::ranges::all_of(nodes_, [](const Child& node) { return node.finished || !node.process; });
  };
  for (;;) {
    if (!stopping) {
      if (const Status status = WatchAll(); !status) failed = status;
      if (!failed || stop_.made()) {
        stopping = true;
        kill_at_ns = Now() + kStopNs;
        StopNodes();
      } else if (std::ranges::all_of(nodes_, &Child::finished)) {
        break;
      }
    } else {
      // The server is needed until the last node has ended.
      if (const Status status = Watch(server_); !status && failed) failed = status;
      for (Child& node : nodes_) {
        if (!node.process || !node.process->Ended()) continue;
        node.processor_ns += node.process->Ended()->processor_ns;
        node.process.reset();
      }
      if (all_ended()) break;
      if (Now() > kill_at_ns) {
        Log(LogLevel::kWarn, "nodes do not stop: they are killed, and 'resume' goes on from their last checkpoints",
            {});
        for (Child& node : nodes_) node.process.reset();
      }
    }
    Show(display, stopping ? "stopping" : "");
    alarm_.WaitFor(kWatchNs);
  }
  if (failed) {
    ASSIGN_OR_RETURN(view_, ViewCluster(*cluster_));
  }
  cluster_.reset();
  if (server_.process) {
    server_.process->Signal(SIGTERM);
    if (server_.process->Wait(10 * kSecond)) server_.processor_ns += server_.process->Ended()->processor_ns;
    server_.process.reset();
  }
  RETURN_IF_ERROR(failed);
  return *view_;
}

// Of a crawl without a page: what the logs of the shards say of its first seeds.
std::vector<SeedFailures::One> WhyNoPage(const std::string& dir) {
  std::vector<SeedFailures::One> failures;
  const std::vector<std::string> shards = ShardDirsIn(dir);
  if (shards.empty()) return failures;
  const auto config = LoadCrawlConfig(shards.front());
  if (!config) return failures;
  for (const std::string& seed : config->crawl.seeds) {
    const auto owner = ShardDirFor(shards, seed);
    if (!owner) continue;
    const SeedFailures one = WhySeedsFailed(*owner, *config, {seed}, 1);
    failures.insert(failures.end(), one.first.begin(), one.first.end());
    if (failures.size() == SeedFailures::kMost) break;
  }
  return failures;
}

void PrintEnd(const ClusterView& view, const LocalClusterOptions& options, double seconds,
              const LocalCluster& cluster) {
  const bool done = view.state == "done";
  const std::vector<SeedFailures::One> failures =
      done && view.pages == 0 ? WhyNoPage(options.dir) : std::vector<SeedFailures::One>();
  if (options.json) {
    auto json = ClusterViewToJson(view, kLocalCluster);
    json["seconds"] = seconds;
    json["nodes_processor_s"] = cluster.NodesSeconds();
    json["nats_processor_s"] = cluster.ServerSeconds();
    json["seeds_failed"] = nlohmann::ordered_json::array();
    for (const SeedFailures::One& one : failures) json["seeds_failed"].push_back({{"url", one.url}, {"why", one.why}});
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}: {}, {} received, in {}{}\n", done ? "done" : "stopped", Counted(view.pages, "page"),
             FormatBytes(view.wire_bytes), FormatDuration(seconds),
             done                                ? " (nothing is left to fetch)"
             : view.state.starts_with("a limit") ? ", " + view.state
                                                 : std::string());
  for (const SeedFailures::One& one : failures) fmt::print("  why       {}: {}\n", one.url, one.why);
  for (const ClusterView::Shard& shard : view.shards) {
    if (shard.node.empty()) continue;
    fmt::print("  shard {:<3} {}: {}\n", shard.shard,
               JoinPath(JoinPath(options.dir, shard.node), ShardDirName(shard.shard)), Counted(shard.pages, "page"));
  }
  if (!done) fmt::print("  go on     portolan resume {}\n", options.dir);
}

}  // namespace

bool HoldsLocalCluster(const std::string& dir) { return Env::Posix().Exists(JoinPath(dir, kLocalFile)); }

int RunLocalCluster(LocalClusterOptions options) {
  MakeWritesFailQuietly();
  StopRequest stop;
  Alarm alarm;
  const StopSignals signals([&](int /*request*/) {
    stop.Make();
    alarm.Ring();
  });
  const int64_t begin_ns = Clock::Real().NowNs();
  LocalCluster cluster(options, stop, alarm);
  const auto view = cluster.Run();
  if (!view) {
    const int code = ComplainOfNats(view.error());
    return cluster.exit_code() != kExitOk ? cluster.exit_code() : code;
  }
  PrintEnd(*view, options, static_cast<double>(Clock::Real().NowNs() - begin_ns) * 1e-9, cluster);
  return view->state == "done" && view->pages == 0 ? kExitVerdict : kExitOk;
}

}  // namespace portolan
