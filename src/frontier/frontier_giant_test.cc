// One host with millions of URLs in front of ten thousand small ones: no host waits for it, and RAM stays within its
// bound. And what a URL costs with a hundred thousand hosts.

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "frontier/frontier.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using Kind = Dispatch::Kind;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFetchTime = kSecond / 10;

struct Run {
  int64_t small_done_ns = 0;  // when the last small host's URL was fetched
  uint64_t giant_fetched = 0;
  size_t max_ram = 0;
  uint64_t calls = 0;
  uint64_t most_moved = 0;  // from the front in one call
};

// A crawler with `connections`, in virtual time, until the small hosts are done.
Run Crawl(uint64_t giant_urls, uint32_t small_hosts, uint32_t urls_each, const FrontierOptions& options) {
  constexpr size_t kConnections = 500;
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "store").value();
  const auto frontier = Frontier::Open(env, manifest, options, 0, 0).value();
  const auto add = [&](const std::string& url) { ASSERT_TRUE(frontier->Add({.url = url})); };
  for (uint64_t i = 0; i < giant_urls; ++i) add("http://giant.example/a/page/of/the/giant-" + std::to_string(i * 7));
  for (uint32_t k = 0; k < urls_each; ++k) {
    for (uint32_t i = 0; i < small_hosts; ++i) {
      add("http://small" + std::to_string(i) + ".example/" + std::to_string(k));
    }
  }
  Run run;
  uint64_t left = uint64_t{small_hosts} * urls_each;
  int64_t now = 0;
  struct Flight {
    int64_t end;
    uint64_t number;
    SlotId slot;
    bool small;
    bool operator<(const Flight& other) const { return end != other.end ? end > other.end : number > other.number; }
  };
  std::priority_queue<Flight> flights;
  uint64_t front_before = frontier->counts().front;
  while (left > 0) {
    int64_t wake = Frontier::kNever;
    while (flights.size() < kConnections) {
      const auto next = frontier->Next(now, now);
      if (!next) {
        ADD_FAILURE() << next.error().ToString();
        return run;
      }
      ++run.calls;
      const auto counts = frontier->counts();
      run.max_ram = std::max(run.max_ram, counts.ram_bytes);
      run.most_moved = std::max(run.most_moved, front_before - counts.front);
      front_before = counts.front;
      if (next->kind == Kind::kMoreWork) continue;
      if (next->kind == Kind::kResolve) {
        frontier->OnResolved({.host = next->host,
                              .addresses = {Address::V4(static_cast<uint32_t>(next->host % 5000) + 1)},
                              .ttl_s = 86400},
                             now);
        continue;
      }
      if (next->kind == Kind::kFetch) {
        flights.push({now + kFetchTime, run.calls, next->slot, next->record.url.starts_with("http://small")});
        continue;
      }
      wake = next->until_ns;
      break;
    }
    if (!flights.empty()) wake = std::min(wake, flights.top().end);
    if (wake == Frontier::kNever) {
      ADD_FAILURE() << "the crawl stands still with " << left << " left";
      return run;
    }
    now = std::max(now, wake);
    while (!flights.empty() && flights.top().end <= now) {
      frontier->Finish(flights.top().slot, {.duration_ns = kFetchTime}, now);
      if (flights.top().small) {
        --left;
        run.small_done_ns = now;
      } else {
        ++run.giant_fetched;
      }
      flights.pop();
    }
  }
  const Status whole = frontier->CheckInvariants();
  EXPECT_TRUE(whole) << whole.error().ToString();
  return run;
}

FrontierOptions GiantOptions() {
  FrontierOptions options;
  options.back_queues = 1500;
  options.memory = size_t{24} << 20;
  options.politeness.ip_delay_ns = kSecond / 2;
  return options;
}

void GiantDelaysNobody(uint64_t urls) {
  const Run without = Crawl(0, 10'000, 3, GiantOptions());
  const Run with = Crawl(urls, 10'000, 3, GiantOptions());
  // Draws and order differ a little; the giant itself takes one connection of 500.
  EXPECT_LE(static_cast<double>(with.small_done_ns), 1.05 * static_cast<double>(without.small_done_ns) + kSecond);
  EXPECT_LE(with.max_ram, GiantOptions().memory + 6 * GiantOptions().block_bytes);
  EXPECT_GE(with.giant_fetched, static_cast<uint64_t>(with.small_done_ns / (1.2 * kSecond)));
  EXPECT_LE(with.most_moved, 2 * GiantOptions().pull_step);
  fmt::print("small hosts done after {:.1f} s without the giant, {:.1f} s with it; RAM at most {:.1f} MB, {:.1f} MB\n",
             static_cast<double>(without.small_done_ns) / 1e9, static_cast<double>(with.small_done_ns) / 1e9,
             static_cast<double>(without.max_ram) / 1e6, static_cast<double>(with.max_ram) / 1e6);
}

TEST(FrontierGiantTest, AHostWithManyUrlsDelaysNobody) { GiantDelaysNobody(200'000); }
TEST(FrontierGiantSlowTest, AHostWithMillionsOfUrlsDelaysNobody) { GiantDelaysNobody(5'000'000); }

// Not a claim about speed but a guard against a wrong order of growth: Next and Finish with 100,000 hosts.
TEST(FrontierCostSlowTest, NextAndFinishAtAHundredThousandHosts) {
  constexpr uint32_t kHosts = 100'000;
  constexpr uint32_t kEach = 12;
  MemEnv env;
  Manifest manifest = Manifest::Open(env, "store").value();
  FrontierOptions options;
  options.back_queues = kHosts;
  options.max_resolving = kHosts;
  const auto frontier = Frontier::Open(env, manifest, options, 0, 0).value();
  for (uint32_t k = 0; k < kEach; ++k) {
    for (uint32_t i = 0; i < kHosts; ++i) {
      const std::string url = "http://host-" + std::to_string(i) + ".example/path/of/a/page/" + std::to_string(k);
      ASSERT_TRUE(frontier->Add({.url = url}));
    }
  }
  int64_t now = 0;
  uint64_t fetched = 0;
  std::vector<SlotId> slots;
  std::clock_t pulling = 0;  // processor time, because the machine has other work
  std::clock_t fetching = 0;
  uint64_t timed = 0;
  bool committed = false;
  while (fetched < uint64_t{kHosts} * kEach) {
    const std::clock_t begin = std::clock();
    bool only_fetches = true;
    slots.clear();
    while (slots.size() < 1000) {
      const auto next = frontier->Next(now, now);
      ASSERT_TRUE(next);
      if (next->kind == Kind::kFetch) {
        slots.push_back(next->slot);
        continue;
      }
      only_fetches = false;
      if (next->kind == Kind::kResolve) {
        frontier->OnResolved({.host = next->host,
                              .addresses = {Address::V4(static_cast<uint32_t>(next->host % 60'000) + 1)},
                              .ttl_s = 86400},
                             now);
      } else if (next->kind == Kind::kWait) {
        if (slots.empty()) {
          now = next->until_ns;
        } else {
          break;
        }
      }
    }
    for (const SlotId slot : slots) frontier->Finish(slot, {.duration_ns = 1000}, now);
    fetched += slots.size();
    (only_fetches ? fetching : pulling) += std::clock() - begin;
    if (only_fetches) timed += slots.size();
    now += kSecond / 1000;
    if (fetched < uint64_t{kHosts} * 2 || committed) continue;
    // Now all of it is in RAM.
    committed = true;
    const auto counts = frontier->counts();
    std::clock_t mark = std::clock();
    ASSERT_TRUE(manifest.Commit(frontier->Checkpointables()));
    const auto ms = [&mark] { return 1e3 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - mark); };
    fmt::print("commit of {} URLs of {} hosts, {:.0f} MB of RAM: {:.0f} ms\n", counts.back_ram, counts.hosts,
               static_cast<double>(counts.ram_bytes) / 1e6, ms());
    mark = std::clock();
    const auto again = Frontier::Open(env, manifest, options, now, now);
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ((*again)->counts().urls(), counts.urls());
    fmt::print("opened again in {:.0f} ms\n", ms());
  }
  const double ns = 1e9 / CLOCKS_PER_SEC * static_cast<double>(fetching) / static_cast<double>(timed);
  fmt::print("Next + Finish: {:.0f} ns per URL ({} URLs, {} hosts); with pulling and resolving {:.0f} ns\n", ns, timed,
             kHosts, 1e9 / CLOCKS_PER_SEC * static_cast<double>(fetching + pulling) / static_cast<double>(fetched));
  EXPECT_LT(ns, 50'000);
  EXPECT_EQ(frontier->counts().urls(), 0U);
}

}  // namespace
}  // namespace portolan
