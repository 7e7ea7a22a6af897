#include "parse/link_sink.h"

namespace portolan {

void LinkSink::Begin(const Url& base, PageResult& result, size_t expected, size_t max_links) {
  base_ = &base;
  result_ = &result;
  collector_.Begin(result.links, expected, max_links);
}

bool LinkSink::Add(std::string_view href, uint8_t flags) {
  const LinkOutcome outcome = ResolveLink(href, *base_, options_, link_);
  const bool crawlable = outcome == LinkOutcome::kCrawlable;
  if (crawlable && collector_.Add(link_.url.href(), link_.hash, link_.host_hash, flags)) return true;
  if (outcome == LinkOutcome::kTooLong) ++result_->links_too_long;
  if (crawlable) ++result_->links_too_many;
  ++result_->links_left_out;
  return false;
}

}  // namespace portolan
