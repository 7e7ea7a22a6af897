// PageReader: HTML in, Page out.
//
// The tokens of tokenizer.h with just enough sense of the tree: which elements hold raw text, what is foreign (SVG,
// MathML: "<title>" and "<script>" mean something else there, CDATA sections exist), what lies in a template, that a
// form in a form and a second base do not count. Scripting is off: the content of noscript is content.
//
// Where we depart from the tree of the standard: a link is reported once, where its tag stands. The tree builder makes
// copies of an <a> that is left open across blocks, and moves what a table does not allow to before the table.
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
