// Executor: runs work that must not block the shard.
//
// The shard submits self-contained jobs and is told when they are done; it does not depend on which thread runs them.
// In production that is a WorkerPool, in simulations and in tests an InlineExecutor (at once) or DeferredExecutor (when
// the test says so, in the order it says so).

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace portolan {

class Executor {
 public:
  using Job = std::move_only_function<void()>;

  virtual ~Executor() = default;
  virtual void Submit(Job job) = 0;
};

class InlineExecutor : public Executor {
 public:
  void Submit(Job job) override { job(); }
};

class DeferredExecutor : public Executor {
 public:
  void Submit(Job job) override { jobs_.push_back(std::move(job)); }
  size_t waiting() const { return jobs_.size(); }
  // REQUIRES: index < waiting()
  void Run(size_t index = 0);
  void RunAll();

 private:
  std::deque<Job> jobs_;
};

// Fixed threads over one queue. The destructor runs what was submitted, then joins. Thread: Submit from any thread.
class WorkerPool : public Executor {
 public:
  explicit WorkerPool(size_t threads, const std::string& name = "worker");
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(Job job) override;

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // guarded by mutex_
  bool closing_ = false;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace portolan
