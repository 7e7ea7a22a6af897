#include "io/turn_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace portolan {
namespace {

TEST(TurnLockTest, ABusyThreadKeepsNobodyOut) {
  TurnLock lock;
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> turns = 0;
  std::thread busy([&] {
    while (!stop) {
      const std::lock_guard held(lock);
      ++turns;
    }
  });
  // Each time, the busy thread has had at most one turn since this one asked.
  for (int i = 0; i < 1000; ++i) {
    while (turns == 0) std::this_thread::yield();
    const std::lock_guard held(lock);
    turns = 0;
  }
  stop = true;
  busy.join();
}

TEST(TurnLockTest, OnlyOneHasIt) {
  TurnLock lock;
  int count = 0;
  const auto work = [&] {
    for (int i = 0; i < 10'000; ++i) {
      const std::lock_guard held(lock);
      ++count;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(count, 20'000);
}

}  // namespace
}  // namespace portolan
