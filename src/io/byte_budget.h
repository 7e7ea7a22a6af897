// ByteBudget: the number of bytes that all answers inside the crawler may hold together. ByteLease: how many of them
// one answer holds.
//
// A lease grows while an answer is received and decoded, moves with it from the fetch thread to the shard and on to the
// writers of the outputs, and gives its bytes back when it dies: when the last copy of the answer's bytes is gone. So
// queues between threads need no bounds of their own: what is in them was paid for at the socket, and at the bound
// sockets are not read.
//
//   TryGrow  takes bytes only if they are free: for work that can wait, such as a socket that may be read later. With
//            `leave`, that many bytes must still be free afterwards: less urgent work leaves some for more urgent work
//   Grow     takes them in any case, beyond the total if necessary: for work that must be done to free other bytes (an
//            answer is complete and is being decoded). The caller bounds how many may do so at once.
//
// A caller that was refused can be told when there is room again: each function given to WhenFree is called once, as
// soon as that many bytes are free, on the thread that returned the last of them and with no lock held. It should only
// post a wake-up. The bytes are not reserved: another thread may take them first.
//
// Thread: any; a lease has one owner at a time. REQUIRES: the budget outlives its leases.
// Memory bound: one function per waiting loop. Invariant: used() is the sum of all leases.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace portolan {

class ByteBudget {
 public:
  explicit ByteBudget(uint64_t total) : total_(total) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  uint64_t total() const { return total_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t free() const {
    const uint64_t used = this->used();
    return used < total_ ? total_ - used : 0;
  }
  // The most that was used at one time.
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  // `wake` is called once, when `bytes` are free: perhaps inside this call. More than the total counts as the total.
  void WhenFree(uint64_t bytes, std::function<void()> wake);

 private:
  friend class ByteLease;
  bool TryTake(uint64_t bytes, uint64_t leave);
  void Take(uint64_t bytes);
  void Give(uint64_t bytes);
  void NotePeak(uint64_t used);
  void TellWaiting();

  struct Waiting {
    uint64_t bytes = 0;
    std::function<void()> wake;
  };

  const uint64_t total_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> peak_{0};
  std::atomic<bool> awaited_{false};  // waiting_ is not empty
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // guarded by mutex_
};

class ByteLease {
 public:
  ByteLease() = default;  // without a budget: everything is granted and nothing is counted, for tests and tools
  explicit ByteLease(ByteBudget& budget) : budget_(&budget) {}
  ByteLease(ByteLease&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ByteLease& operator=(ByteLease&& other) noexcept {
    if (this == &other) return *this;
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~ByteLease() { Release(); }

  // False: nothing was taken.
  bool TryGrow(uint64_t bytes, uint64_t leave = 0);
  void Grow(uint64_t bytes);
  // Gives back all but `bytes`, or takes what is missing as Grow does.
  void Resize(uint64_t bytes);
  // Splits off a lease of `bytes`. REQUIRES: this lease holds at least that many.
  ByteLease Split(uint64_t bytes);
  void Release() { Resize(0); }

  uint64_t bytes() const { return bytes_; }

 private:
  ByteBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace portolan
