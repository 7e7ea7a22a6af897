// A disk that refuses once, at each operation in turn, or is full for a while: the frontier reports it, loses nothing,
// and continues when the same call is made again.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "frontier/frontier.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using Kind = Dispatch::Kind;

FrontierOptions TinyOptions() {
  FrontierOptions options;
  options.back_queues = 4;
  options.front_queues = 3;
  options.head_bytes = 300;
  options.block_bytes = 300;
  options.segment_size = 3000;
  options.politeness.host_delay_ns = 1000;
  options.politeness.ip_delay_ns = 0;
  return options;
}

// Adds, fetches and commits until everything is fetched. Each failed call is repeated, after a call of `refused`.
template <typename Refused>
void RunThrough(FaultyEnv& env, Refused&& refused) {
  Manifest manifest = Manifest::Open(env, "store").value();
  const auto frontier = Frontier::Open(env, manifest, TinyOptions(), 0, 0).value();
  constexpr int kUrls = 600;
  const auto again = [&](auto&& call) {
    for (int tries = 0; tries < 50; ++tries) {
      if (call()) return;
      refused();
    }
    FAIL() << "a call that never succeeds";
  };
  for (int i = 0; i < kUrls; ++i) {
    const std::string url = "http://h" + std::to_string(i * i % 9) + ".example/page/" + std::to_string(i);
    again([&] { return frontier->Add({.priority = static_cast<uint8_t>(i % 3), .url = url}).has_value(); });
  }
  std::set<std::string> out;
  int64_t now = 0;
  for (int step = 0; out.size() < kUrls; ++step) {
    ASSERT_LT(step, 100'000);
    Dispatch dispatch;
    again([&] {
      const auto next = frontier->Next(now, now);
      if (next) dispatch = *next;
      return next.has_value();
    });
    if (dispatch.kind == Kind::kResolve) {
      frontier->OnResolved({.host = dispatch.host, .addresses = {Address::V4(9)}, .ttl_s = 9999}, now);
    } else if (dispatch.kind == Kind::kFetch) {
      ASSERT_TRUE(out.emplace(dispatch.record.url).second) << dispatch.record.url << " twice";
      frontier->Finish(dispatch.slot, {}, now);
    } else if (dispatch.kind == Kind::kWait) {
      ASSERT_NE(dispatch.until_ns, Frontier::kNever) << out.size() << " of " << kUrls << " came out";
      now = dispatch.until_ns;
    }
    if (step % 300 == 100) {
      again([&] { return manifest.Commit(frontier->Checkpointables()).has_value(); });
      ASSERT_TRUE(frontier->CheckInvariants());
    }
  }
  again([&] { return manifest.Commit(frontier->Checkpointables()).has_value(); });
  EXPECT_EQ(frontier->counts().urls(), 0U);
  // The committed state can be opened.
  Manifest opened = Manifest::Open(env, "store").value();
  const auto reopened = Frontier::Open(env, opened, TinyOptions(), now, now);
  ASSERT_TRUE(reopened) << reopened.error().ToString();
  EXPECT_EQ((*reopened)->counts().urls(), 0U);
}

TEST(FrontierFaultTest, AWriteThatFailsOnceLosesNothing) {
  MemEnv plain;
  FaultyEnv counting(plain);
  RunThrough(counting, [] { FAIL() << "nothing is broken yet"; });
  const uint64_t operations = counting.operations();
  ASSERT_GT(operations, 100U);
  for (uint64_t at = 3; at <= operations && !testing::Test::HasFatalFailure(); ++at) {
    for (const bool half : {false, true}) {
      MemEnv disk;
      FaultyEnv faulty(disk, half ? FaultPlan{.short_write_at = at} : FaultPlan{.fail_at = at});
      SCOPED_TRACE(at);
      RunThrough(faulty, [] {});
    }
  }
}

TEST(FrontierFaultTest, AFullDiskIsWaitedFor) {
  MemEnv disk;
  FaultyEnv faulty(disk, {.space = 4000});
  int full = 0;
  RunThrough(faulty, [&] {
    ++full;
    faulty.AddSpace(5000);
  });
  EXPECT_GT(full, 1);
}

TEST(FrontierFaultTest, ASnapshotThatFailedLeavesNoFile) {
  MemEnv disk;
  FaultyEnv faulty(disk);
  Manifest manifest = Manifest::Open(faulty, "store").value();
  const auto frontier = Frontier::Open(faulty, manifest, TinyOptions(), 0, 0).value();
  ASSERT_TRUE(manifest.Commit(frontier->Checkpointables()));
  const auto snapshots = [&] {
    return std::ranges::count_if(disk.List("store").value(),
                                 [](const std::string& name) { return name.ends_with(".snapshot"); });
  };
  ASSERT_EQ(snapshots(), 1);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(frontier->Add({.url = "http://a.example/" + std::to_string(i)}));
  frontier->Next(0, 0).value();  // moves URLs into back queues, which are part of a snapshot
  faulty.SetPlan({.space = 20});
  Status flushed;
  for (Checkpointable* part : frontier->Checkpointables()) {
    if (part->Describe().kind == Frontier::kKind) flushed = part->Flush();
  }
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(snapshots(), 1) << "on a full disk its room is needed";
  faulty.SetPlan({});
  ASSERT_TRUE(manifest.Commit(frontier->Checkpointables()));
  EXPECT_EQ(snapshots(), 1);
}

}  // namespace
}  // namespace portolan
