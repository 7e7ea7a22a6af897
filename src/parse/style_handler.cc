#include "parse/style_handler.h"

#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/css_links.h"
#include "parse/answer_fields.h"

namespace portolan {

bool StyleHandler::Takes(const PageView& view, const PageResult& result) const {
  return wanted_ && view.readable && result.status / 100 == 2 && result.kind == UrlKind::kPage &&
         view.sniffed.essence == "text/css";
}

void StyleHandler::Read(PageView& view, PageResult& result) {
  std::string_view body = view.body;
  const CharsetDecision decision = SniffStyleCharset(body.substr(0, kPrescanBytes), CharsetLabel(view.head.fields));
  body.remove_prefix(decision.bom_bytes);
  if (body.size() > max_html_) {
    body = body.substr(0, max_html_);
    result.cut = true;
  }
  CharsetDecoder charset(decision.encoding);
  StyleLinkReader reader(charset.Decode(body, /*last=*/true));
  links_.Begin(view.url, result, 64, max_links_);
  const bool broken_off = result.cut || IsCut(result.outcome);
  while (const auto link = reader.Next()) {
    if (link->open && broken_off) break;  // half a URL
    links_.Add(link->url, kFoundEmbed | kFoundRequisite);
  }
  view.charset = EncodingName(decision.encoding);
}

}  // namespace portolan
