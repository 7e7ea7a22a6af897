// StyleLinkReader: reads the URLs that a style sheet names, one after the other.
//
// The tokens are those of CSS Syntax Module Level 3, section 4: names, strings, numbers, url( ) and comments with their
// escapes, and its recovery from a bad string and a bad URL, so that "curl(", "5url(" and a comment's text are not
// taken and "\75 RL(" is. Of the grammar above the tokens it knows only this:
//
//   url(…), url("…"), src("…")    anywhere but before the block of an at-rule (@namespace, @supports, @document)
//   @import "…", @import url(…)   wherever it stands; its conditions name nothing
//   image-set("…" 1x, …)          and -webkit-image-set, strings that are their own arguments
//
// So it takes a little more than a browser: fonts in every format, images of rules that match nothing, an @import after
// other rules. Left out, because they are never fetched: data: URLs, references to the document itself ("#mask"), empty
// ones.
//
// Input is UTF-8: a whole style sheet, the text of a style element, the value of a style attribute. Each byte is read
// once. Thread: one owner. Memory bound: the longest URL that has escapes in it; otherwise URLs are views of the input.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "html/charset_sniff.h"

namespace portolan {

struct StyleLink {
  std::string_view url;  // escapes decoded, blanks around it cut; valid until the next call
  bool import = false;   // a style sheet; otherwise an image, a font …
  bool open = false;     // the input ended inside it: taken as whole by the standard, half a URL where a body was cut
};

class StyleLinkReader {
 public:
  explicit StyleLinkReader(std::string_view css) : p_(css.data()), end_(css.data() + css.size()) {}

  std::optional<StyleLink> Next();

 private:
  enum class Name : uint8_t { kOther, kUrl, kSrc, kImageSet, kImport };
  // What a string or URL is if it is the next token.
  enum class Role : uint8_t { kNone, kSource, kImport };

  // Each consumes what is at p_ and returns whether link_ was set.
  bool Token();
  bool NameOrFunction(Role role);
  bool String(Role role);
  bool UnquotedUrl(Role role);
  void Number();
  void Comment();
  void BadUrl();

  Name ReadName();
  uint32_t ReadEscape();  // REQUIRES: IsEscape(p_)
  bool IsEscape(const char* p) const;
  bool StartsName(const char* p) const;
  bool StartsNumber(const char* p) const;
  char At(const char* p) const { return p < end_ ? *p : '\0'; }

  bool Give(std::string_view raw, bool plain, bool quoted, Role role);
  void Decode(std::string_view raw, bool quoted);

  const char* p_;
  const char* const end_;
  Role next_ = Role::kNone;
  bool in_prelude_ = false;  // of an at-rule
  uint32_t image_set_ = 0;   // parentheses open since an image-set(, its own included
  StyleLink link_;
  std::string decoded_;
};

// Which encoding a style sheet is in (CSS Syntax, 3.2): byte order mark, the charset parameter of Content-Type, an
// @charset rule, UTF-8. `start` is its beginning, 1024 bytes are enough.
CharsetDecision SniffStyleCharset(std::string_view start, std::string_view header_label);

}  // namespace portolan
