// What the benchmark drives: Beast, or the two queues that it replaced.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "budget/beast.h"

namespace portolan::bench {

struct QueueTraffic {
  uint64_t raw = 0;   // bytes of records written and read, as the theorems count
  uint64_t disk = 0;  // bytes of files written and read
};

class BudgetedQueues {
 public:
  virtual ~BudgetedQueues() = default;
  virtual Status Place(std::string_view record, const BudgetVerdict& verdict) = 0;
  virtual Result<std::vector<std::string>> Pop(size_t max) = 0;
  virtual Result<std::vector<std::string>> PopFailed(size_t max) = 0;
  virtual uint64_t rescan_due() const = 0;  // before the next page
  virtual uint32_t tick() const = 0;
  virtual uint32_t horizon() const = 0;
  virtual uint64_t waiting() const = 0;  // URLs in all queues
  virtual QueueTraffic traffic() const = 0;
};

class BeastQueuesUnderTest : public BudgetedQueues {
 public:
  static Result<std::unique_ptr<BudgetedQueues>> Open(Env& env, const std::string& dir) {
    std::unique_ptr<BeastQueuesUnderTest> made(new BeastQueuesUnderTest);
    ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Open(env, dir));
    BeastOptions options;
    options.durable = false;
    ASSIGN_OR_RETURN(made->beast_, Beast::Open(env, manifest, options));
    return made;
  }

  Status Place(std::string_view record, const BudgetVerdict& verdict) override {
    return beast_->Place(record, verdict);
  }
  Result<std::vector<std::string>> Pop(size_t max) override { return beast_->Pop(max); }
  Result<std::vector<std::string>> PopFailed(size_t max) override { return beast_->PopFailed(max); }
  uint64_t rescan_due() const override { return beast_->RebudgetDue(); }
  uint32_t tick() const override { return beast_->tick(); }
  uint32_t horizon() const override { return beast_->horizon(); }
  uint64_t waiting() const override { return beast_->counts().queued + beast_->counts().failed + beast_->counts().out; }
  QueueTraffic traffic() const override {
    return {beast_->counts().raw_written + beast_->counts().raw_read,
            beast_->disk_bytes_written() + beast_->disk_bytes_read()};
  }

 private:
  std::unique_ptr<Beast> beast_;
};

}  // namespace portolan::bench
