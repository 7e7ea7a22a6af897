#include "cluster/exchange_thread.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "cluster/cluster_exchange.h"
#include "io/process.h"

namespace portolan {
namespace {

// It rests so many times what the last call took, so that it is a twentieth of a core at most; links and addresses wait
// here.
constexpr int kRestTimes = 20;
constexpr std::chrono::nanoseconds kShortestRest = std::chrono::milliseconds(5);
constexpr std::chrono::nanoseconds kLongestRest = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::seconds(1);

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
  thread_ = std::thread([this, &exchange] {
    NameThread("exchange");
    Run(exchange);
  });
}

void ExchangeThread::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    if (!waiting_) return;
  }
  wake_.notify_one();
}

void ExchangeThread::Run(ClusterExchange& exchange) {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    woken_ = false;
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds next(exchange.Work());
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
    lock.lock();
    const std::chrono::nanoseconds rest = std::clamp(kRestTimes * spent, kShortestRest, kLongestRest);
    wake_.wait_for(lock, rest, [&] { return stop_; });
    if (woken_ || next <= rest) continue;
    waiting_ = true;
    wake_.wait_for(lock, std::min(next - rest, kLongestWait), [&] { return woken_ || stop_; });
    waiting_ = false;
  }
}

}  // namespace portolan
