// RedirectHandler: a redirect has one link, its target.

#pragma once

#include "parse/answer_fields.h"
#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"
#include "url/raw_bytes.h"

namespace portolan {

class RedirectHandler : public ContentHandler {
 public:
  explicit RedirectHandler(const PageMakerOptions& options) : links_(options.link) {}

  bool Takes(const PageView& /*view*/, const PageResult& result) const override {
    return IsRedirectStatus(result.status);
  }
  void Read(PageView& view, PageResult& result) override {
    const auto location = view.head.fields.Find("location");
    if (!location) return;
    links_.Begin(view.url, result, 1, 1);
    links_.Add(EscapeBrokenUtf8(*location), kFoundRedirect);
  }

 private:
  LinkSink links_;
};

}  // namespace portolan
