// PageView: an answer as the handlers and stages of parsing see it. It is made once per answer: the head is parsed, the
// content coding removed, the type sniffed; a content handler then adds what the page says.
//
// It holds views into the answer, the decoded body and the reader's page, which are valid until the next answer.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "flow/fetch.h"
#include "html/page.h"
#include "http/headers.h"
#include "http/sniff.h"
#include "robots/robots_tag.h"
#include "text/language.h"
#include "text/main_text.h"
#include "text/page_facts.h"
#include "url/url.h"

namespace portolan {

struct PageView {
  const FetchResponse& response;
  const ResponseHead& head;
  const Url& url;         // of the task
  std::string_view body;  // without its content coding
  bool readable = true;   // false: the coding is broken, and the body is not what the author wrote
  Sniffed sniffed;
  RobotsTag& robots;  // robots directives: X-Robots-Tag, and meta elements, which the handler adds

  // Added by the handler.
  std::string_view charset = {};     // name of the encoding that was found; lives for ever
  const Page* page = nullptr;        // of an HTML document
  std::string_view text = {};        // visible text, UTF-8; only if a stage wants it
  std::string_view text_title = {};  // of a document that is not HTML
  std::vector<std::string_view> anchors =
      {};  // by index of PageResult::links; may be shorter; only if a stage wants it

  // Added by the first stage, MainTextStage, if a later one wants them.
  std::span<const TextRange> main = {};  // which bytes of the text are the main text; empty: none was found
  std::string_view main_text = {};       // these ranges, joined; the visible text if none was found
  LanguageGuess language = {};           // of the main text, and the facts, if there is a text log
  PageFacts facts = {};

  // A stage that sets this to false keeps the answer out of the archive and the text log.
  bool keep = true;
  bool keep_text = true;  // the same for the text log alone

  bool IsHtml() const { return sniffed.kind == ContentKind::kHtml || sniffed.essence == "application/xhtml+xml"; }
};

}  // namespace portolan
