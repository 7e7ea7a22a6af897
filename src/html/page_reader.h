// PageReader: HTML in, Page out.
//
// It reads the tokens of tokenizer.h and follows just enough of the tree: which elements hold raw text, what is foreign
// (SVG, MathML: foreign_content.h follows it, for "<title>" and "<script>" mean something else there and CDATA sections
// exist), what lies in a template, whether the page has a body or a frameset, that a form in a form and a second base
// do not count. Scripting is off: the content of noscript is content.
//
// Links are those of the tree that a browser builds, with these departures:
//   - A link is reported once, where its tag stands. The tree builder makes copies of an <a> that is left open across
//     blocks, and moves what a table does not allow to before the table.
//   - What a template holds is inert: no browser shows or fetches it until a script copies it. Its links are reported
//     and marked (PageLink::in_template), for callers that want to guess what scripts do; page_links.h leaves them out
//     unless asked for them. Its title, base, canonical link and robots rules are not the page's. Tags that a template
//     drops because of the table modes ("<template><col><a href>") are reported.
//   - In a frameset there are only frames, and after it nothing, as in the tree: "<a>" and "<body>" there are ignored.
//     But links before a frameset that replaces a body (nothing of which was visible) are kept, and so is a frame
//     outside of a frameset: missing either could lose a site's pages, keeping them only costs a fetch.
//
// Thread: one owner. Memory bound: PageOptions. The Page is the reader's and lives until the next document.

#pragma once

#include <memory>
#include <string_view>

#include "html/page.h"

namespace portolan {

class PageReader {
 public:
  explicit PageReader(const PageOptions& options = {});
  ~PageReader();

  // A document that is all there, in UTF-8.
  const Page& Read(std::string_view html);

  // Or in pieces: Feed as often as needed, then Finish. The next Feed begins a new document.
  void Feed(std::string_view piece);
  const Page& Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace portolan
