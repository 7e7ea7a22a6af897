// Web: all parts of the world together, for those that need more than World shows: rendering and enumeration.

#pragma once

#include "sim/world/atlas.h"
#include "sim/world/fate.h"
#include "sim/world/host_robots.h"
#include "sim/world/life.h"
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
        life(params, seed, atlas),
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

  // The contents that the page shows at that time: its own changes, and the newborn pages that it links to. Both rise.
  LastChangeOf Contents(uint32_t content, uint64_t shown, int64_t unix_ns) const {
    LastChangeOf change = fate.Change(content, shown, unix_ns);
    if (!life.has_births()) return change;
    const LastChangeOf births = life.Newborn(content, shown, unix_ns);
    return {change.version + (births.version << 40), std::max(change.unix_ns, births.unix_ns)};
  }
  int64_t DeathNs(uint32_t content, uint64_t page) const {
    return life.DeathNs(content, page, fate.Kind(content, page) == PageKind::kNormal);
  }
  PageState StateOf(uint32_t content, uint64_t page, int64_t unix_ns) const {
    if (life.has_births() && life.BirthNs(content, page) > unix_ns) return PageState::kUnborn;
    return DeathNs(content, page) <= unix_ns ? PageState::kDead : PageState::kAlive;
  }

  const WorldParams params;
  const uint64_t seed;
  const Atlas atlas;
  const Paths paths;
  const Fate fate;
  const Life life;
  const HostRobots robots;
  const TextPools texts;
};

}  // namespace portolan::sim
