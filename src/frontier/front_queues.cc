#include "frontier/front_queues.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace portolan {

Result<std::unique_ptr<FrontQueues>> FrontQueues::Open(Env& env, const Manifest& manifest, const Options& options) {
  if (options.queues == 0 || options.queues > kMaxQueues) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} front queues; 1 to {}", options.queues, kMaxQueues));
  }
  std::unique_ptr<FrontQueues> front(new FrontQueues(options.seed));
  for (uint32_t i = 0; i < options.queues; ++i) {
    DiskQueue::Options queue_options;
    queue_options.name = fmt::format("{}-front{:02}", options.name, i);
    queue_options.segment_size = options.segment_size;
    ASSIGN_OR_RETURN(auto queue, DiskQueue::Open(env, manifest, queue_options));
    front->on_disk_ += queue->size();
    front->queues_.push_back(std::move(queue));
  }
  return front;
}

Status FrontQueues::Add(uint32_t priority, std::string_view record) {
  if (on_disk_ == 0 && drawn_.size() < kDirect) {
    drawn_.emplace_back(record);
    return {};
  }
  RETURN_IF_ERROR(queues_[std::min<size_t>(priority, queues_.size() - 1)]->Append(record));
  ++on_disk_;
  return {};
}

size_t FrontQueues::Draw() {
  uint64_t total = 0;
  uint64_t full = 0;  // one bit per queue that is not empty
  for (size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i]->size() == 0) continue;
    full |= uint64_t{1} << i;
    total += uint64_t{1} << (queues_.size() - 1 - i);
  }
  CHECK(full != 0);
  uint64_t ticket = rng_.Below(total);
  for (size_t i = 0;; ++i) {
    if ((full >> i & 1) == 0) continue;
    const uint64_t weight = uint64_t{1} << (queues_.size() - 1 - i);
    if (ticket < weight) return i;
    ticket -= weight;
  }
}

Result<const std::string*> FrontQueues::Next() {
  if (drawn_.empty()) {
    if (on_disk_ == 0) return nullptr;
    DiskQueue& queue = *queues_[Draw()];
    // One by one: if reading fails in the middle of a batch, the queue would lose the records that it had already read.
    for (size_t i = 0; i < kBatch; ++i) {
      auto record = queue.Pop(1);
      if (!record && drawn_.empty()) return std::unexpected(std::move(record).error());
      if (!record || record->empty()) break;
      drawn_.push_back(std::move(record->front()));
      --on_disk_;
    }
  }
  return &drawn_.front();
}

void FrontQueues::AppendTo(std::vector<Checkpointable*>& all) const {
  for (const auto& queue : queues_) all.push_back(queue.get());
}

}  // namespace portolan
