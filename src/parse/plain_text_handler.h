// PlainTextHandler: the text of a plain text file, for the text log. It has no links.

#pragma once

#include <string>

#include "parse/content_handler.h"
#include "parse/page_options.h"

namespace portolan {

class PlainTextHandler : public ContentHandler {
 public:
  explicit PlainTextHandler(const PageMakerOptions& options) : wanted_(options.text_log) {}

  bool Takes(const PageView& view, const PageResult& result) const override {
    return wanted_ && view.readable && result.status / 100 == 2 && result.kind == UrlKind::kPage &&
           view.sniffed.essence == "text/plain";
  }
  void Read(PageView& view, PageResult& result) override;

 private:
  const bool wanted_;
  std::string text_;
};

}  // namespace portolan
