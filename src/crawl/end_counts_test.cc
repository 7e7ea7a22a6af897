#include "crawl/end_counts.h"

#include <gtest/gtest.h>

#include <string>

#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";

struct IgnoreAll : StandingSink {
  Status OnStanding(std::string_view, const Standing&) override { return {}; }
};

class EndCountsTest : public testing::Test {
 protected:
  EndCountsTest() : manifest_(Manifest::Open(env_, kDir).value()) {
    StarOptions options;
    options.memory = StarOptions::kMinMemory;
    options.domains_disk = 1 << 20;
    star_ = Star::Open(env_, manifest_, executor_, options).value();
    ends_ = EndCounts::Open(manifest_).value();
  }
  ~EndCountsTest() override { executor_.RunAll(); }  // STAR waits for its rounds
  // Fills the domains until they take no more.
  void FillStar() {
    const std::string record(4000, 'r');
    for (int i = 0; i < 100'000; ++i) {
      const Status status = star_->AddUrl({.pld = 7, .pld_name = "seven", .record = record, .horizon = 9});
      if (status) continue;
      ASSERT_EQ(status.error().code(), ErrorCode::kBusy);
      while (star_->CountEnd(7, true)) ++small_;
      return;
    }
    FAIL() << "it is never full";
  }

  MemEnv env_;
  DeferredExecutor executor_;
  Manifest manifest_;
  std::unique_ptr<Star> star_;
  std::unique_ptr<EndCounts> ends_;
  uint32_t small_ = 0;
};

TEST_F(EndCountsTest, GoesOnAtOnceWhenThereIsRoom) {
  ends_->Add(*star_, 1, true);
  ends_->Add(*star_, 2, false);
  EXPECT_EQ(ends_->waiting(), 0U);
  EXPECT_EQ(star_->domains_drum().waiting(), 2U);
}

TEST_F(EndCountsTest, WaitsWhenThereIsNoneAndSurvivesARestart) {
  FillStar();
  for (int i = 0; i < 3; ++i) ends_->Add(*star_, 1, true);
  ends_->Add(*star_, 1, false);
  for (uint64_t pld = 2; pld <= EndCounts::kMaxDomains; ++pld) ends_->Add(*star_, pld, true);
  EXPECT_EQ(ends_->waiting(), EndCounts::kMaxDomains);
  EXPECT_EQ(ends_->dropped(), 0U);
  ends_->Add(*star_, EndCounts::kMaxDomains + 1, true);
  ends_->Add(*star_, 1, true);
  EXPECT_EQ(ends_->dropped(), 1U) << "one that waits already takes no more room";
  ASSERT_TRUE(ends_->Pass(*star_));
  EXPECT_EQ(ends_->waiting(), EndCounts::kMaxDomains) << "still no room";

  Checkpointable* const all[] = {ends_.get()};
  ASSERT_TRUE(manifest_.Commit(all));
  const auto again = EndCounts::Open(manifest_).value();
  EXPECT_EQ(again->waiting(), EndCounts::kMaxDomains);
  EXPECT_EQ(again->dropped(), 1U);
  ASSERT_TRUE(again->Flush());
  EXPECT_EQ(again->Describe(), ends_->Describe());

  executor_.RunAll();
  IgnoreAll ignore;
  for (int step = 0; step < 100 && ends_->waiting() > 0; ++step) {
    ASSERT_TRUE(star_->Take(ignore, ~uint64_t{0}, 0).has_value());
    ASSERT_TRUE(ends_->Pass(*star_));
    executor_.RunAll();
  }
  EXPECT_EQ(ends_->waiting(), 0U) << "there is room again";
}

}  // namespace
}  // namespace portolan
