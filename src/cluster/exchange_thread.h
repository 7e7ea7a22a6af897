// ExchangeThread: the thread that calls ClusterExchange::Work.
//
// It rests after each call, for a few times what the call took: each call sends and takes all that has come together
// meanwhile, so a busy shard costs few calls with much in each, and an idle one waits a moment.
//
// Thread: the constructor and destructor one owner; Wake any. Memory bound: none of its own.

#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace portolan {

class ClusterExchange;

class ExchangeThread {
 public:
  ExchangeThread() = default;
  // Stops the thread. REQUIRES: nobody calls Wake any more: the exchange is gone.
  ~ExchangeThread() { Stop(); }
  ExchangeThread(const ExchangeThread&) = delete;
  ExchangeThread& operator=(const ExchangeThread&) = delete;

  // REQUIRES: the exchange outlives this; called once. Wake may be given to it before, as wake_worker.
  void Start(ClusterExchange& exchange);
  void Wake();
  // To be called before the exchange is destroyed. Waits for the end of the thread's last call: at most as long as the
  // server may take for a few answers.
  void Stop();

 private:
  void Run(ClusterExchange& exchange);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;    // guarded by mutex_
  bool waiting_ = false;  // guarded by mutex_: until woken_
  bool stop_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
