// RetryingWriter: a thread that writes, and that keeps what it was given when the disk refuses.
//
// Steps run one after the other. A step that fails is kept, the owner is told, and the thread stands still. After
// kNoSpace that is until Resume, when it tries the same step again: a full disk pauses a crawl and loses nothing. A
// step must therefore leave things so that it can be run again. After any other error it stands still for good: what a
// disk refused to keep for another reason may be gone, and a second try would not know (SyncOnce).
//
// It takes everything that it is given. Each step says how many bytes it holds; waiting_bytes is their sum over the
// steps that are not done, and the owner stops taking answers in when that is too much.
//
// Without a thread (`threaded` false) steps run inside Send: the same order, the same stops, for tests and for the
// virtual world, where everything happens in one thread.
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
    std::string name = "write";          // the thread's, for people with profilers
  };

  explicit RetryingWriter(const Options& options);
  // As Stop.
  ~RetryingWriter();
  RetryingWriter(const RetryingWriter&) = delete;
  RetryingWriter& operator=(const RetryingWriter&) = delete;

  // After Stop the step is dropped. `bytes` is what it holds until it is done.
  void Send(Step&& step, uint64_t bytes = 0);
  // Of the steps that are not done.
  uint64_t waiting_bytes() const { return waiting_bytes_; }

  bool stalled() const { return stalled_by().has_value(); }
  // Why it stands still; empty: it does not.
  std::optional<Error> stalled_by() const;
  // Tries the step that failed again, if that was for want of room.
  void Resume();
  // Runs what was sent, unless it stands still or comes to a stop: then the rest never happens. Joins.
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
