#include "cluster/exchange_thread.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "cluster/cluster_exchange.h"

namespace portolan {
namespace {

// How long Work may wait for messages while a checkpoint or something to be sent has to wait for it.
constexpr int64_t kWaitNs = 20 * kMillisecond;

}  // namespace

void ExchangeThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ExchangeThread::Start(ClusterExchange& exchange) {
  CHECK(!thread_.joinable());
  thread_ = std::thread([this, &exchange] { Run(exchange); });
}

void ExchangeThread::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_one();
}

void ExchangeThread::Run(ClusterExchange& exchange) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      woken_ = false;
    }
    const auto begin = std::chrono::steady_clock::now();
    const int64_t next_ns = exchange.Work(kWaitNs);
    // It waits for messages inside, unless the shard must take some first, or it failed.
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
    const int64_t wait_ns = std::min(next_ns, kWaitNs - spent.count());
    std::unique_lock lock(mutex_);
    if (wait_ns > 0) wake_.wait_for(lock, std::chrono::nanoseconds(wait_ns), [&] { return woken_ || stop_; });
  }
}

}  // namespace portolan
