#include "outputs/retrying_writer.h"

#include <chrono>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "io/process.h"

namespace portolan {
namespace {

// Only a checkpoint waits for what is written, and that can wait this long. Without it every page would wake this
// thread.
constexpr std::chrono::milliseconds kLinger(10);

}  // namespace

RetryingWriter::RetryingWriter(const Options& options)
    : options_(options), mail_(std::numeric_limits<uint64_t>::max()) {
  if (!options_.threaded) return;
  thread_ = std::thread([this] {
    NameThread(options_.name);
    Work();
  });
}

RetryingWriter::~RetryingWriter() { Stop(); }

void RetryingWriter::Send(Step&& step, uint64_t bytes) {
  waiting_bytes_ += bytes;
  if (options_.threaded) {
    mail_.TrySend({std::move(step), bytes}, 0);  // false only after Stop
    return;
  }
  if (stopping_) return;
  todo_.push_back({std::move(step), bytes});
  RunInline();
}

std::optional<Error> RetryingWriter::stalled_by() const {
  const std::lock_guard lock(mutex_);
  return stalled_by_;
}

void RetryingWriter::Resume() {
  {
    const std::lock_guard lock(mutex_);
    if (!stalled_by_ || stalled_by_->code() != ErrorCode::kNoSpace) return;
    stalled_by_.reset();
  }
  changed_.notify_all();
  if (!options_.threaded) RunInline();
}

void RetryingWriter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  mail_.Close();
  if (thread_.joinable()) thread_.join();
}

void RetryingWriter::Stall(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    stalled_by_ = error;
  }
  if (options_.on_error) options_.on_error(error);
}

bool RetryingWriter::RunFirst() {
  const Status status = todo_.front().step();
  if (!status) {
    Stall(status.error());
    return false;
  }
  const uint64_t bytes = todo_.front().bytes;
  todo_.pop_front();
  if (bytes == 0) return true;
  waiting_bytes_ -= bytes;
  if (options_.on_done) options_.on_done();
  return true;
}

void RetryingWriter::RunInline() {
  if (running_) return;
  running_ = true;
  while (!todo_.empty() && !stalled()) {
    if (!RunFirst()) break;
  }
  running_ = false;
}

void RetryingWriter::Work() {
  for (;;) {
    if (todo_.empty()) {
      std::vector<Weighed> steps = mail_.Take(kLinger);
      if (steps.empty()) return;
      std::move(steps.begin(), steps.end(), std::back_inserter(todo_));
    }
    if (RunFirst()) continue;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !stalled_by_ || stopping_; });
    if (stopping_) return;
  }
}

}  // namespace portolan
