// The rival: budgets as IRLbot enforced them first (thesis, ch. VII.2). URLs that pass their budget wait in Q, the
// others in Q_F; each time Q is emptied, all of Q_F is read and split again. On the same DiskQueue as Beast.
//
// Q is two queues that take turns: one is crawled while the other takes what passes for the next turn.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/budget/budgeted_queues.h"
#include "disk/queue.h"
#include "io/counting_env.h"

namespace portolan::bench {

class NaiveBudget : public BudgetedQueues {
 public:
  static Result<std::unique_ptr<BudgetedQueues>> Open(Env& env, const std::string& dir) {
    std::unique_ptr<NaiveBudget> made(new NaiveBudget(env));
    ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Open(env, dir));
    DiskQueue::Options options;
    options.durable = false;
    options.block_size = BeastOptions().block_size;
    for (auto& queue : made->queues_) {
      options.name += 'q';
      ASSIGN_OR_RETURN(queue, DiskQueue::Open(made->env_, manifest, options));
    }
    options.name = "failed";
    ASSIGN_OR_RETURN(made->failed_, DiskQueue::Open(made->env_, manifest, options));
    return made;
  }

  Status Place(std::string_view record, const BudgetVerdict& verdict) override {
    raw_ += record.size();
    return (verdict.later ? *failed_ : *queues_[(tick_ + 1) % 2]).Append(record);
  }
  Result<std::vector<std::string>> Pop(size_t max) override {
    if (queues_[tick_ % 2]->size() == 0) {
      ++tick_;
      rescan_left_ = failed_->size();
    }
    return Take(*queues_[tick_ % 2], max);
  }
  Result<std::vector<std::string>> PopFailed(size_t max) override {
    const size_t count = std::min<uint64_t>(max, rescan_left_);
    rescan_left_ -= count;
    return Take(*failed_, count);
  }
  uint64_t rescan_due() const override { return rescan_left_; }
  uint32_t tick() const override { return tick_; }
  uint32_t horizon() const override { return 1; }
  uint64_t waiting() const override { return queues_[0]->size() + queues_[1]->size() + failed_->size(); }
  QueueTraffic traffic() const override { return {raw_, env_.traffic()}; }

 private:
  explicit NaiveBudget(Env& env) : env_(env) {}
  Result<std::vector<std::string>> Take(DiskQueue& queue, size_t max) {
    ASSIGN_OR_RETURN(std::vector<std::string> records, queue.Pop(max));
    for (const std::string& record : records) raw_ += record.size();
    return records;
  }

  CountingEnv env_;
  std::unique_ptr<DiskQueue> queues_[2];
  std::unique_ptr<DiskQueue> failed_;  // Q_F
  uint32_t tick_ = 0;
  uint64_t rescan_left_ = 0;
  uint64_t raw_ = 0;
};

}  // namespace portolan::bench
