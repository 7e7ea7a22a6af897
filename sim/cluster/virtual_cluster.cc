#include "sim/cluster/virtual_cluster.h"

#include <algorithm>
#include <utility>

namespace portolan::sim {

VirtualCluster::VirtualCluster(const World& world, VirtualTime& time, HitSink& judge, const Options& options)
    : world_(world), time_(time), judge_(judge), options_(options), nats_(time, options.nats) {
  nodes_.resize(options.crawl.shards);
  for (uint32_t shard = 0; shard < nodes_.size(); ++shard) {
    nodes_[shard].env = std::make_unique<MemEnv>();
    nodes_[shard].clock =
        std::make_unique<MachineClock>(time, options.clocks.empty() ? MachineClock::Options() : options.clocks[shard]);
  }
}

VirtualCluster::~VirtualCluster() {
  for (Node& node : nodes_) node.crawl.reset();
}

// As a lease: reached_ns is the last moment at which a renewal could be sent.
bool VirtualCluster::Held(uint32_t shard, uint64_t epoch) {
  Node& node = nodes_[shard];
  if (node.epoch != epoch) return false;
  if (nats_.Reachable(shard)) node.reached_ns = time_.NowNs();
  return time_.NowNs() < node.reached_ns + options_.lease_ns;
}

Status VirtualCluster::Start(uint32_t shard) {
  Node& node = nodes_[shard];
  const uint64_t epoch = ++node.epoch;
  node.reached_ns = time_.NowNs();
  node.transport = nats_.Connect(shard, *node.clock);
  VirtualCrawl::Options options = options_.crawl;
  options.alone = shard;
  options.clock = node.clock.get();
  options.shard.frontier.epoch = epoch;
  options.make_exchange = [&, epoch](
                              Env& env, const Manifest& manifest,
                              const VirtualCrawl::Options::Wakes& wakes) -> Result<std::unique_ptr<ShardExchange>> {
    ClusterExchangeOptions exchange = options_.exchange;
    exchange.cluster = "web";
    exchange.cluster_id = 7;
    exchange.shards = options_.crawl.shards;
    exchange.shard = shard;
    exchange.epoch = epoch;
    exchange.held = [this, shard, epoch] { return Held(shard, epoch); };
    if (options_.copies) exchange.copied = [this, shard] { return nodes_[shard].copied; };
    exchange.wake_shard = wakes.shard;
    exchange.wake_driver = wakes.driver;
    exchange.wake_worker = [this, shard] { WorkAt(shard, time_.NowNs()); };
    ASSIGN_OR_RETURN(auto opened, ClusterExchange::Open(env, manifest, *node.transport, exchange));
    node.exchange = opened.get();
    return opened;
  };
  auto crawl = VirtualCrawl::Open(*node.env, world_, time_, judge_, options);
  if (!crawl) return std::unexpected<Error>(crawl.error());
  node.crawl = std::move(*crawl);
  node.work_ns = -1;
  // Shard 0 has the seeds; one that is known is ignored.
  if (shard == 0) RETURN_IF_ERROR(node.crawl->Seed());
  RETURN_IF_ERROR(node.crawl->Begin());
  WorkAt(shard, time_.NowNs());
  return {};
}

void VirtualCluster::StartLater(uint32_t shard, int64_t at_ns) {
  time_.At(at_ns, [this, shard] {
    const Status started = Start(shard);
    if (started) return;
    Node& node = nodes_[shard];
    node.crawl.reset();
    node.transport.reset();
    CHECK(started.error().code() == ErrorCode::kClosed, "shard {}: {}", shard, started.error().ToString());
    StartLater(shard, time_.NowNs() + kSecond);
  });
}

void VirtualCluster::WorkAt(uint32_t shard, int64_t at_ns) {
  Node& node = nodes_[shard];
  if (node.work_ns > time_.NowNs() && node.work_ns <= at_ns) return;
  node.work_ns = std::max(at_ns, time_.NowNs() + 1);
  time_.At(node.work_ns, [this, shard, epoch = node.epoch] {
    Node& now = nodes_[shard];
    if (now.crawl == nullptr || now.epoch != epoch || now.over || now.work_ns != time_.NowNs()) return;
    constexpr int64_t kLeastNs = 1'000'000;
    const int64_t next_ns = now.exchange->Work();
    if (next_ns < 3600 * kSecond) WorkAt(shard, time_.NowNs() + std::max(next_ns, kLeastNs));
  });
}

Status VirtualCluster::Begin() {
  for (uint32_t shard = 0; shard < nodes_.size(); ++shard) RETURN_IF_ERROR(Start(shard));
  return {};
}

void VirtualCluster::TakeCopy(uint32_t shard) {
  Node& node = nodes_[shard];
  if (node.crawl == nullptr) return;
  auto copy = node.env->CrashedCopy(CrashMode::kKeepAll);
  const auto checkpoint = CheckpointOfState(*copy, options_.crawl.state_dir);
  if (!checkpoint || checkpoint->serial == 0) return;
  node.copy = std::move(copy);
  node.copied = *checkpoint;
}

void VirtualCluster::Lose(uint32_t shard) {
  if (nodes_[shard].crawl != nullptr) End(shard, nodes_[shard].copy->CrashedCopy(CrashMode::kKeepAll));
}

void VirtualCluster::Kill(uint32_t shard, CrashMode mode) {
  if (nodes_[shard].crawl != nullptr) End(shard, nodes_[shard].env->CrashedCopy(mode, ++crash_seed_));
}

void VirtualCluster::End(uint32_t shard, std::unique_ptr<MemEnv> left) {
  Node& node = nodes_[shard];
  ++deaths_;
  const auto counters = node.exchange->counters();
  total_.resent += counters.resent;
  total_.duplicates += counters.duplicates;
  total_.old_epochs += counters.old_epochs;
  total_.spilled += counters.spilled;
  total_.notices_sent += counters.notices_sent;
  total_.clock_jumps += counters.clock_jumps;
  node.crawl.reset();
  node.transport.reset();
  node.exchange = nullptr;
  node.env = std::move(left);
  node.over = false;
  const int64_t lost_ns = std::max(node.reached_ns + options_.lease_ns, time_.NowNs());
  StartLater(shard, lost_ns + options_.claim_ns);
}

void VirtualCluster::AddCounters() {
  for (Node& node : nodes_) {
    if (node.crawl == nullptr) continue;
    const auto counters = node.exchange->counters();
    total_.resent += counters.resent;
    total_.duplicates += counters.duplicates;
    total_.old_epochs += counters.old_epochs;
    total_.spilled += counters.spilled;
    total_.notices_sent += counters.notices_sent;
    total_.clock_jumps += counters.clock_jumps;
  }
}

Result<bool> VirtualCluster::Step() {
  if (!time_.Step()) return Fail(ErrorCode::kClosed, "the crawl is not done, and nothing will ever happen again");
  ++events_;
  bool all_over = true;
  for (uint32_t shard = 0; shard < nodes_.size(); ++shard) {
    Node& node = nodes_[shard];
    if (node.crawl == nullptr) {
      all_over = false;
      continue;
    }
    if (node.over) continue;
    const Status status = node.crawl->AfterEvent();
    if (!status && status.error().code() == ErrorCode::kClosed) {
      // It lost its shard, and stops without a checkpoint.
      Kill(shard, CrashMode::kTorn);
      all_over = false;
      continue;
    }
    RETURN_IF_ERROR(status);
    if (node.crawl->over()) {
      RETURN_IF_ERROR(node.crawl->Finish());
      node.over = true;
    }
    all_over = all_over && node.over;
  }
  return !all_over;
}

Status VirtualCluster::Run(uint64_t max_events) {
  for (uint64_t step = 0; step < max_events; ++step) {
    ASSIGN_OR_RETURN(const bool more, Step());
    if (!more) return {};
  }
  return Fail(ErrorCode::kBusy, "not over in time");
}

}  // namespace portolan::sim
