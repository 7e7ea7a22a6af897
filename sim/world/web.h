// Web: all parts of the world together, for those that need more than World shows: rendering and enumeration.

#pragma once

#include "sim/world/atlas.h"
#include "sim/world/fate.h"
#include "sim/world/host_robots.h"
#include "sim/world/params.h"
#include "sim/world/paths.h"
#include "sim/world/text_pool.h"

namespace portolan::sim {

struct Web {
  Web(const WorldParams& world_params, uint64_t world_seed)
      : params(world_params),
        seed(world_seed),
        atlas(params, seed),
        paths(params, seed, atlas),
        fate(params, seed, atlas),
        robots(params, seed, atlas, paths),
        texts(seed) {}

  // An absolute URL, appended.
  void AppendUrl(std::string& out, const Place& place) const;
  bool DnsWorks(uint32_t hid) const {
    const HostDns dns = atlas.facts(hid).dns;
    return dns == HostDns::kFine || dns == HostDns::kSlow;
  }
  // The page whose body this one shows: itself, or what a duplicate repeats.
  uint64_t Shown(uint32_t content, uint64_t page, PageKind kind) const {
    return kind == PageKind::kDuplicate || kind == PageKind::kNearDuplicate ? fate.Source(content, page) : page;
  }

  const WorldParams params;
  const uint64_t seed;
  const Atlas atlas;
  const Paths paths;
  const Fate fate;
  const HostRobots robots;
  const TextPools texts;
};

}  // namespace portolan::sim
