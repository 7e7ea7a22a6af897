// HtmlHandler: reads an HTML document: charset, links, title, robots meta elements and, where an output wants them,
// anchor text, headings and visible text.
//
// Links are taken from answers of 2xx only. A refresh of the page within kRefreshIsRedirect seconds is a redirect too,
// but the page's other links count as well. Form targets and links in templates are not links: following them needs
// filling in a form or running a script.
//
// Thread: one owner. Memory bound: the page (html/page.h) and its links; buffers over kKeepBuffer are given back after
// the page that needed them.

#pragma once

#include <cstdint>
#include <memory>

#include "html/charset_sniff.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "parse/content_handler.h"
#include "parse/link_sink.h"
#include "parse/page_options.h"

namespace portolan {

class HtmlHandler : public ContentHandler {
 public:
  // A meta refresh after at most this many seconds is a redirect; one after more is a link.
  static constexpr int kRefreshIsRedirect = 10;
  static constexpr size_t kKeepBuffer = size_t{4} << 20;

  explicit HtmlHandler(const PageMakerOptions& options);

  bool Takes(const PageView& view, const PageResult& result) const override {
    return view.readable && result.status / 100 == 2 && result.kind == UrlKind::kPage && view.IsHtml();
  }
  void Read(PageView& view, PageResult& result) override;

 private:
  // Reads the document and returns its encoding.
  const Page& ReadPage(const PageView& view, CharsetDecision& decision, PageResult& result);
  void TakeLinks(PageView& view, const Page& page, PageResult& result);

  const bool embeds_;
  const bool canonical_;   // rel=canonical is a link
  const bool alternates_;  // <link rel=alternate> is one
  const bool anchors_;
  const uint32_t max_links_;
  const uint64_t max_link_bytes_;
  const uint64_t max_html_;
  const LinkOptions link_options_;
  const PageOptions reader_options_;
  std::unique_ptr<PageReader> reader_;
  bool large_ = false;  // the last page was: the next one gets a new reader
  PageLinks resolved_;
  LinkSink links_;
};

}  // namespace portolan
