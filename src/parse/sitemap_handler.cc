#include "parse/sitemap_handler.h"

#include <algorithm>
#include <array>

namespace portolan {
namespace {

constexpr size_t kRootElementWithin = 1024;  // bytes: where a sitemap's or feed's root element must begin

// XML that hands out URLs, by its root element.
bool LooksLikeSitemap(std::string_view xml) {
  static constexpr std::array<std::string_view, 5> kRoots = {"<urlset", "<sitemapindex", "<rss", "<feed", "<rdf:RDF"};
  const std::string_view start = xml.substr(0, kRootElementWithin);
  return std::ranges::any_of(kRoots, [&](std::string_view root) { return start.find(root) != std::string_view::npos; });
}

uint32_t SecondsOf(ChangeFrequency frequency) {
  constexpr uint32_t kDay = 86'400;
  switch (frequency) {
    case ChangeFrequency::kNone:
      break;
    case ChangeFrequency::kAlways:
      return 1;
    case ChangeFrequency::kHourly:
      return 3600;
    case ChangeFrequency::kDaily:
      return kDay;
    case ChangeFrequency::kWeekly:
      return 7 * kDay;
    case ChangeFrequency::kMonthly:
      return 30 * kDay;
    case ChangeFrequency::kYearly:
      return 365 * kDay;
    case ChangeFrequency::kNever:
      return LinkHint::kNever;
  }
  return 0;
}

// Of the link that was added last. A URL that is named twice keeps what was said first.
void AddHint(const SitemapEntry& entry, size_t link, std::vector<LinkHint>& hints) {
  LinkHint hint{.link = static_cast<uint32_t>(link), .every_s = SecondsOf(entry.change_frequency)};
  const int64_t modified = entry.modified.value_or(0);
  if (modified > 0 && modified <= UINT32_MAX) hint.modified_s = static_cast<uint32_t>(modified);
  if (hint.modified_s == 0 && hint.every_s == 0) return;
  if (hints.empty() || hints.back().link < hint.link) hints.push_back(hint);
}

}  // namespace

bool SitemapHandler::Takes(const PageView& view, const PageResult& result) const {
  if (!view.readable || result.status / 100 != 2 || view.IsHtml()) return false;
  return result.kind == UrlKind::kSitemap || (view.sniffed.kind == ContentKind::kXml && LooksLikeSitemap(view.body));
}

void SitemapHandler::Read(PageView& view, PageResult& result) {
  links_.Begin(view.url, result, 64, limits_.max_entries);
  SitemapParser parser(limits_, [&](SitemapEntry& entry) {
    uint8_t flags = kFoundSitemap;
    if (entry.role == SitemapEntry::Role::kSitemap) flags |= kFoundSitemapFile;
    if (entry.role == SitemapEntry::Role::kHome) flags = 0;
    if (entry.role == SitemapEntry::Role::kRelated) return true;
    const bool added = links_.Add(entry.url, flags);
    if (added && result.visit != nullptr && flags != 0) AddHint(entry, links_.last(), result.visit->hints);
    return true;
  });
  parser.Feed(view.body);
  const SitemapOutcome outcome = parser.Finish();
  if (outcome != SitemapOutcome::kWhole) result.detail = SitemapOutcomeName(outcome);
}

}  // namespace portolan
