#include "cluster/shard_leases.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cluster/node_record.h"
#include "io/process.h"

namespace portolan {

ShardLeases::ShardLeases(const LeaseOptions& options, std::unique_ptr<ClusterStore> store, const Clock& clock,
                         std::function<void()> changed)
    : clock_(clock),
      changed_(std::move(changed)),
      store_(std::move(store)),
      view_(options),
      leases_(options.shards),
      thread_([this] { Run(); }) {}

ShardLeases::~ShardLeases() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

std::optional<uint64_t> ShardLeases::Held(uint32_t shard) const {
  const std::lock_guard lock(mutex_);
  const Lease& lease = leases_[shard];
  if (clock_.NowNs() >= lease.until) return std::nullopt;
  return lease.epoch;
}

void ShardLeases::Release(uint32_t shard) {
  const std::lock_guard lock(mutex_);
  leases_[shard].until = 0;  // at once
  std::erase_if(requests_, [&](const auto& request) { return request.first == shard; });
  requests_.emplace_back(shard, false);
  wake_.notify_all();
}

void ShardLeases::Want(uint32_t shard) {
  const std::lock_guard lock(mutex_);
  // After a Release that waits here, not in its place: a belief that was ended does not come back.
  std::erase(requests_, std::pair<uint32_t, bool>(shard, true));
  requests_.emplace_back(shard, true);
  wake_.notify_all();
}

std::string ShardLeases::Describe(uint32_t shard) const {
  const std::lock_guard lock(mutex_);
  return leases_[shard].seen;
}

std::string ShardLeases::Trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void ShardLeases::Publish() {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    for (uint32_t i = 0; i < leases_.size(); ++i) {
      Lease& lease = leases_[i];
      const bool released =
          std::ranges::any_of(requests_, [&](const auto& request) { return request.first == i && !request.second; });
      const int64_t until = released ? 0 : view_.HeldUntil(i);
      news |= (until != 0) != (lease.until != 0) || lease.epoch != view_.Epoch(i);
      lease.until = until;
      lease.epoch = view_.Epoch(i);
      lease.seen = view_.Seen(i) ? EncodeLease(*view_.Seen(i)) : std::string();
    }
  }
  if (news && changed_) changed_();
}

void ShardLeases::Do(const LeaseCommand& command) {
  const std::string key = LeaseKey(command.shard);
  std::string trouble;
  if (command.kind == LeaseCommand::Kind::kRead) {
    const auto entry = store_->Read(key);
    if (entry) {
      const auto record = DecodeLease(entry->value);
      if (record) {
        view_.Read(command.shard, entry->revision, record, clock_.NowNs());
      } else {
        // Written by something else: nobody may claim the shard until someone has looked.
        trouble = fmt::format("{} in the bucket is not a lease", key);
        view_.ReadFailed(command.shard, clock_.NowNs());
      }
    } else if (entry.error().code() == ErrorCode::kNotFound) {
      view_.Read(command.shard, 0, std::nullopt, clock_.NowNs());
    } else {
      trouble = entry.error().message();
      view_.ReadFailed(command.shard, clock_.NowNs());
    }
  } else {
    const StoreWrite write = store_->CompareAndSet(key, EncodeLease(command.record), command.expected);
    if (write.outcome == WriteOutcome::kUnknown) trouble = write.reason;
    view_.Written(command.shard, write.outcome, write.revision, clock_.NowNs());
  }
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

void ShardLeases::Run() {
  NameThread("leases");
  while (true) {
    for (const LeaseCommand& command : view_.Turn(clock_.NowNs())) {
      Do(command);
      Publish();
    }
    Publish();
    std::vector<std::pair<uint32_t, bool>> requests;
    {
      std::unique_lock lock(mutex_);
      if (stop_) return;
      if (requests_.empty()) {
        const int64_t wait = view_.NextTurn() - clock_.NowNs();
        if (wait > 0) {
          wake_.wait_for(lock, std::chrono::nanoseconds(std::min<int64_t>(wait, kSecond)),
                         [&] { return stop_ || !requests_.empty(); });
        }
      }
      if (stop_) return;
      requests = std::exchange(requests_, {});
    }
    for (const auto& [shard, wanted] : requests) {
      if (wanted) {
        view_.Want(shard);
      } else {
        view_.Release(shard, clock_.NowNs());
      }
    }
  }
}

}  // namespace portolan
