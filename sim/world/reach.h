// Enumerate: which numbered pages a polite crawl from the seeds would request, and their kinds.
//
// A breadth-first search without a queue: one bit per page says "seen", another "looked at", and sweeps over the bits
// are repeated until nothing is new. Memory: three bits per page. Time: each page's links are drawn once, about a
// microsecond.
//
// Traps and spam farms are not entered: they are endless. Nothing is lost by that, since every page behind them is
// reachable without them.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/world/world.h"

namespace portolan::sim {

struct ReachOptions {
  std::string agent = "portolan";
  int64_t unix_ns = 0;           // when: rules and links change in time
  bool obey_robots = true;       // robots.txt; false: as if there were none
  bool follow_nofollow = false;  // links with rel=nofollow, and those of pages that ask it of all
};

struct Reach {
  std::vector<uint64_t> pages;  // bit DenseNumber: the page is reached and may be asked for
  uint64_t count = 0;           // of them
  std::array<uint64_t, kPageKinds> by_kind{};
  uint64_t refused = 0;  // pages that links lead to, but robots.txt forbids or whose host has no address or good TLS
  uint64_t links = 0;    // looked at, repetitions included
  uint64_t trap_links = 0;
  uint64_t spam_links = 0;
  uint32_t sweeps = 0;

  bool Has(uint64_t dense) const { return (pages[dense / 64] >> (dense % 64) & 1) != 0; }
};

Reach Enumerate(const World& world, const ReachOptions& options);

}  // namespace portolan::sim
