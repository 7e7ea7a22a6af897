// Stages that add facts: what a page's text is, for the stages behind; for the shard its robots directives and its
// similarity hash.

#pragma once

#include <string>

#include "parse/content_handler.h"
#include "parse/page_options.h"
#include "parse/similarity.h"
#include "text/main_text.h"

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

// The main text of every document that has text; if there is a text log also its language, and what it says about
// itself. Memory bound: the main text, kMaxPageText bytes, and what text/main_text.h says; after a page with more than
// kKeepOutline events the next one begins with fresh buffers.
class MainTextStage : public PageStage {
 public:
  static constexpr size_t kKeepOutline = 20'000;

  explicit MainTextStage(const PageMakerOptions& options) : describe_(options.text_log) {}
  void Look(PageView& view, PageResult& result) override;

 private:
  const bool describe_;
  bool large_ = false;  // the last page was
  MainTextFinder finder_;
  std::string main_text_;
};

// The hash of the main text: two pages of a site share its menus, which would make every page like every other.
class SimilarityStage : public PageStage {
 public:
  void Look(PageView& view, PageResult& result) override {
    if (view.page != nullptr) result.similarity = SimilarityHash(view.main_text);
  }
};

}  // namespace portolan
