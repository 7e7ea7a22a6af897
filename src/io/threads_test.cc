// Mailbox, executors, event loop and clocks: what passes between threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "io/clock.h"
#include "io/event_loop.h"
#include "io/executor.h"
#include "io/mailbox.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::ElementsAre;

TEST(MailboxTest, KeepsTheOrderOfEachSender) {
  Mailbox<std::pair<int, int>> box(100);
  std::vector<std::thread> senders;
  for (int sender = 0; sender < 4; ++sender) {
    senders.emplace_back([&box, sender] {
      for (int i = 0; i < 5000; ++i) ASSERT_TRUE(box.Send({sender, i}));
    });
  }
  std::vector<int> next(4, 0);
  for (int received = 0; received < 20'000;) {
    for (const auto& [sender, number] : box.Take()) {
      ASSERT_EQ(number, next[static_cast<size_t>(sender)]++);
      ++received;
    }
  }
  for (std::thread& sender : senders) sender.join();
}

TEST(MailboxTest, FullBoxRefusesAndWeightIsFreed) {
  Mailbox<int> box(10);
  EXPECT_TRUE(box.TrySend(1, 6));
  EXPECT_FALSE(box.TrySend(2, 6)) << "6 + 6 > 10";
  EXPECT_TRUE(box.TrySend(3, 4));
  EXPECT_EQ(box.weight(), 10U);
  EXPECT_THAT(box.TryTake(), ElementsAre(1, 3));
  EXPECT_EQ(box.weight(), 0U);
  EXPECT_TRUE(box.TrySend(4, 1000)) << "an empty box takes even what is over its bound";
}

TEST(MailboxTest, SlowReceiverHoldsTheSenderBack) {
  Mailbox<int> box(2);
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(box.Send(std::move(i)));
      ++sent;
    }
  });
  int taken = 0;
  while (taken < 100) {
    const int before = static_cast<int>(box.Take().size());
    taken += before;
    EXPECT_LE(before, 2);
  }
  sender.join();
  EXPECT_EQ(sent, 100);
}

TEST(MailboxTest, CloseWakesBothSidesAndKeepsTheMail) {
  Mailbox<int> box(1);
  ASSERT_TRUE(box.Send(7));
  std::thread blocked([&] { EXPECT_FALSE(box.Send(8)) << "closed while waiting"; });
  box.Close();
  blocked.join();
  EXPECT_THAT(box.Take(), ElementsAre(7));
  EXPECT_THAT(box.Take(), ElementsAre()) << "closed and drained";
}

TEST(MailboxTest, WakeUpComesOnceAFilling) {
  int wakes = 0;
  Mailbox<int> box(10, [&] { ++wakes; });
  ASSERT_TRUE(box.Send(1));
  ASSERT_TRUE(box.Send(2));
  EXPECT_EQ(wakes, 1);
  box.TryTake();
  ASSERT_TRUE(box.TrySend(3));
  EXPECT_EQ(wakes, 2);
}

TEST(WorkerPoolTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> done{0};
  {
    WorkerPool pool(3);
    for (int i = 0; i < 1000; ++i) pool.Submit([&] { ++done; });
  }
  EXPECT_EQ(done, 1000);
}

TEST(DeferredExecutorTest, TheTestDecidesTheOrder) {
  DeferredExecutor executor;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) executor.Submit([&order, i] { order.push_back(i); });
  EXPECT_EQ(executor.waiting(), 3U);
  executor.Run(2);
  executor.RunAll();
  EXPECT_THAT(order, ElementsAre(2, 0, 1));
}

TEST(EventLoopTest, PostsFromOtherThreadsRunInOrder) {
  auto loop = EventLoop::Create().value();
  std::vector<int> order;
  std::thread poster([&] {
    for (int i = 0; i < 1000; ++i) loop->Post([&order, i] { order.push_back(i); });
    loop->Post([&] { loop->Stop(); });
  });
  loop->Run();
  poster.join();
  ASSERT_EQ(order.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(EventLoopTest, TimersFireInTheirOrderAndNotBefore) {
  auto loop = EventLoop::Create().value();
  const int64_t start = Clock::Real().NowNs();
  std::vector<int> order;
  loop->AddTimer(20 * kMillisecond, [&] {
    order.push_back(2);
    EXPECT_GE(Clock::Real().NowNs() - start, 19 * kMillisecond);
    loop->Stop();
  });
  loop->AddTimer(5 * kMillisecond, [&] { order.push_back(1); });
  const auto cancelled = loop->AddTimer(1 * kMillisecond, [&] { order.push_back(0); });
  loop->Cancel(cancelled);
  loop->Cancel(cancelled);
  loop->Run();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST(EventLoopTest, RepeatingTimerMayCancelItself) {
  auto loop = EventLoop::Create().value();
  int fired = 0;
  EventLoop::Id id{};
  id = loop->AddTimer(
      0,
      [&] {
        if (++fired == 3) {
          loop->Cancel(id);
          loop->AddTimer(5 * kMillisecond, [&] { loop->Stop(); });
        }
      },
      kMillisecond);
  loop->Run();
  EXPECT_EQ(fired, 3);
}

TEST(EventLoopTest, DescriptorsAreWatchedUntilCancelled) {
  auto loop = EventLoop::Create().value();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string got;
  EventLoop::Id id{};
  id = loop->WatchFd(ends[0], true, false,
                     [&](EventLoop::Readiness ready) {
                       EXPECT_TRUE(ready.readable);
                       char c = 0;
                       ASSERT_EQ(read(ends[0], &c, 1), 1);
                       got += c;
                       if (got == "abc") {
                         loop->Cancel(id);
                         loop->Stop();
                       }
                     })
           .value();
  std::thread writer([&] { EXPECT_EQ(write(ends[1], "abcd", 4), 4); });
  loop->Run();
  writer.join();
  EXPECT_EQ(got, "abc");
  loop.reset();
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoopTest, WatchChangesWhatItWaitsFor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto loop = *EventLoop::Create();
  int calls = 0;
  EventLoop::Id id{};
  // Nothing can be read; once it waits for writing, it is called at once.
  id = loop->WatchFd(ends[1], true, false,
                     [&](EventLoop::Readiness ready) {
                       EXPECT_TRUE(ready.writable);
                       ++calls;
                       loop->Cancel(id);
                       loop->Stop();
                     })
           .value();
  loop->AddTimer(kMillisecond, [&] { EXPECT_TRUE(loop->ChangeWatch(id, false, true)); });
  loop->Run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(loop->ChangeWatch(id, true, false).error().code(), ErrorCode::kNotFound);
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoopTest, BeforeItWaitsItTellsOnceForEverythingThatWasReady) {
  const auto loop = *EventLoop::Create();
  int ready = 0;
  std::vector<int> told;  // how much was ready each time
  loop->BeforeWait([&] {
    if (ready > 0) told.push_back(std::exchange(ready, 0));
    if (told.size() == 2) loop->Stop();
  });
  for (int i = 0; i < 3; ++i) loop->Post([&] { ++ready; });
  loop->AddTimer(20'000'000, [&] { ++ready; });  // of timers, too, before it waits for the next thing
  loop->Run();
  EXPECT_THAT(told, ElementsAre(3, 1));
}

TEST(EventLoopTest, BadDescriptorIsAnError) {
  auto loop = EventLoop::Create().value();
  EXPECT_FALSE(loop->WatchFd(-1, true, false, [](EventLoop::Readiness) {}));
}

TEST(EventLoopTest, StopBeforeRunReturnsAtOnce) {
  auto loop = EventLoop::Create().value();
  loop->Stop();
  loop->Run();
}

TEST(ClockTest, ManualClockMovesOnlyWhenTold) {
  ManualClock clock(1000);
  EXPECT_EQ(clock.NowNs(), 0);
  clock.Advance(5 * kSecond);
  EXPECT_EQ(clock.NowNs(), 5 * kSecond);
  EXPECT_EQ(clock.UnixNs(), 1000 + 5 * kSecond);
  clock.JumpCalendar(-kSecond);
  EXPECT_EQ(clock.UnixNs(), 1000 + 4 * kSecond);
  EXPECT_EQ(clock.NowNs(), 5 * kSecond);
}

TEST(ClockTest, RealClockIsSteady) {
  const int64_t first = Clock::Real().NowNs();
  EXPECT_GE(Clock::Real().NowNs(), first);
  EXPECT_GT(Clock::Real().UnixNs(), 1'700'000'000 * kSecond);
}

TEST(RngTest, SameSeedSameNumbersOnEveryMachine) {
  Rng rng(42);
  EXPECT_EQ(rng.Next(), 0x15780b2e0c2ec716U);
  EXPECT_EQ(Rng(42).Next(), 0x15780b2e0c2ec716U);
  EXPECT_NE(Rng(43).Next(), Rng(42).Next());
}

TEST(RngTest, BelowAndUniformStayInRange) {
  Rng rng(1);
  std::vector<int> counts(10);
  for (int i = 0; i < 100'000; ++i) {
    ++counts[rng.Below(10)];
    const double u = rng.Uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(rng.Below(0), 0U);
}

}  // namespace
}  // namespace portolan
