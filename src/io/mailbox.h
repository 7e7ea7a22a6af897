// Mailbox: batches of messages from many threads to one, with a bound.
//
// The bound counts weight (the sender says how much a batch weighs: items, or bytes), so that a slow receiver makes the
// senders wait and memory does not grow. A batch heavier than the whole bound is accepted when the box is empty, so
// nothing is stuck for ever. The receiver either waits in Take or is woken by `on_mail`, which is called by the sender,
// outside the lock, whenever the box turns from empty to not empty: post a wake-up to an event loop there.
//
// Thread: any number of senders; one receiver. Order: FIFO for each sender.
// Memory bound: `bound` of weight, plus one batch.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace portolan {

template <typename T>
class Mailbox {
 public:
  explicit Mailbox(uint64_t bound, std::function<void()> on_mail = {}) : bound_(bound), on_mail_(std::move(on_mail)) {}

  // Waits for room. False if the box is closed; then `batch` is untouched.
  bool Send(T&& batch, uint64_t weight = 1) {
    News told;
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return closed_ || HasRoom(weight); });
      if (closed_) return false;
      told = Put(std::move(batch), weight);
    }
    Tell(told);
    return true;
  }

  // Never waits. False if there is no room or the box is closed; then `batch` is untouched.
  bool TrySend(T&& batch, uint64_t weight = 1) {
    News told;
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || !HasRoom(weight)) return false;
      told = Put(std::move(batch), weight);
    }
    Tell(told);
    return true;
  }

  // Everything that is there, oldest first; waits until there is something. Empty only when closed and drained. With
  // `linger` it waits that much longer, or until the box is half full: a receiver whose results are not urgent is then
  // woken once for many messages.
  std::vector<T> Take(std::chrono::nanoseconds linger = {}) {
    std::unique_lock lock(mutex_);
    mail_.wait(lock, [&] { return closed_ || !batches_.empty(); });
    if (linger.count() > 0) mail_.wait_for(lock, linger, [&] { return closed_ || weight_ >= bound_ / 2; });
    return Drain();
  }

  // Everything that is there now, perhaps nothing.
  std::vector<T> TryTake() {
    const std::lock_guard lock(mutex_);
    return Drain();
  }

  // Senders fail from now on; what was sent can still be taken.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
    mail_.notify_all();
  }

  uint64_t weight() const {
    const std::lock_guard lock(mutex_);
    return weight_;
  }

 private:
  bool HasRoom(uint64_t weight) const { return batches_.empty() || weight_ + weight <= bound_; }

  struct News {
    bool first = false;      // the box was empty
    bool half_full = false;  // it was not before
  };

  News Put(T&& batch, uint64_t weight) {
    const News news = {.first = batches_.empty(), .half_full = weight_ < bound_ / 2 && weight_ + weight >= bound_ / 2};
    batches_.push_back(std::move(batch));
    weight_ += weight;
    return news;
  }

  // Outside the lock: a receiver that is woken inside it would only wait for it.
  void Tell(News news) {
    if (news.first || news.half_full) mail_.notify_one();
    if (news.first && on_mail_) on_mail_();
  }

  std::vector<T> Drain() {
    std::vector<T> taken = std::exchange(batches_, {});
    weight_ = 0;
    room_.notify_all();
    return taken;
  }

  const uint64_t bound_;
  const std::function<void()> on_mail_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable mail_;
  // Guarded by mutex_:
  std::vector<T> batches_;
  uint64_t weight_ = 0;
  bool closed_ = false;
};

}  // namespace portolan
