#include "io/byte_budget.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace portolan {

void ByteBudget::WhenFree(uint64_t bytes, std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::min(bytes, total_), std::move(wake)});
    awaited_ = true;
  }
  TellWaiting();  // bytes that were returned just before woke no one
}

bool ByteBudget::TryTake(uint64_t bytes, uint64_t leave) {
  if (leave > total_) return false;
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used >= total_ - leave || bytes > total_ - leave - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  NotePeak(used + bytes);
  return true;
}

void ByteBudget::Take(uint64_t bytes) { NotePeak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }

void ByteBudget::NotePeak(uint64_t used) {
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void ByteBudget::Give(uint64_t bytes) {
  // Ordered with awaited_: either this call sees the waiting function, or the waiter sees these bytes.
  used_.fetch_sub(bytes);
  if (awaited_) TellWaiting();
}

void ByteBudget::TellWaiting() {
  std::vector<Waiting> told;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t used = used_.load();
    const uint64_t free = used < total_ ? total_ - used : 0;
    const auto enough =
        std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.bytes > free; });
    std::move(enough, waiting_.end(), std::back_inserter(told));
    waiting_.erase(enough, waiting_.end());
    awaited_ = !waiting_.empty();
  }
  for (const Waiting& waiting : told) waiting.wake();
}

bool ByteLease::TryGrow(uint64_t bytes, uint64_t leave) {
  if (budget_ != nullptr && !budget_->TryTake(bytes, leave)) return false;
  bytes_ += bytes;
  return true;
}

void ByteLease::Grow(uint64_t bytes) {
  if (budget_ != nullptr) budget_->Take(bytes);
  bytes_ += bytes;
}

void ByteLease::Resize(uint64_t bytes) {
  if (bytes > bytes_) return Grow(bytes - bytes_);
  if (budget_ != nullptr && bytes < bytes_) budget_->Give(bytes_ - bytes);
  bytes_ = bytes;
}

ByteLease ByteLease::Split(uint64_t bytes) {
  CHECK(bytes <= bytes_, "a lease cannot give what it does not have");
  ByteLease part;
  part.budget_ = budget_;
  part.bytes_ = bytes;
  bytes_ -= bytes;
  return part;
}

}  // namespace portolan
