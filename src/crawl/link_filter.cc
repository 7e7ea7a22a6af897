#include "crawl/link_filter.h"

#include <algorithm>

namespace portolan {
namespace {

// The most steps from a page to what it needs, where each step leads to what the one before needs: a frame in a frame,
// its style sheet, what that imports, a font. Depth does not grow with these steps, so this bound ends endless chains.
constexpr uint8_t kRequisiteSteps = 8;
static_assert(kRequisiteSteps <= kMaxRequisiteSteps);

}  // namespace

uint64_t& CountOf(CrawlCounts& counts, LinkFate fate) {
  switch (fate) {
    case LinkFate::kSitemapsOff:
      return counts.sitemaps_off;
    case LinkFate::kNofollow:
      return counts.nofollow;
    case LinkFate::kEmbedsOff:
      return counts.embeds_off;
    case LinkFate::kOutOfScope:
      return counts.out_of_scope;
    case LinkFate::kRule:
      return counts.by_rule;
    case LinkFate::kBlocked:
      return counts.blocked;
    case LinkFate::kOverLimit:
      return counts.over_limit;
    case LinkFate::kTooManyHops:
      return counts.too_many_hops;
    case LinkFate::kTooDeep:
      return counts.too_deep;
    case LinkFate::kFollowed:
      break;
  }
  return counts.offered;
}

LinkFate LinkFilter::Judge(const LinkSource& from, const FoundLink& link, std::string_view url, Scope& scope,
                           UrlRecord& record, const Rule*& limit) const {
  const bool redirect = (link.flags & kFoundRedirect) != 0;
  const bool embed = (link.flags & kFoundEmbed) != 0;
  const bool needed = rules_.requisites && (link.flags & kFoundRequisite) != 0 && from.requisite < kRequisiteSteps;
  if (from.kind == UrlKind::kRobots && !rules_.sitemaps) return LinkFate::kSitemapsOff;
  if ((link.flags & kFoundNofollow) != 0 && !rules_.follow_nofollow && !redirect) return LinkFate::kNofollow;
  if (embed && !needed && !rules_.follow_embeds) return LinkFate::kEmbedsOff;
  if (from.beyond && !needed && !redirect) return LinkFate::kOutOfScope;
  record = {};
  record.url = url;
  if (redirect) {
    if (from.hops >= rules_.max_hops) return LinkFate::kTooManyHops;
    record.hops = static_cast<uint8_t>(from.hops + 1);
    record.depth = from.depth;
    record.requisite = from.requisite;
  } else if (needed) {
    // It gets its page's depth, so that a page at the greatest depth is still stored with everything it needs.
    record.depth = from.depth;
    record.requisite = static_cast<uint8_t>(from.requisite + 1);
  } else {
    // Pages from sitemaps count as near as links of a home page.
    record.depth = static_cast<uint16_t>(std::min<uint32_t>(from.depth + 1U, 0xffff));
  }
  const bool sitemap = (link.flags & kFoundSitemapFile) != 0 || (redirect && from.kind == UrlKind::kSitemap);
  if (sitemap) record.kind = UrlKind::kSitemap;
  if (rules_.depth_limited && record.depth > rules_.max_depth) return LinkFate::kTooDeep;
  const ScopeVerdict verdict = scope.Judge(record, link.host_hash);
  if (verdict.answer == ScopeAnswer::kRule) return LinkFate::kRule;
  if (verdict.answer == ScopeAnswer::kBlocked) return LinkFate::kBlocked;
  if (!verdict.inside()) return LinkFate::kOutOfScope;
  limit = verdict.rules.limit;
  const uint32_t priority = verdict.rules.priority == nullptr ? record.depth : verdict.rules.priority->priority;
  record.priority = static_cast<uint8_t>(std::min<uint32_t>(priority, rules_.priorities - 1));
  record.via = ViaOf(from.url, url);
  return LinkFate::kFollowed;
}

}  // namespace portolan
