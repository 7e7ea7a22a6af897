// StyleHandler: the URLs that a style sheet names, if requisites are wanted: a page that needs the sheet needs them,
// too.

#pragma once

#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"

namespace portolan {

class StyleHandler : public ContentHandler {
 public:
  explicit StyleHandler(const PageMakerOptions& options)
      : wanted_(options.requisites), max_links_(options.max_links), max_html_(options.max_html), links_(options.link) {}

  bool Takes(const PageView& view, const PageResult& result) const override;
  void Read(PageView& view, PageResult& result) override;

 private:
  const bool wanted_;
  const uint32_t max_links_;
  const uint64_t max_html_;
  LinkSink links_;
};

}  // namespace portolan
