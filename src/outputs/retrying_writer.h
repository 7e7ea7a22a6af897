// RetryingWriter: a thread that writes, and that keeps what it was given when a write fails.
//
// Steps run one after the other. A step that fails is kept, the owner is told, and the thread stops ("stalled"). After
// kNoSpace Resume runs the same step again: a full disk pauses a crawl and loses nothing. So a failed step must leave
// things such that it can be run again. After any other error the thread stays stalled for good: bytes may be lost, and
// a second try would not notice (SyncOnce).
//
// It accepts every step. Each step states how many bytes it holds; waiting_bytes is the sum over the steps that are not
// done, and the owner stops taking answers when that is too much.
//
// Without a thread (`threaded` false) steps run inside Send: the same order, the same stops, for tests and simulations,
// where everything happens in one thread.
//
// Thread: Send from the owner or from inside a step; Resume, Stop and stalled(_by) from the owner; on_error and on_done
// run on the writing thread, with no lock held. Memory bound: the owner's, by waiting_bytes.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "io/mailbox.h"

namespace portolan {

class RetryingWriter {
 public:
  using Step = std::move_only_function<Status()>;

  struct Options {
    bool threaded = true;
    std::function<void(const Error&)> on_error = {};
    std::function<void()> on_done = {};  // a step that held bytes is done
    std::string name = "write";          // the thread's, for profilers
  };

  explicit RetryingWriter(const Options& options);
  // As Stop.
  ~RetryingWriter();
  RetryingWriter(const RetryingWriter&) = delete;
  RetryingWriter& operator=(const RetryingWriter&) = delete;

  // After Stop the step is dropped. `bytes` is what it holds until it is done.
  void Send(Step&& step, uint64_t bytes = 0);
  // The sum over the steps that are not done.
  uint64_t waiting_bytes() const { return waiting_bytes_; }

  bool stalled() const { return stalled_by().has_value(); }
  // Why it is stalled; empty: it is not.
  std::optional<Error> stalled_by() const;
  // Runs the failed step again, if it failed with kNoSpace.
  void Resume();
  // Runs what was sent and joins the thread. If it is or becomes stalled, the remaining steps are dropped.
  void Stop();

 private:
  struct Weighed {
    Step step;
    uint64_t bytes = 0;
  };

  void Work();
  // Runs the steps of todo_ until one fails or none is left.
  void RunInline();
  bool RunFirst();  // of todo_; false: it failed and is kept
  void Stall(const Error& error);

  const Options options_;
  Mailbox<Weighed> mail_;
  std::atomic<uint64_t> waiting_bytes_{0};
  std::deque<Weighed> todo_;  // of the writing side: taken and not done
  bool running_ = false;      // of RunInline: a step that sends another does not run it inside itself

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> stalled_by_;  // guarded by mutex_
  bool stopping_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
