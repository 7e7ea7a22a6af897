// HostRobots: the rules of each host, as a file for clients and as truth for the oracle.
//
// A host forbids a subset (a mask) of the sections of paths.h, each with a rule of its own, and perhaps its traps. The
// text is written from the mask and truth is read from it, so neither depends on a parser.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/world/atlas.h"
#include "sim/world/paths.h"

namespace portolan::sim {

class HostRobots {
 public:
  HostRobots(const WorldParams& params, uint64_t seed, const Atlas& atlas, const Paths& paths);

  bool Reachable(uint32_t hid) const;
  bool Allowed(const Place& place, std::string_view agent, int64_t unix_ns) const;
  double CrawlDelay(uint32_t hid, std::string_view agent) const;  // seconds

  // The body of a robots.txt that answers 200.
  std::string File(uint32_t hid, int64_t unix_ns) const;

 private:
  struct Masks {
    uint32_t any = 0;    // bit i: section i is forbidden for *
    uint32_t named = 0;  // and for the agent of NamedAgent()
  };
  bool HasRules(uint32_t hid) const;
  Masks MasksOf(uint32_t hid, int64_t unix_ns) const;
  std::string_view NamedAgent(uint32_t hid) const;
  double DelayOf(uint32_t hid) const;

  uint64_t seed_;
  double delay_share_;
  double delay_s_;
  uint64_t own_;
  int64_t change_ns_;
  const Atlas& atlas_;
  const Paths& paths_;
};

}  // namespace portolan::sim
