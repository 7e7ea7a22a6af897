// The breadth-first crawler in the virtual world, judged by the oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sim/oracle/judge.h"
#include "sim/virtual/bfs_crawler.h"
#include "sim/virtual/virtual_time.h"
#include "sim/virtual/virtual_web.h"
#include "sim/world/reach.h"
#include "sim/world/world.h"

namespace portolan::sim {
namespace {

// Passes hits on and keeps a hash over all of them.
class HashedHits : public HitSink {
 public:
  explicit HashedHits(HitSink& next) : next_(next) {}
  void OnHit(const Hit& hit) override {
    Take(hit.host);
    Take(hit.path_and_query);
    Take(hit.address);
    hash_ = Mix64(hash_ ^ static_cast<uint64_t>(hit.unix_ns));
    hash_ = Mix64(hash_ ^ static_cast<uint64_t>(hit.end_ns));
    hash_ = Mix64(hash_ ^ static_cast<uint64_t>(hit.status));
    next_.OnHit(hit);
  }
  void OnOpen(int64_t, uint64_t, std::string_view, uint16_t) override {}
  void OnClose(int64_t, uint64_t) override {}
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override {
    Take(name);
    next_.OnDns(unix_ns, name, type, rcode);
  }
  uint64_t hash() const { return hash_; }

 private:
  void Take(std::string_view text) { hash_ = Hash64(text, hash_); }

  HitSink& next_;
  uint64_t hash_ = 0;
};

std::unique_ptr<World> MakeWorld(std::initializer_list<std::pair<const char*, const char*>> settings, uint64_t seed) {
  WorldParams params = *LoadProfile("small");
  for (const auto& [key, value] : settings) {
    const Status status = SetParam(params, key, value);
    EXPECT_TRUE(status.has_value()) << key;
  }
  return *World::Create(params, seed);
}

// The pages that links and redirects lead to from the seeds, by the world's truth alone.
std::vector<bool> ReachablePages(const World& world, int64_t unix_ns) {
  std::vector<bool> reached(world.TotalPages());
  std::vector<Place> queue;
  const auto add = [&](const Place& place) {
    if (place.place_class != PlaceClass::kPage || world.IsSpam(place.host.domain)) return;
    if (!world.DnsWorks(place.host) || !world.TlsWorks(place.host)) return;
    if (!world.RobotsReachable(place.host, unix_ns)) return;
    const uint64_t page = world.DenseNumber(place.host, place.number);
    if (reached[page]) return;
    // Rules cost more than the rest: last.
    if (!world.Allowed(place, "portolan", unix_ns)) return;
    reached[page] = true;
    queue.push_back(place);
  };
  for (const std::string& url : world.Seeds()) add(world.FindUrl(url));
  while (!queue.empty()) {
    const Place place = queue.back();
    queue.pop_back();
    const PageKind kind = world.KindOf(place);
    if (kind == PageKind::kRedirect || kind == PageKind::kRedirectLoop) add(world.RedirectTarget(place));
    world.Links(place, unix_ns, [&](const OutLink& link) {
      if (!link.nofollow) add(link.target);
    });
  }
  return reached;
}

struct CrawlEnd {
  Account account;
  uint64_t hash = 0;
  int64_t took_ns = 0;
  double cpu_s = 0;  // processor time of the crawl alone
  BfsCrawler::Counts counts;
  VirtualWeb::Counts web;
};

CrawlEnd Crawl(const World& world, const BfsCrawler::Options& options, const Rules& rules) {
  const int64_t start_ns = static_cast<int64_t>(world.params().epoch_s) * kSecond + 86400 * kSecond;
  Judge judge(world, {.rules = rules});
  HashedHits hits(judge);
  VirtualTime time(start_ns);
  BfsCrawler crawler(time, options);
  VirtualWeb web(world, time, crawler, &hits, {});
  crawler.Attach(web);
  crawler.Seed(world.Seeds());
  const std::clock_t begin = std::clock();
  while (time.Step()) {
  }
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const std::vector<bool> reachable = ReachablePages(world, start_ns);
  EXPECT_EQ(std::count(reachable.begin(), reachable.end(), true),
            Enumerate(world, {.agent = rules.agent, .unix_ns = start_ns}).count);
  judge.Cover([&](const std::function<void(uint64_t)>& each) {
    for (uint64_t page = 0; page < reachable.size(); ++page) {
      if (reachable[page]) each(page);
    }
  });
  return {judge.Finish(time.UnixNs()), hits.hash(), time.NowNs(), cpu_s, crawler.counts(), web.counts()};
}

Rules PoliteRules() {
  Rules rules;
  rules.host_gap_ns = kSecond;
  rules.ip_gap_ns = kSecond / 2;
  rules.slack_ns = 0;
  rules.connections = 1;
  rules.crawl_delay = true;
  rules.fetches_per_url = 1;
  rules.complete = true;
  return rules;
}

constexpr BfsCrawler::Options kPolite = {.host_gap_ns = kSecond, .ip_gap_ns = kSecond / 2};

TEST(VirtualCrawlTest, SmallWorldIsCrawledWholeAndPolitely) {
  const auto world = MakeWorld({{"change_days", "0"}}, 5);
  const CrawlEnd end = Crawl(*world, kPolite, PoliteRules());
  EXPECT_EQ(end.account.TotalViolations(), 0U) << AccountTable(end.account);
  EXPECT_EQ(end.account.fetched_of_reachable, end.account.reachable);
  EXPECT_GT(end.account.reachable, 50U);
  EXPECT_EQ(end.web.wrong_address, 0U);
}

// All that can go wrong with pages and hosts, but nothing endless.
std::unique_ptr<World> MakeRoughWorld(uint64_t seed) {
  return MakeWorld({{"domains", "60"},
                    {"pages", "3000"},
                    {"robots_rules", "0.5"},
                    {"robots_groups", "0.3"},
                    {"crawl_delay", "0.3"},
                    {"robots_error", "0.1"},
                    {"robots_redirect", "0.1"},
                    {"robots_garbage", "0.05"},
                    {"robots_forbid_all", "0.05"},
                    {"redirect", "0.03"},
                    {"redirect_loop", "0.01"},
                    {"not_found", "0.02"},
                    {"gone", "0.01"},
                    {"forbidden", "0.01"},
                    {"server_error", "0.01"},
                    {"flaky", "0.03"},
                    {"soft404", "0.01"},
                    {"duplicate", "0.02"},
                    {"noindex", "0.02"},
                    {"page_nofollow", "0.02"},
                    {"fault_reset", "0.01"},
                    {"fault_reset_in_body", "0.01"},
                    {"fault_close_early", "0.01"},
                    {"fault_empty_reply", "0.01"},
                    {"fault_slow_first_byte", "0.01"},
                    {"fault_tarpit", "0.005"},
                    {"fault_endless", "0.005"},
                    {"fault_long_length", "0.01"},
                    {"fault_short_length", "0.01"},
                    {"fault_header_flood", "0.005"},
                    {"fault_garbage", "0.01"},
                    {"fault_http09", "0.01"},
                    {"fault_bad_chunks", "0.01"},
                    {"dns_not_found", "0.03"},
                    {"dns_servfail", "0.02"},
                    {"dns_silent", "0.02"},
                    {"dns_slow", "0.05"},
                    {"dns_private", "0.02"},
                    {"https", "0.5"},
                    {"bad_certificate", "0.05"},
                    {"nofollow", "0.05"},
                    {"multi_address", "0.2"},
                    {"change_days", "0"}},
                   seed);
}

TEST(VirtualCrawlTest, RoughWorldIsCrawledWholeAndPolitely) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto world = MakeRoughWorld(seed);
    const CrawlEnd end = Crawl(*world, kPolite, PoliteRules());
    EXPECT_EQ(end.account.TotalViolations(), 0U) << "seed " << seed << "\n" << AccountTable(end.account);
    EXPECT_GT(end.account.reachable, 1000U);
    EXPECT_GT(end.account.retries, 0U);
    EXPECT_EQ(end.account.unlike_world, 0U);
  }
}

TEST(VirtualCrawlTest, WhatTheCrawlerBreaksTheJudgeSees) {
  const auto world = MakeRoughWorld(4);
  BfsCrawler::Options hasty = kPolite;
  hasty.host_gap_ns = kSecond / 4;
  EXPECT_GT(Crawl(*world, hasty, PoliteRules()).account.Of(Violation::kHostGap), 100U);
  BfsCrawler::Options crowded = kPolite;
  crowded.ip_gap_ns = 0;
  const Account crowd = Crawl(*world, crowded, PoliteRules()).account;
  EXPECT_GT(crowd.Of(Violation::kIpGap), 0U);
  EXPECT_EQ(crowd.Of(Violation::kHostGap), 0U);
  BfsCrawler::Options rude = kPolite;
  rude.obey_robots = false;
  const Account rudeness = Crawl(*world, rude, PoliteRules()).account;
  EXPECT_GT(rudeness.Of(Violation::kRobotsNotAsked), 1000U);
  EXPECT_GT(rudeness.Of(Violation::kRobots), 0U);
  EXPECT_EQ(rudeness.robots_fetches, 0U);
  BfsCrawler::Options deaf = kPolite;
  deaf.retry_after = false;
  deaf.crawl_delay = false;
  const Account deafness = Crawl(*world, deaf, PoliteRules()).account;
  EXPECT_GT(deafness.Of(Violation::kRetryAfter), 0U);
  EXPECT_GT(deafness.Of(Violation::kCrawlDelay), 0U);
  BfsCrawler::Options lazy = kPolite;
  lazy.max_fetches = 500;
  const Account laziness = Crawl(*world, lazy, PoliteRules()).account;
  EXPECT_GT(laziness.Of(Violation::kMissed), 0U);
  EXPECT_EQ(laziness.TotalViolations(), laziness.missed);
  EXPECT_EQ(laziness.reachable, laziness.fetched_of_reachable + laziness.missed);
}

TEST(VirtualCrawlTest, SameSeedGivesTheSameCrawl) {
  const auto world = MakeRoughWorld(6);
  const CrawlEnd first = Crawl(*world, kPolite, PoliteRules());
  const CrawlEnd second = Crawl(*MakeRoughWorld(6), kPolite, PoliteRules());
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.took_ns, second.took_ns);
  EXPECT_EQ(AccountJson(first.account), AccountJson(second.account));
  EXPECT_NE(first.hash, Crawl(*MakeRoughWorld(7), kPolite, PoliteRules()).hash);
}

TEST(VirtualCrawlTest, TrapsAndSpamSwallowACrawlerWithoutBudgets) {
  const auto world = MakeWorld({{"domains", "40"},
                                {"pages", "2000"},
                                {"trap_calendar", "0.5"},
                                {"trap_session", "0.5"},
                                {"trap_query", "0.5"},
                                {"trap_forbidden", "0"},
                                {"spam_domains", "5"},
                                {"spam_entry", "0.05"}},
                               8);
  BfsCrawler::Options options = kPolite;
  options.max_fetches = 20'000;
  Rules rules = PoliteRules();
  rules.complete = false;
  const Account account = Crawl(*world, options, rules).account;
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  EXPECT_GT(account.traps, 5'000U);
  EXPECT_GT(account.spam, 1'000U);
}

// 41 days of a web of the real one's density, judged as it goes.
TEST(VirtualCrawlSlowTest, WeeksPassInSeconds) {
  const auto world = MakeWorld({{"domains", "2000"},
                                {"pages", "300000"},
                                {"links_mean", "59"},
                                {"max_pages_per_host", "40000"},
                                {"addresses", "2000"},
                                {"shared_address", "0"},
                                {"change_days", "0"}},
                               9);
  BfsCrawler::Options options;
  options.host_gap_ns = 60 * kSecond;
  Rules rules = PoliteRules();
  rules.host_gap_ns = options.host_gap_ns;
  rules.ip_gap_ns = 0;
  const CrawlEnd end = Crawl(*world, options, rules);
  EXPECT_EQ(end.account.TotalViolations(), 0U) << AccountTable(end.account);
  EXPECT_GT(end.account.fetches, 200'000U);
  const double days = static_cast<double>(end.took_ns) * 1e-9 / 86400;
  std::cout << end.account.fetches << " fetches, " << end.counts.links << " links, " << days << " days in " << end.cpu_s
            << " s of processor time: " << static_cast<double>(end.account.fetches) / end.cpu_s << " fetches/s\n";
}

// What the virtual world itself costs: every page once, judged, and the links thrown away.
TEST(VirtualCrawlSlowTest, FetchesAlone) {
  const auto world = MakeWorld({{"domains", "2000"},
                                {"pages", "300000"},
                                {"links_mean", "59"},
                                {"max_pages_per_host", "40000"},
                                {"addresses", "2000"}},
                               9);
  struct Nobody : FetchEvents {
    void OnPage(PageResult&& result) override { links += result.links.links.size(); }
    void OnResolved(Resolution&& /*resolution*/) override {}
    uint64_t links = 0;
  } nobody;
  const int64_t start_ns = static_cast<int64_t>(world->params().epoch_s) * kSecond;
  Judge judge(*world, {.rules = PoliteRules()});
  VirtualTime time(start_ns);
  VirtualWeb web(*world, time, nobody, &judge, {});
  const std::clock_t begin = std::clock();
  for (uint64_t page = 0; page < world->TotalPages(); ++page) {
    const Place place = world->FromDense(page);
    FetchTask task{.id = page, .url = world->UrlOf(place)};
    task.address = Address::V4(world->Resolve(world->HostName(place.host)).v4.at(0));
    web.Fetch(std::move(task));
    time.RunUntil(time.NowNs() + kMillisecond);
  }
  while (time.Step()) {
  }
  const double cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(judge.account().fetches, world->TotalPages());
  std::cout << web.counts().fetches << " fetches, " << nobody.links << " links in " << cpu_s
            << " s of processor time: " << static_cast<double>(web.counts().fetches) / cpu_s << " fetches/s\n";
}

}  // namespace
}  // namespace portolan::sim
