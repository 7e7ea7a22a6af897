// LinkPlan: the links of a page, in document order. This is the only place that decides it: Links(), rendering and
// enumeration all use it.
//
// A page has, in this order: perhaps rel=canonical; the template's navigation (the first pages of the host); the
// children in the tree of pages; on home pages the children in the trees of hosts and domains; perhaps a way into a
// trap or a spam farm; then links within the host, skewed towards small numbers, with links to other domains between
// them. A domain links to a limited set of friends, drawn by popularity, so that the in-degree of domains follows a
// power law.

#pragma once

#include <cstdint>

#include "sim/world/draw.h"
#include "sim/world/maze.h"
#include "sim/world/web.h"

namespace portolan::sim {

enum class Region : uint8_t { kHead, kNavigation, kBody };

struct PlannedLink {
  Place target;
  uint32_t hid = 0;  // of the target; not for kSpam
  Region region = Region::kBody;
  bool local = false;  // on the host that shows the page, whatever mirror that is
  bool nofollow = false;
  uint64_t draw = 0;  // decides spelling and anchor
};

// Runs sink(const PlannedLink&) over the links of numbered page `page` of content host `content` as host `served`
// shows it. REQUIRES: served is content or a mirror of it.
template <typename Sink>
void PlanPage(const Web& web, uint32_t served, uint32_t content, uint64_t page, uint64_t version, int64_t unix_ns,
              Sink&& sink) {
  const WorldParams& params = web.params;
  const Atlas& atlas = web.atlas;
  const HostId self = atlas.IdOf(served);
  const HostId id = atlas.IdOf(content);
  const HostFacts& facts = atlas.facts(content);
  const uint64_t pages = atlas.Pages(content);
  // Newborn pages are linked from their parent and from the home page only, so that no other page changes at a birth.
  const uint64_t always = web.life.FirstNewborn(content);
  const uint64_t born = web.life.has_births() ? web.life.Born(content, unix_ns) : pages;
  uint64_t row = Draw(web.seed, Salt::kPageLinks, content, page);
  const double wanted = Lognormal(NextDraw(row), params.links_mean, params.links_sigma);
  const uint64_t total = static_cast<uint64_t>(std::min(wanted + 0.5, static_cast<double>(params.links_max)));
  uint64_t made = 0;

  PlannedLink link;
  const auto to_page = [&](HostId host, uint32_t hid, uint64_t number, bool local) {
    link.target = {host, PlaceClass::kPage, number};
    link.hid = hid;
    link.local = local;
    link.draw = NextDraw(row);
    ++made;
    sink(static_cast<const PlannedLink&>(link));
  };

  const uint64_t chances = NextDraw(row);
  if (static_cast<double>(chances & 0xffff) < params.canonical * 65536) {
    link.region = Region::kHead;
    to_page(id, content, page, false);
  }
  link.region = Region::kNavigation;
  for (uint64_t i = 0, n = std::min({params.links_nav, always, total}); i < n; ++i) to_page(self, served, i, true);
  link.region = Region::kBody;
  for (uint64_t child = kPageBranch * page + 1; child <= kPageBranch * page + kPageBranch && child < born; ++child) {
    to_page(self, served, child, true);
  }
  if (page == 0 && web.life.has_births()) {
    const uint64_t oldest = std::max(always, born - std::min(born, Life::kNewest));
    for (uint64_t newest = born; newest > oldest; --newest) {
      to_page(self, served, newest - 1, true);
      --made;  // beside what the page would have
    }
  }
  if (page == 0) {
    const uint32_t hosts = atlas.Hosts(id.domain);
    for (uint64_t h = kHostBranch * id.host + 1; h <= kHostBranch * id.host + kHostBranch && h < hosts; ++h) {
      const HostId other{id.domain, static_cast<uint32_t>(h)};
      to_page(other, atlas.Hid(other), 0, false);
    }
    const uint64_t first = kDomainBranch * id.domain + 1;
    for (uint64_t d = first; id.host == 0 && d < first + kDomainBranch && d < atlas.domains(); ++d) {
      const HostId other{static_cast<uint32_t>(d), 0};
      to_page(other, atlas.Hid(other), 0, false);
    }
  }
  if (facts.traps != 0 && (page == 0 || Unit(chances << 16) < params.trap_entry)) {
    link.local = true;
    link.hid = served;
    const auto enter = [&](TrapBit bit, PlaceClass trap, uint64_t state) {
      if ((facts.traps & bit) == 0) return;
      link.target = {self, trap, state};
      link.draw = NextDraw(row);
      ++made;
      sink(static_cast<const PlannedLink&>(link));
    };
    enter(kTrapCalendar, PlaceClass::kCalendar, 2026 * 12 + (chances >> 60) % 12);
    enter(kTrapSession, PlaceClass::kSession, Mix64(chances + 1) >> 4 & ((uint64_t{1} << 60) - 1));
    enter(kTrapLoop, PlaceClass::kLoop, 0);
    enter(kTrapQuery, PlaceClass::kQuery, 1);
  }
  if (facts.mazes != 0 && (page == 0 || Unit(Mix64(chances + 2)) < params.maze_entry)) {
    link.local = true;
    link.hid = served;
    for (unsigned kind = 0; kind < kMazeKinds; ++kind) {
      if ((facts.mazes >> kind & 1) == 0) continue;
      link.target = {self, PlaceClass::kMaze, MazeEntry(web, content, static_cast<MazeKind>(kind), NextDraw(row))};
      link.draw = NextDraw(row);
      ++made;
      sink(static_cast<const PlannedLink&>(link));
    }
  }
  if (atlas.all_domains() > atlas.domains() && Unit(Mix64(chances)) < params.spam_entry &&
      (params.spam_doors >= 1 || Unit(Draw(web.seed, Salt::kSpam, ~uint64_t{id.domain})) < params.spam_doors)) {
    link.draw = NextDraw(row);
    // A spammer returns to the same sites: a domain's links lead to few farms.
    const uint64_t which = params.spam_campaigns == 0 ? link.draw
                                                      : Draw(web.seed, Salt::kSpam, ~uint64_t{id.domain},
                                                             1 + (link.draw >> 32) % params.spam_campaigns);
    const uint32_t farm = atlas.domains() + static_cast<uint32_t>(Below(which, atlas.all_domains() - atlas.domains()));
    link.target = {{farm, atlas.IsWildcard(farm) ? static_cast<uint32_t>(link.draw) : 0}, PlaceClass::kSpam, 0};
    link.local = false;
    ++made;
    sink(static_cast<const PlannedLink&>(link));
  }

  const uint64_t rest = total > made ? total - made : 0;
  const bool alone = atlas.domains() < 2;
  const auto external = alone ? 0
                              : static_cast<uint64_t>(static_cast<double>(rest) * params.external_share +
                                                      static_cast<double>(chances >> 48) * 0x1p-16);
  // A host with few pages does not repeat links without limit.
  const uint64_t local = std::min(rest - std::min(rest, external), 8 + 6 * pages);
  const uint32_t friends = atlas.Friends(id.domain);
  const uint64_t nofollow_below = static_cast<uint64_t>(params.nofollow * 256);
  const uint64_t both = local + external;
  uint64_t spread = 0;
  for (uint64_t i = 0; i < both; ++i) {
    uint64_t draw = NextDraw(row);
    spread += external;
    if (spread < both) {
      // Every second one changes with the page.
      if ((i & 1) != 0 && version != 0) draw = Mix64(draw + version);
      const double unit = Unit(draw);
      link.target = {self, PlaceClass::kPage, static_cast<uint64_t>(static_cast<double>(pages) * unit * unit)};
      link.hid = served;
      link.local = true;
      link.nofollow = false;
      if (link.target.number >= always) continue;
    } else {
      spread -= both;
      const double unit = Unit(draw);
      const auto which = static_cast<uint64_t>(friends * unit * unit);
      const uint32_t domain = atlas.PopularDomain(Draw(web.seed, Salt::kFriends, id.domain, which));
      const uint64_t more = Mix64(draw ^ 0x5851f42d4c957f2d);
      HostId host{domain, 0};
      if ((more & 3) == 0) host.host = static_cast<uint32_t>(Below(more, atlas.Hosts(domain)));
      link.hid = atlas.Hid(host);
      uint64_t number = 0;
      if ((more & 4) != 0) {
        const double skew = Unit(more << 8);
        number = static_cast<uint64_t>(static_cast<double>(atlas.Pages(link.hid)) * skew * skew * skew);
      }
      if (web.life.has_births() && number >= web.life.FirstNewborn(atlas.facts(link.hid).content)) number = 0;
      link.target = {host, PlaceClass::kPage, number};
      link.local = false;
      link.nofollow = ((more >> 3) & 255) < nofollow_below;
    }
    link.draw = draw;
    sink(static_cast<const PlannedLink&>(link));
  }
}

// Of a maze: likewise.
template <typename Sink>
void PlanMaze(const Web& web, uint32_t served, uint64_t state, Sink&& sink) {
  const HostId self = web.atlas.IdOf(served);
  const uint32_t content = web.atlas.facts(served).content;
  uint64_t row = Draw(web.seed, Salt::kMaze, content, ~state);
  PlannedLink link;
  link.hid = served;
  link.local = true;
  const auto to = [&](PlaceClass place_class, uint64_t number) {
    link.target = {self, place_class, number};
    link.draw = NextDraw(row);
    sink(static_cast<const PlannedLink&>(link));
  };
  if (MazeKindOf(state) == MazeKind::kRedirect) return;
  to(PlaceClass::kPage, 0);
  MazeSteps(web, content, state, row, [&](uint64_t next) { to(PlaceClass::kMaze, next); });
  const uint64_t pages = web.atlas.Pages(served);
  for (int i = 0; i < 3; ++i) to(PlaceClass::kPage, Below(NextDraw(row), pages));
}

// The links of an endless place: on into itself, and back to pages.
template <typename Sink>
void PlanTrap(const Web& web, uint32_t served, PlaceClass trap, uint64_t state, Sink&& sink) {
  if (trap == PlaceClass::kMaze) return PlanMaze(web, served, state, sink);
  const HostId self = web.atlas.IdOf(served);
  uint64_t row =
      Draw(web.seed, Salt::kTrap, web.atlas.facts(served).content, Mix64(state) + static_cast<uint64_t>(trap));
  PlannedLink link;
  link.hid = served;
  link.local = true;
  const auto to = [&](PlaceClass place_class, uint64_t number) {
    link.target = {self, place_class, number};
    link.draw = NextDraw(row);
    sink(static_cast<const PlannedLink&>(link));
  };
  to(PlaceClass::kPage, 0);
  switch (trap) {
    case PlaceClass::kCalendar:
      if (state > 12) to(trap, state - 1);
      to(trap, state + 1);
      to(trap, state + 12);
      break;
    case PlaceClass::kSession:
      // Each look at the shop begins new sessions.
      for (int i = 0; i < 8; ++i) {
        const uint64_t session = NextDraw(row) >> 8;
        to(trap, (session & ((uint64_t{1} << 52) - 1)) * kSessionItems + NextDraw(row) % kSessionItems);
      }
      break;
    case PlaceClass::kLoop:
      for (uint64_t file = 0; file < 8; file += 2) to(trap, state / 8 * 8 + file);
      if (state / 8 < kLoopDepth) to(trap, (state / 8 + 1) * 8 + NextDraw(row) % 8);
      break;
    case PlaceClass::kQuery:
      if (state < uint64_t{1} << (kQueryBits * (kQuerySteps - 1))) {
        for (uint64_t value = 0; value < 1 << kQueryBits; value += 1) to(trap, state << kQueryBits | value);
      }
      break;
    default:
      break;
  }
  const uint64_t pages = web.atlas.Pages(served);
  for (int i = 0; i < 3; ++i) to(PlaceClass::kPage, Below(NextDraw(row), pages));
}

template <typename Sink>
void PlanSpam(const Web& web, HostId host, uint64_t page, Sink&& sink) {
  const Atlas& atlas = web.atlas;
  const uint32_t farms = atlas.all_domains() - atlas.domains();
  uint64_t row = Draw(web.seed, Salt::kSpam, (uint64_t{host.domain} << 32) + host.host, page);
  PlannedLink link;
  for (uint64_t i = 0; i < web.params.spam_links; ++i) {
    const uint64_t draw = NextDraw(row);
    link.draw = NextDraw(row);
    if (draw % 20 == 0) {  // to an ordinary site
      const HostId other{atlas.PopularDomain(draw), 0};
      link.hid = atlas.Hid(other);
      link.target = {other, PlaceClass::kPage, 0};
      link.local = false;
    } else {
      HostId other = host;
      if (draw % 20 < 8 && web.params.spam_alone == 0) {
        other.domain = atlas.domains() + static_cast<uint32_t>(Below(draw, farms));
        other.host = 0;
      }
      if (draw % 20 < 14 && atlas.IsWildcard(other.domain)) other.host = static_cast<uint32_t>(link.draw);
      link.target = {other, PlaceClass::kSpam, Below(link.draw, std::max<uint64_t>(1, web.params.spam_pages))};
      link.local = other == host;
    }
    sink(static_cast<const PlannedLink&>(link));
  }
}

}  // namespace portolan::sim
