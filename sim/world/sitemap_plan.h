// SitemapPlan: which pages a sitemap names and what it says about them. The only place that decides it: the file and
// the truth use it.

#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/world/web.h"

namespace portolan::sim {

struct PlannedEntry {
  uint64_t page = 0;
  int64_t lastmod_s = 0;      // unix; 0: not said
  bool lastmod_time = false;  // not only the date
  bool frequency = false;     // <changefreq> is said, …
  double mean_change_s = 0;   // … by this; 0: never changes. Negative: "always", a lie
};

// Runs each(const PlannedEntry&) over the pages that part `part` of the host's sitemap names. REQUIRES: the part is not
// an index (IsSitemapIndex).
template <typename Each>
void PlanSitemap(const Web& web, uint32_t hid, uint64_t part, int64_t unix_ns, Each&& each) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kDay = 86'400;
  const uint32_t content = web.atlas.facts(hid).content;
  const uint64_t entries = web.params.sitemap_entries;
  const uint64_t first = part == 0 ? 0 : (part - 1) * entries;
  const uint64_t last = std::min(first + entries, web.atlas.Pages(hid));
  const LastmodHabit habit = web.life.Lastmod(hid);
  PlannedEntry entry;
  entry.lastmod_time = web.life.LastmodHasTime(hid);
  entry.frequency = web.life.SaysFrequency(hid);
  for (entry.page = first; entry.page < last; ++entry.page) {
    if (web.StateOf(content, entry.page, unix_ns) != PageState::kAlive) continue;
    if (web.paths.SectionOf(content, entry.page).index >= 0) continue;  // sites name what they want to be seen
    if (habit == LastmodHabit::kTrue) {
      const int64_t changed_ns = web.Contents(content, entry.page, unix_ns).unix_ns;
      entry.lastmod_s = std::max(changed_ns, web.life.BirthNs(content, entry.page)) / kSecond;
    } else {
      entry.lastmod_s = habit == LastmodHabit::kToday ? unix_ns / kSecond : 0;
    }
    if (!entry.lastmod_time) entry.lastmod_s = entry.lastmod_s / kDay * kDay;
    entry.mean_change_s = habit == LastmodHabit::kToday ? -1 : web.fate.ChangeNs(content, entry.page) / 1e9;
    each(static_cast<const PlannedEntry&>(entry));
  }
}

inline bool IsSitemapIndex(const Web& web, uint32_t hid, uint64_t part) {
  return part == 0 && web.paths.Sitemaps(hid) > 1;
}

}  // namespace portolan::sim
