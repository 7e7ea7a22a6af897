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
    if (entry.role != SitemapEntry::Role::kRelated) links_.Add(entry.url, flags);
    return true;
  });
  parser.Feed(view.body);
  const SitemapOutcome outcome = parser.Finish();
  if (outcome != SitemapOutcome::kWhole) result.detail = SitemapOutcomeName(outcome);
}

}  // namespace portolan
