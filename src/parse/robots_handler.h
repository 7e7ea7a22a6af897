// RobotsHandler: the answer to a task of kind kRobots: its rules, and the sitemaps that robots.txt names.

#pragma once

#include <string>

#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"

namespace portolan {

class RobotsHandler : public ContentHandler {
 public:
  explicit RobotsHandler(const PageMakerOptions& options)
      : agent_(options.agent), link_options_(options.link), links_(options.link) {}

  bool Takes(const PageView& /*view*/, const PageResult& result) const override {
    return result.kind == UrlKind::kRobots;
  }
  void Read(PageView& view, PageResult& result) override;

 private:
  const std::string agent_;
  const LinkOptions link_options_;
  LinkSink links_;
  Link target_;
};

}  // namespace portolan
