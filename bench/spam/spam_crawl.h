// SpamCrawl: one crawl of a web with farms and giants, in virtual time, and what its fetches were worth.
//
// Useful is a page of an ordinary domain that came whole and for the first time. The world says what a request was for;
// nothing of the crawler's own counts is used. The in-degree of a domain is counted here, too, from the links of the
// pages that were fetched: distinct ordinary domains that link to it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/world/world.h"

namespace portolan::bench {

struct SpamSample {
  uint64_t fetches = 0;
  uint64_t spam = 0;
  uint64_t useful = 0;
};

struct SpamCrawlOptions {
  uint64_t fetches = 1'000'000;
  uint32_t connections = 1000;
  uint64_t memory = uint64_t{512} << 20;
  bool budgets = true;  // false: breadth first
  uint32_t vouch_base = 16;
  std::string budget_function = "ranked top=10000 least=10 most=10000";
  // Of a round of a DRUM, in virtual time: the smaller, the rarer are rounds and the shorter is the bench.
  uint64_t round_bytes_per_second = 20'000'000;
  std::string dir;  // for its state; removed at the end
  // Told fifty times on the way.
  std::function<void(const SpamSample& now)> on_progress;
};

struct DomainAccount {
  uint64_t pages = 0;  // that it has
  uint64_t fetched = 0;
  uint32_t in_degree = 0;
};

struct SpamOutcome {
  std::vector<SpamSample> samples;     // the last one is the end
  std::vector<DomainAccount> domains;  // ordinary ones, by number
  uint64_t violations = 0;             // of politeness and robots.txt, by the oracle
  uint64_t spam_hosts = 0;             // names of farms that were looked up
  double busy = 0;                     // share of the connections' time in which they fetched
  uint64_t ticks = 0;                  // queues of BEAST that were read
  uint64_t admitted = 0;               // URLs that BEAST gave out …
  uint64_t pending = 0;                // … and that were not fetched at the end, with those at the gate
  std::string where;                   // URLs that wait, by place
  double virtual_hours = 0;
  double seconds = 0;
};

Result<SpamOutcome> RunSpamCrawl(const sim::World& world, const SpamCrawlOptions& options);

}  // namespace portolan::bench
