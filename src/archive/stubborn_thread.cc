#include "archive/stubborn_thread.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "io/process.h"

namespace portolan {
namespace {

// Nobody waits for what is written but a checkpoint, and that can wait so long. Without it every page woke this thread.
constexpr std::chrono::milliseconds kLinger(10);

}  // namespace

StubbornThread::StubbornThread(bool threaded, uint64_t bound, std::function<void(const Error&)> on_error,
                               const std::string& name)
    : threaded_(threaded), bound_(bound), on_error_(std::move(on_error)), mail_(bound) {
  if (!threaded_) return;
  thread_ = std::thread([this, name] {
    NameThread(name);
    Work();
  });
}

StubbornThread::~StubbornThread() { Stop(); }

bool StubbornThread::TrySend(Step&& step, uint64_t weight) {
  if (threaded_) return mail_.TrySend(std::move(step), std::min(weight, bound_));
  if (stalled() || stopping_) return false;
  todo_.push_back(std::move(step));
  RunInline();
  return true;
}

void StubbornThread::Send(Step&& step) {
  if (threaded_) {
    mail_.TrySend(std::move(step), 0);  // weighs nothing and nobody weighs more than the bound; false only after Stop
    return;
  }
  if (stopping_) return;
  todo_.push_back(std::move(step));
  RunInline();
}

std::optional<Error> StubbornThread::stalled_by() const {
  const std::lock_guard lock(mutex_);
  return stalled_by_;
}

void StubbornThread::Resume() {
  {
    const std::lock_guard lock(mutex_);
    if (!stalled_by_ || stalled_by_->code() != ErrorCode::kNoSpace) return;
    stalled_by_.reset();
  }
  changed_.notify_all();
  if (!threaded_) RunInline();
}

void StubbornThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  mail_.Close();
  if (thread_.joinable()) thread_.join();
}

void StubbornThread::Stall(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    stalled_by_ = error;
  }
  if (on_error_) on_error_(error);
}

void StubbornThread::RunInline() {
  while (!todo_.empty() && !stalled()) {
    const Status status = todo_.front()();
    if (status) {
      todo_.pop_front();
      continue;
    }
    Stall(status.error());
  }
}

void StubbornThread::Work() {
  for (;;) {
    if (todo_.empty()) {
      std::vector<Step> steps = mail_.Take(kLinger);
      if (steps.empty()) return;
      std::move(steps.begin(), steps.end(), std::back_inserter(todo_));
    }
    const Status status = todo_.front()();
    if (status) {
      todo_.pop_front();
      continue;
    }
    Stall(status.error());
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !stalled_by_ || stopping_; });
    if (stopping_) return;
  }
}

}  // namespace portolan
