// SitemapHandler: the pages that a sitemap or a feed names, and what it says about when they change (Visit::hints, if
// the crawl comes back). It takes answers to requests for sitemaps, and XML that
// looks like a sitemap or feed.

#pragma once

#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"

namespace portolan {

class SitemapHandler : public ContentHandler {
 public:
  explicit SitemapHandler(const PageMakerOptions& options) : limits_(options.sitemap), links_(options.link) {}

  bool Takes(const PageView& view, const PageResult& result) const override;
  void Read(PageView& view, PageResult& result) override;

 private:
  const SitemapLimits limits_;
  LinkSink links_;
};

}  // namespace portolan
