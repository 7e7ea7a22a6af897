// One host with five million known URLs among ten thousand small ones: it must not delay the others.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/process.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
constexpr uint64_t kMemory = uint64_t{256} << 20;
constexpr uint64_t kGiantPages = 5'000'000;
constexpr HostId kGiant{1, 0};

struct Lap {
  int64_t end_ns = 0;  // virtual time
  uint64_t known = 0;
  Account account;
};

// All home pages are seeds; with the giant, all its pages are, too, and come first. Runs until everything is done, or
// until the deadline: the giant alone would take two months.
Lap CrawlOf(const World& world, bool with_giant, int64_t deadline_ns) {
  VirtualTime time(kBegin);
  Judge::Options rules;
  rules.rules.host_gap_ns = kSecond;
  rules.rules.ip_gap_ns = kSecond / 10;
  rules.rules.slack_ns = 0;
  rules.rules.gap_from_end = true;
  rules.rules.connections = 1;
  rules.rules.fetches_per_url = 1;
  rules.rules.complete = true;
  Judge judge(world, rules);
  VirtualCrawl::Options options;
  options.state_dir = std::filesystem::temp_directory_path() / ("portolan-giant-" + std::to_string(getpid()));
  std::filesystem::remove_all(options.state_dir);
  options.shard.scope.mode = ScopeMode::kHost;  // of the seeds, so that links from small hosts do not lead to the giant
  options.shard.connections = 1000;
  options.shard.sitemaps = false;
  options.shard.frontier.memory = kMemory / 4;
  options.shard.frontier.back_queues = 3000;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = kMemory / 4;
  options.shard.gate.memory = kMemory / 8;
  // Early rounds cost real time here and virtual time there. A low speed makes them rarer, but not so rare that links
  // wait for minutes behind the giant's five million keys.
  options.shard.seen.pace.bytes_per_second = 20'000'000;
  options.shard.gate.pace.bytes_per_second = 20'000'000;
  std::vector<std::string> homes;
  for (uint32_t domain = 0; domain < world.Domains(); ++domain) {
    const HostId host{domain, 0};
    if (host == kGiant) continue;
    homes.push_back(world.UrlOf({host, PlaceClass::kPage, 0}));
  }
  options.shard.scope.seeds = homes;
  if (with_giant) options.shard.scope.seeds.push_back(world.UrlOf({kGiant, PlaceClass::kPage, 0}));
  auto crawl = VirtualCrawl::Open(Env::Posix(), world, time, judge, options).value();

  const auto add = [&](const std::string& url) {
    const Status status = crawl->shard().AddSeed(url, {time.NowNs(), time.UnixNs()});
    ASSERT_TRUE(status) << status.error().ToString();
  };
  if (with_giant) {
    for (uint64_t page = 0; page < kGiantPages; ++page) add(world.UrlOf({kGiant, PlaceClass::kPage, page}));
  }
  for (const std::string& url : homes) add(url);

  Lap lap;
  while (crawl->shard().state() == Shard::State::kRunning && time.NowNs() < deadline_ns) {
    const Status status = crawl->Run(crawl->events() + 500);
    EXPECT_TRUE(status) << status.error().ToString();
    if (!status) break;
  }
  lap.end_ns = time.NowNs();
  lap.known = crawl->shard().seen().keys();
  judge.Cover([&](const std::function<void(uint64_t)>& each) {
    for (uint32_t domain = 0; domain < world.Domains(); ++domain) {
      const HostId host{domain, 0};
      if (host == kGiant) continue;
      for (uint64_t page = 0; page < world.Pages(host); ++page) each(world.DenseNumber(host, page));
    }
  });
  lap.account = judge.Finish(time.UnixNs());
  crawl.reset();
  std::filesystem::remove_all(options.state_dir);
  return lap;
}

TEST(GiantHostSlowTest, FiveMillionUrlsOfOneHostSlowNobodyAndFitTheMemory) {
  WorldParams params = LoadProfile("small").value();
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"domains", "10000"},
                                                                                   {"pages", "60000"},
                                                                                   {"max_hosts", "1"},
                                                                                   {"max_pages_per_host", "40"},
                                                                                   {"giants", "1"},
                                                                                   {"giant_pages", "5000000"},
                                                                                   {"addresses", "5000"}}) {
    ASSERT_TRUE(SetParam(params, key, value)) << key;
  }
  const auto world = World::Create(params, 1).value();
  ASSERT_EQ(world->Pages(kGiant), kGiantPages);
  const Lap alone = CrawlOf(*world, false, INT64_MAX);
  EXPECT_EQ(alone.account.TotalViolations(), 0U) << AccountTable(alone.account);
  const uint64_t before = ResidentBytes();
  const Lap together = CrawlOf(*world, true, alone.end_ns + alone.end_ns / 20);
  EXPECT_EQ(together.account.TotalViolations(), 0U) << AccountTable(together.account);
  EXPECT_EQ(together.account.missed, 0U);
  EXPECT_GE(together.known, kGiantPages);
  EXPECT_LT(PeakResidentBytes() - before, kMemory);
  std::printf(
      "giant: small hosts done at %.0f s without it, and all of them at %.0f s with it; %llu URLs known, peak RSS %.0f "
      "MiB\n",
      static_cast<double>(alone.end_ns) * 1e-9, static_cast<double>(together.end_ns) * 1e-9,
      static_cast<unsigned long long>(together.known), static_cast<double>(PeakResidentBytes()) / (1 << 20));
}

}  // namespace
}  // namespace portolan::sim
