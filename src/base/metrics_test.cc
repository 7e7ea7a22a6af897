#include "base/metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace portolan {
namespace {

TEST(MetricsTest, TextHasHelpTypeLabelsAndValues) {
  MetricsRegistry registry;
  Counter fetched = registry.MakeCounter("portolan_fetches_total", "Pages asked for.", {{"outcome", "ok"}});
  fetched.Add();
  fetched.Add(2);
  Gauge queue = registry.MakeGauge("portolan_queue_length", "URLs that wait.");
  queue.Set(10);
  queue.Add(-3);
  registry.MakeHistogram("portolan_fetch_seconds", "Time of a fetch.", {0.1, 1}).Observe(0.5);
  const std::string text = registry.PrometheusText();
  for (const char* line : {"# HELP portolan_fetches_total Pages asked for.", "# TYPE portolan_fetches_total counter",
                           "portolan_fetches_total{outcome=\"ok\"} 3", "portolan_queue_length 7",
                           "portolan_fetch_seconds_bucket{le=\"0.1\"} 0", "portolan_fetch_seconds_bucket{le=\"1\"} 1",
                           "portolan_fetch_seconds_count 1"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(MetricsTest, SameNameIsTheSameMetric) {
  MetricsRegistry registry;
  registry.MakeCounter("c_total", "C.").Add(1);
  registry.MakeCounter("c_total", "C.").Add(1);
  EXPECT_EQ(registry.MakeCounter("c_total", "C.").Value(), 2);
}

TEST(MetricsTest, ManyThreadsLoseNothing) {
  MetricsRegistry registry;
  Counter counter = registry.MakeCounter("c_total", "C.");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([counter]() mutable {
      for (int i = 0; i < 10'000; ++i) counter.Add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), 40'000);
}

}  // namespace
}  // namespace portolan
