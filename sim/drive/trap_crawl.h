// TrapCrawl: one crawl of a web with mazes and wildcard hosts to its end, in virtual time, and what its fetches were
// for.
//
// The world says what each request was for, and which pages can be reached; nothing of the crawler's own counts is
// used.
//
// Thread: one. Memory: the crawl's and the judge's.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "crawl/trap_park.h"
#include "io/env.h"
#include "sim/world/maze.h"
#include "sim/world/world.h"

namespace portolan::sim {

struct TrapCrawlOptions {
  bool budgets = false;
  bool traps = true;  // false: as a crawler without them; it ends at max_fetches
  uint64_t max_fetches = 1'000'000;
  uint32_t connections = 256;
  uint64_t memory = uint64_t{256} << 20;
  uint64_t round_bytes_per_second = 2'000'000;  // of a DRUM, in virtual time
  std::string dir = "state";
  uint64_t restart_after = 0;  // events: then it is ended at a checkpoint and opened again, each time; 0: never
  std::function<void(uint64_t fetches, uint64_t traps)> on_progress;  // every 20,000 fetches
};

struct TrapCrawlOutcome {
  bool done = false;     // it ended by itself
  uint64_t fetches = 0;  // without robots.txt
  std::array<uint64_t, kMazeKinds> mazes{};
  uint64_t wildcard = 0;  // fetches from wildcard hosts beyond the first of each of their pages
  uint64_t pages = 0;     // different reachable ones that were asked for
  uint64_t reachable = 0;
  uint64_t parked = 0;
  uint64_t held_pages = 0;  // of `reachable`, not fetched
  uint64_t violations = 0;
  uint64_t shortened = 0;
  std::vector<ParkedForm> forms;
  std::vector<std::string> missed;  // the first few
  double virtual_hours = 0;
  uint64_t order_hash = 0;

  uint64_t traps() const {
    uint64_t sum = wildcard;
    for (const uint64_t one : mazes) sum += one;
    return sum;
  }
  double trap_share() const { return fetches == 0 ? 0 : static_cast<double>(traps()) / static_cast<double>(fetches); }
  double coverage() const { return reachable == 0 ? 0 : static_cast<double>(pages) / static_cast<double>(reachable); }
};

Result<TrapCrawlOutcome> RunTrapCrawl(Env& env, const World& world, const TrapCrawlOptions& options);

// A web of friendly pages, with the mild troubles of every crawl, in which each kind of maze is on `share` of the
// hosts.
WorldParams TrapWorld(uint64_t pages, uint64_t domains, double share);

}  // namespace portolan::sim
