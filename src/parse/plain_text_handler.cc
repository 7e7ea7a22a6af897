#include "parse/plain_text_handler.h"

#include "flow/output_records.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "parse/answer_fields.h"

namespace portolan {

void PlainTextHandler::Read(PageView& view, PageResult& /*result*/) {
  std::string_view body = view.body;
  const CharsetDecision decision = SniffCharset(body.substr(0, kDetectBytes), CharsetLabel(view.head.fields));
  body.remove_prefix(decision.bom_bytes);
  body = body.substr(0, 2 * kMaxPageText);  // only UTF-16 becomes shorter, by at most half
  CharsetDecoder charset(decision.encoding);
  text_ = charset.Decode(body, /*last=*/true);
  view.text = CutUtf8(text_, kMaxPageText);
  view.charset = EncodingName(decision.encoding);
}

}  // namespace portolan
