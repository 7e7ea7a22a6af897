#include "parse/robots_handler.h"

#include <utility>

#include "parse/answer_fields.h"
#include "robots/fetch_policy.h"
#include "robots/robots_txt.h"
#include "url/raw_bytes.h"

namespace portolan {

void RobotsHandler::Read(PageView& view, PageResult& result) {
  if (!view.readable) return;  // nothing is allowed for now
  RobotsAnswer& robots = *result.robots;
  // The gate counts the hops of robots.txt, so none are counted here.
  switch (RobotsForStatus(result.status, 0)) {
    case RobotsVerdict::kAllowAll:
      robots.kind = RobotsAnswer::Kind::kAllowAll;
      break;
    case RobotsVerdict::kDisallowAll:
      robots.kind = RobotsAnswer::Kind::kDisallowAll;
      break;
    case RobotsVerdict::kFollow: {
      // Without a target that can be fetched this does not count as an answer: nothing is allowed for now.
      const auto location = view.head.fields.Find("location");
      if (location &&
          ResolveLink(EscapeBrokenUtf8(*location), view.url, link_options_, target_) == LinkOutcome::kCrawlable) {
        robots.kind = RobotsAnswer::Kind::kFollow;
        robots.follow = target_.url.href();
      }
      break;
    }
    case RobotsVerdict::kUseFile: {
      // A file that broke off may have lost the line that forbids; one cut at our size limit is what RFC 9309 asks for.
      if (IsCut(result.outcome) && result.outcome != FetchOutcome::kBodyCut) break;
      RobotsOptions options;
      options.agent = agent_;
      RobotsTxt file = ParseRobots(view.body, options);
      robots.kind = RobotsAnswer::Kind::kRules;
      robots.rules = std::move(file.rules);
      robots.crawl_delay_ms = file.crawl_delay_ms;
      links_.Begin(view.url, result, file.sitemaps.size(), options.max_sitemaps);
      for (const std::string& sitemap : file.sitemaps) links_.Add(sitemap, kFoundSitemap | kFoundSitemapFile);
      break;
    }
  }
}

}  // namespace portolan
