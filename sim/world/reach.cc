#include "sim/world/reach.h"

#include "sim/world/link_plan.h"
#include "sim/world/web.h"

namespace portolan::sim {

Reach Enumerate(const World& world, const ReachOptions& options) {
  const Web& web = world.web();
  const Atlas& atlas = web.atlas;
  Reach reach;
  const size_t words = (atlas.total_pages() + 63) / 64;
  reach.pages.resize(words);
  std::vector<uint64_t> done(words);
  std::vector<uint64_t> refused(words);

  const auto mark = [&](uint32_t hid, uint64_t page) {
    const uint64_t dense = atlas.FirstPage(hid) + page;
    const uint64_t bit = uint64_t{1} << (dense % 64);
    uint64_t& seen = reach.pages[dense / 64];
    if (((seen | refused[dense / 64]) & bit) != 0) return;
    const HostFacts& facts = atlas.facts(hid);
    const bool open = web.DnsWorks(hid) && facts.certificate == Certificate::kGood &&
                      (!options.obey_robots ||
                       web.robots.Allowed({atlas.IdOf(hid), PlaceClass::kPage, page}, options.agent, options.unix_ns));
    if (open) {
      seen |= bit;
      ++reach.count;
    } else {
      refused[dense / 64] |= bit;
      ++reach.refused;
    }
  };

  const auto look = [&](uint32_t hid, uint64_t page) {
    const uint32_t content = atlas.facts(hid).content;
    const PageKind kind = web.fate.Kind(content, page);
    ++reach.by_kind[static_cast<size_t>(kind)];
    if (kind == PageKind::kRedirect || kind == PageKind::kRedirectLoop) {
      const Fate::Target target = web.fate.Redirect(content, page);
      mark(target.same_host ? hid : target.hid, target.page);
      return;
    }
    if (!web.fate.ShowsBody(content, page) || web.life.AnswersUnasked(content, page)) return;
    if (web.StateOf(content, page, options.unix_ns) != PageState::kAlive) return;
    if (kind == PageKind::kPageNofollow && !options.follow_nofollow) return;
    const uint64_t shown = web.Shown(content, page, kind);
    const uint64_t version = web.fate.Change(content, shown, options.unix_ns).version;
    PlanPage(web, hid, content, shown, version, options.unix_ns, [&](const PlannedLink& link) {
      ++reach.links;
      if (link.target.place_class != PlaceClass::kPage) {
        ++(link.target.place_class == PlaceClass::kSpam ? reach.spam_links : reach.trap_links);
        return;
      }
      if (link.nofollow && !options.follow_nofollow) return;
      mark(link.hid, link.target.number);
    });
  };

  mark(0, 0);
  for (bool any = true; any;) {
    any = false;
    ++reach.sweeps;
    uint32_t hid = 0;
    for (size_t word = 0; word < words; ++word) {
      // Looking at a page may mark others of the same word.
      while (const uint64_t open = reach.pages[word] & ~done[word]) {
        const int bit = std::countr_zero(open);
        done[word] |= uint64_t{1} << bit;
        any = true;
        const uint64_t dense = word * 64 + static_cast<uint64_t>(bit);
        while (atlas.FirstPage(hid + 1) <= dense) ++hid;
        while (atlas.FirstPage(hid) > dense) --hid;
        look(hid, dense - atlas.FirstPage(hid));
      }
    }
  }
  return reach;
}

}  // namespace portolan::sim
