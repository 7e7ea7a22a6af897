// Theorem 7 where the thesis does not go: beyond max_queues, and with fewer domains than keep a crawl busy.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "budget/beast.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

// Domains with one budget, judged in RAM. Records are "domain/…", 40 bytes.
class Crawl {
 public:
  static constexpr uint64_t kBudget = 5;
  static constexpr size_t kUrlBytes = 40;

  Crawl(uint32_t domains, uint32_t max_queues, uint64_t starved_scan) : domains_(domains) {
    BeastOptions options;
    options.max_queues = max_queues;
    options.starved_scan = starved_scan;
    options.durable = false;
    beast_ = Beast::Open(env_, Manifest::Open(env_, "store").value(), options).value();
  }

  Beast& beast() { return *beast_; }

  void Found(uint32_t domain) {
    std::string record = fmt::format("{}/{}", domain, next_++);
    record.resize(kUrlBytes, '.');
    Judge(record, true);
  }

  // True: a page was crawled.
  bool Step() {
    const auto page = beast_->Pop(1).value();
    while (beast_->RebudgetDue() > 0) {
      const auto failed = beast_->PopFailed(beast_->RebudgetDue()).value();
      for (const std::string& record : failed) Judge(record, false);
    }
    return !page.empty();
  }

  uint64_t traffic() const { return beast_->counts().raw_written + beast_->counts().raw_read; }

 private:
  struct Domain {
    uint64_t used = 0;
    uint64_t tick = 0;
  };

  void Judge(const std::string& record, bool fresh) {
    Domain& domain = domains_[std::stoul(record)];
    domain.used -= std::min(domain.used, (beast_->tick() - domain.tick) * kBudget);
    domain.tick = beast_->tick();
    BudgetVerdict verdict{.judged_tick = beast_->tick(), .fresh = fresh};
    verdict.place = static_cast<uint32_t>(domain.used / kBudget);
    verdict.later = verdict.place >= beast_->horizon();
    if (!verdict.later) ++domain.used;
    EXPECT_TRUE(beast_->Place(record, verdict));
  }

  MemEnv env_;
  std::unique_ptr<Beast> beast_;
  std::vector<Domain> domains_;
  uint64_t next_ = 0;
};

TEST(BeastTrafficTest, StaysWithinTheoremSevenWithFarFewerQueuesThanItAsksFor) {
  constexpr uint32_t kDomains = 10;
  constexpr uint64_t kLinks = 4;  // L
  constexpr uint64_t kQueue = kDomains * Crawl::kBudget;
  Crawl crawl(kDomains, 8, 1000);
  Rng rng(1);
  for (uint32_t i = 0; i < kDomains; ++i) crawl.Found(i);
  std::vector<uint64_t> traffic = {0};  // by page
  while (traffic.size() <= 400 * kQueue) {
    if (!crawl.Step()) continue;
    for (uint64_t i = 0; i < kLinks; ++i) crawl.Found(static_cast<uint32_t>(rng.Below(kDomains)));
    traffic.push_back(crawl.traffic());
  }
  EXPECT_EQ(crawl.beast().queues(), 8U);  // equation (31) asks for 200
  EXPECT_GE(crawl.beast().counts().passes, 6U);
  const double limit = 2.0 * Crawl::kUrlBytes * (2 * kLinks - 1);
  for (size_t n = kQueue; n < traffic.size(); ++n) {
    const size_t from = n - (n + kQueue) / 2;
    ASSERT_LE(static_cast<double>(traffic[n] - traffic[from]) / static_cast<double>(n - from), limit) << n;
  }
}

TEST(BeastTrafficTest, AGiantDomainIsNotReadWholeForEveryFewPages) {
  constexpr uint64_t kUrls = 20'000;
  constexpr uint64_t kScan = 1000;
  Crawl crawl(1, 16, kScan);
  for (uint64_t i = 0; i < kUrls; ++i) crawl.Found(0);
  uint64_t pages = 0;
  for (uint64_t steps = 0; !crawl.beast().empty(); ++steps) {
    ASSERT_LT(steps, 10 * kUrls);
    if (crawl.Step()) ++pages;
  }
  EXPECT_EQ(pages, kUrls);
  // 15 queues of 5 pages come of each thousand that are read. All of Q_F, every 16 queues, would be 2.5 million.
  EXPECT_LE(crawl.beast().counts().rebudgeted, (kUrls / (15 * Crawl::kBudget) + 10) * kScan);
}

}  // namespace
}  // namespace portolan
