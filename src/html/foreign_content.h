// ForeignContent: the elements that are open from an <svg> or a <math> on, as the standard's tree would have them.
//
// No tree is built for a page, but in foreign content the meaning of a tag depends on what is open: "<title>" is an
// element of SVG there and not raw text, unless an element in which HTML goes on (an integration point: title, desc and
// foreignObject of SVG, mi, mo, mn, ms, mtext and some annotation-xml of MathML) stands around it. So from the
// outermost svg or math to its end this class keeps the stack of open elements and changes it by the rules of 13.2.6.5
// "in foreign content" and, for HTML in an integration point, by what those of 13.2.6.4.7 "in body" do to the stack.
//
// Where we depart from the tree:
//   - What is open outside is not known. An end tag of HTML that closes nothing in the svg is assumed to close an
//     element around it (the </svg> is missing), and the svg with it; names that SVG has too, and unknown ones, are
//     not.
//   - Tables inside an integration point are followed without the table modes' finer points, and formatting elements
//     that the tree would open again are not.
//
// Bound: kMaxDepth elements; deeper ones are not followed, and their end tags are those of the last that was.
// Thread: one owner.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "html/tag.h"

namespace portolan {

class ForeignContent {
 public:
  static constexpr size_t kMaxDepth = 256;

  enum class Space : uint8_t { kHtml, kSvg, kMath };

  // Facts about a start tag besides its name.
  struct StartTag {
    Tag tag = Tag::kUnknown;
    std::string_view name;  // as written
    bool self_closing = false;
    bool font_style = false;     // a font with color, face or size
    bool html_encoding = false;  // an annotation-xml whose encoding is one of HTML's
  };

  void Clear() { open_.clear(); }
  bool empty() const { return open_.empty(); }

  // Whether the innermost open element is foreign: "<![CDATA[" opens a section there.
  bool AtForeignElement() const { return !open_.empty() && open_.back().space != Space::kHtml; }
  // Whether text here is not text of the page: labels in a drawing, but not what a foreignObject holds.
  bool HidesText() const { return !open_.empty() && open_.back().hides_text; }

  // Opens what the tag opens and gives the namespace of its element. REQUIRES: not empty(), or an svg or math tag.
  Space Start(const StartTag& tag);

  // Closes what the tag closes. True where HTML sees the end tag too: it closed an element of HTML, inside or around;
  // false where it closed a foreign one or nothing. REQUIRES: not empty(), and not the end of an element whose content
  // the tokenizer read as text. `in_template`: a template is open, here or outside.
  bool End(Tag tag, std::string_view name, bool in_template);

 private:
  struct Element {
    uint64_t name;  // NameOf
    Tag tag;
    Space space;
    bool html_inside;  // an integration point
    bool hides_text;
  };

  static uint64_t NameOf(Tag tag, std::string_view name);
  // Of the standard's "special" elements, which end most searches for what an end tag closes.
  static bool IsSpecial(const Element& element);

  bool StartIsHtml(const StartTag& tag) const;
  void HtmlStart(const StartTag& tag);
  void StartTablePart(const StartTag& tag);
  void CloseListItem(Tag tag, Tag other);
  bool HtmlEnd(Tag tag, std::string_view name);
  bool EndFormatting(uint64_t name);
  bool EndTablePart(uint64_t name);
  void BreakOut();
  void Push(const StartTag& tag, Space space);
  void PopThrough(size_t index) { open_.resize(index); }
  bool IsHtml(size_t index, Tag tag) const { return open_[index].space == Space::kHtml && open_[index].tag == tag; }

  // The index of the innermost element that `wanted` takes, before one that bounds the scope; -1 for none.
  template <typename Wanted, typename Bound>
  int64_t FindInScope(Wanted wanted, Bound bound) const;

  std::vector<Element> open_;
};

}  // namespace portolan
