#include "io/executor.h"

#include "base/check.h"
#include "io/process.h"

namespace portolan {

void DeferredExecutor::Run(size_t index) {
  CHECK(index < jobs_.size());
  Job job = std::move(jobs_[index]);
  jobs_.erase(jobs_.begin() + static_cast<ptrdiff_t>(index));
  job();
}

void DeferredExecutor::RunAll() {
  while (!jobs_.empty()) Run();
}

WorkerPool::WorkerPool(size_t threads, const std::string& name) {
  CHECK(threads > 0);
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, name] {
      NameThread(name);
      Work();
    });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    CHECK(!closing_, "job submitted to a pool that is ending");
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void WorkerPool::Work() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace portolan
