// Life: what of the web changes in time besides the pages' own contents: pages that are born and die, advertisements
// and dates around a text that stays, and what servers and sitemaps say about it, truthfully or not.
//
// Births: the last pages of a host, a share of `born`, do not exist when the world is made. They are born one after the
// other within born_days, so a host's pages are always those below one number. A newborn page is linked from its parent
// in the tree, from the home page while it is among the kNewest of the host, and named by the sitemap. Nothing links to
// a page that is not born yet; it is a 404.
//
// Deaths: a share of the pages without children dies, after a lognormal time of mean life_days: 404 or 410. Links to it
// stay; sitemaps leave it out.
//
// All of it is switched off by default, and then this costs nothing and draws nothing.

#pragma once

#include <cstdint>
#include <limits>

#include "sim/world/atlas.h"
#include "sim/world/draw.h"
#include "sim/world/params.h"

namespace portolan::sim {

struct LastChangeOf {
  uint64_t version = 0;  // 0: as it was made
  int64_t unix_ns = 0;
};

// The last event before `unix_ns` of a Poisson process: time is cut into windows of the mean interval, each window
// draws how many events it has (Poisson of mean 1) and when. The version is the window and the index of the event.
LastChangeOf LastEvent(uint64_t rate_draw, Salt salt, double interval_ns, int64_t epoch_ns, int64_t unix_ns);

// What a server says about its pages, per host.
enum class ValidatorHabit : uint8_t {
  kTrue,        // ETag and Last-Modified change with the bytes
  kEtagRandom,  // a new ETag with each answer
  kNow,         // Last-Modified is always now
  kFuture,      // Last-Modified is always a month ahead
  kStuck,       // every conditional request is answered 304
};
enum class LastmodHabit : uint8_t { kTrue, kAbsent, kToday };

class Life {
 public:
  static constexpr uint64_t kNewest = 10;  // of a host, on its home page
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  Life(const WorldParams& params, uint64_t seed, const Atlas& atlas);

  // ---- births and deaths, of the content host's pages
  bool has_births() const { return params_.born > 0; }
  uint64_t FirstNewborn(uint32_t content) const;           // the number of pages that were always there
  uint64_t Born(uint32_t content, int64_t unix_ns) const;  // pages that exist, or did
  int64_t BirthNs(uint32_t content, uint64_t page) const;  // the epoch for those that were always there
  // `normal`: the page is a healthy one; others do not die.
  int64_t DeathNs(uint32_t content, uint64_t page, bool normal) const;
  bool SaysGone(uint32_t content, uint64_t page) const;  // after its death: 410, otherwise 404
  // The newborn pages that the page links to at that time, and when the last of them came.
  LastChangeOf Newborn(uint32_t content, uint64_t page, int64_t unix_ns) const;

  // ---- changes of bytes that do not change the text
  LastChangeOf Boilerplate(uint32_t content, uint64_t page, int64_t unix_ns) const;

  // ---- what is said about it
  ValidatorHabit Validators(uint32_t hid) const;
  LastmodHabit Lastmod(uint32_t hid) const;
  bool LastmodHasTime(uint32_t hid) const;
  bool SaysFrequency(uint32_t hid) const;
  bool SaysMaxAge(uint32_t hid) const;
  // The page answers 304 to a request that is not conditional.
  bool AnswersUnasked(uint32_t content, uint64_t page) const;

 private:
  bool IsLeaf(uint32_t content, uint64_t page) const {
    return page != 0 && kPageBranch * page + 1 >= atlas_.Pages(content);
  }
  double Luck(Salt salt, uint64_t a, uint64_t b = 0) const { return Unit(Draw(seed_, salt, a, b)); }

  const WorldParams& params_;
  uint64_t seed_;
  const Atlas& atlas_;
  int64_t epoch_ns_;
  double birth_ns_;  // within which all are born
};

}  // namespace portolan::sim
