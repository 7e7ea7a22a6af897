// ContentStage: the payload's digest for content-seen, where no archive computes it.
//
// Which answers content-seen looks at (docs/content.md): pages and sitemaps whose body is whole, can be read and has at
// least page_options.h's least_payload bytes. Not robots.txt: it is small and every reader wants it whole. Not bodies
// that were cut: the same beginning does not make the same page.

#pragma once

#include <algorithm>

#include "flow/outcome.h"
#include "parse/content_handler.h"
#include "parse/page_options.h"
#include "warc/digest.h"

namespace portolan {

inline bool IsForContentSeen(const PageView& view, const PageResult& result, uint64_t least_payload) {
  return result.kind != UrlKind::kRobots && result.outcome == FetchOutcome::kAnswered && !result.cut && view.readable &&
         FollowOf(result.outcome, result.status).keep && !view.response.body.empty() &&
         view.response.body.size() >= least_payload;
}

class ContentStage : public PageStage {
 public:
  explicit ContentStage(const PageMakerOptions& options) : least_payload_(options.least_payload) {}

  void Look(PageView& view, PageResult& result) override {
    if (!IsForContentSeen(view, result, least_payload_)) return;
    sha1_.Start();
    sha1_.Update(view.response.body);
    std::ranges::copy(sha1_.Finish(), result.payload_sha1.begin());
  }

 private:
  const uint64_t least_payload_;
  Digester sha1_;
};

}  // namespace portolan
