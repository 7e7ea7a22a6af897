#include "crawl/admission_window.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

constexpr int64_t kAsk = AdmissionWindow::kAsk;

TEST(AdmissionWindowTest, BeginsAtItsLeastAndHasRoomForTheRest) {
  AdmissionWindow window(100);
  EXPECT_EQ(window.size(), 100U);
  EXPECT_EQ(window.Room(0), 100U);
  EXPECT_EQ(window.Room(60), 40U);
  EXPECT_EQ(window.Room(100), 0U);
  EXPECT_EQ(window.Room(5000), 0U);
  EXPECT_EQ(AdmissionWindow(0).size(), 1U) << "nothing would ever be admitted";
}

TEST(AdmissionWindowTest, GrowsByOneForEachIdleConnectionAndAsk) {
  AdmissionWindow window(100);
  window.SetIdle(3, /*full=*/true, 0);
  EXPECT_TRUE(window.growing());
  EXPECT_EQ(window.size(), 100U);
  window.SetIdle(3, true, kAsk);
  EXPECT_EQ(window.size(), 103U);
  // Fractions are not lost, however often SetIdle is called.
  for (int i = 1; i <= 30; ++i) window.SetIdle(1, true, kAsk + i * kAsk / 10);
  EXPECT_EQ(window.size(), 106U);
  window.SetIdle(0, true, 5 * kAsk);
  EXPECT_FALSE(window.growing());
  const uint64_t size = window.size();
  window.SetIdle(0, true, 50 * kAsk);
  EXPECT_EQ(window.size(), size) << "it grew while no connection was idle";
}

TEST(AdmissionWindowTest, DoesNotGrowWhileItIsNotFull) {
  AdmissionWindow window(10);
  window.SetIdle(50, /*full=*/false, 0);
  EXPECT_FALSE(window.growing());
  window.SetIdle(50, false, 100 * kAsk);
  EXPECT_EQ(window.size(), 10U);
}

TEST(AdmissionWindowTest, OneSilenceIsNotWorthMoreThanAWindow) {
  AdmissionWindow window(10);
  window.SetIdle(1000, true, 0);
  window.SetIdle(1000, true, 1'000'000 * kAsk);
  EXPECT_EQ(window.size(), 20U);
}

TEST(AdmissionWindowTest, FadesWhileConnectionsAreBusyDownToItsLeast) {
  AdmissionWindow window(10);
  window.SetIdle(10, true, 0);
  window.SetIdle(0, true, kAsk);
  ASSERT_EQ(window.size(), 20U);
  for (uint64_t i = 0; i < AdmissionWindow::kFade; ++i) window.OnFetched();
  EXPECT_EQ(window.size(), 19U);
  window.SetIdle(1, false, kAsk);  // a connection idles
  for (uint64_t i = 0; i < 10 * AdmissionWindow::kFade; ++i) window.OnFetched();
  EXPECT_EQ(window.size(), 19U);
  window.SetIdle(0, true, kAsk);
  for (uint64_t i = 0; i < 100 * AdmissionWindow::kFade; ++i) window.OnFetched();
  EXPECT_EQ(window.size(), 10U);
}

}  // namespace
}  // namespace portolan
