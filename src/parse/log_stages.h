// Stages that write: the link log and the text log (docs/formats/link_log.md, text_log.md). Each 2xx HTML answer has
// one record in both, even if it has no links or no text. Other answers are in the link log if they have links
// (redirects, sitemaps, robots.txt), and in the text log if they are plain text.

#pragma once

#include "parse/content_handler.h"

namespace portolan {

class LinkLogStage : public PageStage {
 public:
  void Look(PageView& view, PageResult& result) override;
};

class TextLogStage : public PageStage {
 public:
  void Look(PageView& view, PageResult& result) override;
};

}  // namespace portolan
