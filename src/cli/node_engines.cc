#include "cli/node_engines.h"

#include <algorithm>
#include <utility>

#include "cli/progress_sum.h"
#include "cli/shard_status.h"
#include "cluster/node_record.h"

namespace portolan {
namespace {

constexpr int64_t kStatusNs = 2 * kSecond;  // between two reports of a shard

}  // namespace

NodeEngines::NodeEngines(uint32_t shards, std::string node, ClusterStore& store)
    : node_(std::move(node)), store_(store), shards_(shards) {}

size_t NodeEngines::running() const {
  return static_cast<size_t>(std::ranges::count_if(shards_, [](const Shard& shard) { return shard.run != nullptr; }));
}

void NodeEngines::Start(ShardRunOptions options) {
  Shard& shard = shards_[options.shard];
  shard.used_epoch = options.epoch;
  auto run = ShardRun::Start(std::move(options));
  const std::lock_guard lock(mutex_);
  shard.run = std::move(run);
  if (stopped_) shard.run->RequestStop();
}

Result<SessionEnd> NodeEngines::TakeEnd(uint32_t index) {
  Shard& shard = shards_[index];
  Result<SessionEnd> end = shard.run->TakeEnd();
  if (const auto progress = shard.run->progress()) AddProgress(*progress, past_);
  Report(index);
  const std::lock_guard lock(mutex_);
  shard.run.reset();
  return end;
}

void NodeEngines::StopAll() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Shard& shard : shards_) {
    if (shard.run) shard.run->RequestStop();
  }
}

void NodeEngines::Report(uint32_t index) {
  Shard& shard = shards_[index];
  shard.status_at_ns = Clock::Real().NowNs() + kStatusNs;
  const auto progress = shard.run->progress();
  if (!progress) return;
  const std::string text = EncodeShardStatus({.shard = index,
                                              .node = node_,
                                              .epoch = shard.run->epoch(),
                                              .unix_s = Clock::Real().UnixNs() / kSecond,
                                              .progress = *progress,
                                              .counters = shard.run->counters(),
                                              .trouble = shard.run->Trouble()});
  static_cast<void>(store_.Put(StatusKey(index), text));
}

void NodeEngines::ReportDue() {
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].run && Clock::Real().NowNs() >= shards_[i].status_at_ns) Report(i);
  }
}

std::optional<CrawlProgress> NodeEngines::Sum() const {
  std::optional<CrawlProgress> sum;
  for (const Shard& shard : shards_) {
    const auto progress = shard.run ? shard.run->progress() : std::nullopt;
    if (!progress) continue;
    if (!sum) sum.emplace();
    AddProgress(*progress, *sum);
  }
  return sum;
}

}  // namespace portolan
