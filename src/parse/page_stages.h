// Stages that add facts for the shard: a page's robots directives, and its similarity hash.

#pragma once

#include "parse/content_handler.h"
#include "parse/page_options.h"
#include "parse/similarity.h"

namespace portolan {

// robots_flags, nofollow on all links of a page that says so; noarchive and noindex where they are honoured.
class RobotsFlagsStage : public PageStage {
 public:
  explicit RobotsFlagsStage(const PageMakerOptions& options)
      : honour_noarchive_(options.honour_noarchive), honour_noindex_(options.honour_noindex) {}

  void Look(PageView& view, PageResult& result) override {
    result.robots_flags = view.robots.flags();
    if (honour_noarchive_ && view.robots.Has(RobotsTag::kNoArchive)) view.keep = false;
    if (honour_noindex_ && view.robots.Has(RobotsTag::kNoIndex)) view.keep_text = false;
    if (!view.robots.Has(RobotsTag::kNoFollow)) return;
    for (FoundLink& link : result.links.links) {
      if ((link.flags & kFoundRedirect) == 0) link.flags |= kFoundNofollow;
    }
  }

 private:
  const bool honour_noarchive_;
  const bool honour_noindex_;
};

class SimilarityStage : public PageStage {
 public:
  void Look(PageView& view, PageResult& result) override {
    if (view.page != nullptr) result.similarity = SimilarityHash(view.text);
  }
};

}  // namespace portolan
