// LinkFilter: which links of a page are followed, and with which record.
//
// Each link has one fate: it is followed, as a record with depth, hops, kind and priority, or it is left out for a
// reason that has a name and a counter. The reasons are tried in the order of LinkFate.
//
// Thread: one owner, the shard. The only state is the scope's. Memory: none.

#pragma once

#include <cstdint>
#include <string_view>

#include "crawl/counts.h"
#include "crawl/scope.h"
#include "flow/page_result.h"
#include "flow/url_record.h"

namespace portolan {

enum class LinkFate : uint8_t {
  kFollowed,
  kSitemapsOff,  // from robots.txt, and the settings do not want sitemaps
  kNofollow,     // the link says so
  kEmbedsOff,    // an image or a script that no page needs, and the settings do not want embeds
  kOutOfScope,
  kRule,         // a rule excludes it
  kBlocked,      // its host is on a block list
  kOverLimit,    // a rule limits the pages of its host or domain, and they were fetched; the shard finds that out
  kTooManyHops,  // of redirects
  kTooDeep,
};

// The counter of a fate.
uint64_t& CountOf(CrawlCounts& counts, LinkFate fate);

struct LinkRules {
  bool sitemaps = true;
  bool follow_nofollow = false;
  bool follow_embeds = true;
  bool requisites = false;  // follow what a page needs to be shown, in scope or not
  uint8_t max_hops = 10;
  bool depth_limited = false;
  uint16_t max_depth = 0;
  uint32_t priorities = 8;  // the last one is for all greater depths
};

// The page on which links were found.
struct LinkSource {
  UrlKind kind = UrlKind::kPage;
  uint16_t depth = 0;
  uint8_t hops = 0;
  uint8_t requisite = 0;
  bool beyond = false;   // out of scope, fetched to show another page: follow only what it needs itself
  std::string_view url;  // the via of its links; empty if not wanted
};

class LinkFilter {
 public:
  explicit LinkFilter(const LinkRules& rules) : rules_(rules) {}

  // If the fate is kFollowed, `record` is what to fetch, and `limit` the rule that limits its pages; null: none does.
  // The record's views point into `url` and `from`.
  LinkFate Judge(const LinkSource& from, const FoundLink& link, std::string_view url, Scope& scope, UrlRecord& record,
                 const Rule*& limit) const;

 private:
  const LinkRules rules_;
};

}  // namespace portolan
