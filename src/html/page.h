// Page: what a crawler needs from an HTML document: links, title, robots, language, text and its outline.
//
// All strings are in one buffer and are Slices of it, so that a reused Page allocates nothing. Values are UTF-8,
// character references decoded, blanks around them cut; URLs are as the author wrote them: page_links.h resolves.
//
// Every limit has a name in PageOptions and a counter or flag in Page: nothing is left out silently.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "html/charset.h"
#include "html/tag.h"
#include "html/tokenizer.h"

namespace portolan {

struct PageOptions {
  bool text = false;        // visible text, into Page::text
  bool anchor_text = true;  // the text of each <a>, and the alternative text of images in it
  bool headings = false;    // the text of h1 to h6, into Page::headings
  bool outline = false;     // with text: where elements begin and end in it, into Page::outline
  bool facts = false;       // what meta elements, JSON-LD and time elements say of the page: PageMeta::Kind
  bool citations = false;   // cite of blockquote, q, ins, del as links
  bool styles = false;      // what style elements and style attributes name (css_links.h), backgrounds of tables
  // A meta element of this name counts as robots rules too, beside "robots" and every name that ends in "bot".
  std::string robot_name = {};

  uint32_t max_links = 100'000;           // more are counted in Page::links_dropped
  uint32_t max_value_bytes = 64 << 10;    // a longer URL or content is dropped and counted in Page::values_dropped
  uint32_t max_anchor_bytes = 256;        // anchor text is cut there, between characters
  uint32_t max_title_bytes = 1024;        // and the title
  uint32_t max_heading_bytes = 16 << 10;  // of all headings together; those beyond it are left out
  uint32_t max_text_bytes = 16 << 20;     // and the text: Page::text_cut
  uint32_t max_style_bytes = 4 << 20;     // a style element is cut there, counted in Page::values_dropped
  uint32_t max_outline = 100'000;         // events kept; later ones are not: Page::outline_cut
  uint32_t max_outline_names = 4 << 20;   // bytes of all names of the outline; later events have none
  uint32_t max_script_bytes = 256 << 10;  // a JSON-LD script is cut there
  uint32_t max_metas = 64;                // elements of each kind kept; more are counted in Page::values_dropped
  uint32_t max_kept_bytes = 256U << 20;   // of all strings but the text; then links are dropped and counted
  TokenizerLimits tokenizer = {};         // a construct over its limit ends the reading: Page::cut
};

// Bytes of Page::strings. Offset 0, size 0 means nothing.
struct Slice {
  uint32_t begin = 0;
  uint32_t size = 0;
};

enum class LinkKind : uint8_t {
  kNavigation,  // where a visitor may go: a, area, form, meta refresh, link rel=canonical, alternate, next, prev
  kFrame,       // a page shown inside the page: frame, iframe
  kEmbed,       // shown inside the page: images, media, objects, what its styles name
  kResource,    // used by the page: scripts, style sheets, icons, other link elements, citations
};
std::string_view LinkKindName(LinkKind kind);

enum class LinkAttribute : uint8_t {
  kHref,
  kSrc,
  kSrcset,
  kPoster,
  kData,
  kAction,
  kCite,
  kBackground,
  kContent,
  kImagesrcset,
  kStyle,  // a style attribute, or the text of a style element
};
std::string_view LinkAttributeName(LinkAttribute attribute);

// Bits of PageLink::rel. Words that are not here are ignored.
enum RelFlag : uint16_t {
  kRelNofollow = 1 << 0,
  kRelUgc = 1 << 1,
  kRelSponsored = 1 << 2,
  kRelCanonical = 1 << 3,
  kRelAlternate = 1 << 4,
  kRelNext = 1 << 5,
  kRelPrev = 1 << 6,  // "prev", and "previous" as many write it
  kRelStylesheet = 1 << 7,
  kRelIcon = 1 << 8,      // "icon", "apple-touch-icon", "mask-icon"
  kRelHint = 1 << 9,      // "dns-prefetch", "preconnect": a server, not a document
  kRelPreload = 1 << 10,  // "preload", "modulepreload": what the page is about to use
};
uint16_t ParseRel(std::string_view rel);

struct PageLink {
  Tag element = Tag::kUnknown;
  LinkAttribute attribute = LinkAttribute::kHref;
  LinkKind kind = LinkKind::kNavigation;
  bool in_template = false;  // inert until a script copies it
  uint16_t rel = 0;
  Slice url;
  Slice text;           // of an <a>; empty for others
  size_t position = 0;  // of the tag in the decoded document, in bytes
};

struct PageMeta {
  enum class Kind : uint8_t {
    kRobots,
    kRefresh,
    kFact,    // if facts are wanted: another meta element with content, by its property, name or itemprop
    kJsonLd,  // if facts are wanted: the text of a script of type application/ld+json
    kTime,    // if facts are wanted: the datetime of a time element; the name is its itemprop or class, or "pubdate"
  };

  Kind kind = Kind::kRobots;
  Slice name;     // "robots", "googlebot" … as written
  Slice content;  // as written
  size_t position = 0;
};

// Where an element begins or ends in Page::text: of blocks, of what stands apart by a blank (td, button …), and of <a>.
// What is not visible (templates, scripts) has none.
struct OutlineEvent {
  static constexpr uint32_t kMaxNames = 512;  // bytes; longer names are cut

  uint32_t text_at = 0;  // the size of Page::text then: text that follows begins there, behind a gap
  Tag tag = Tag::kUnknown;
  bool end = false;
  uint16_t names_size = 0;
  // In Page::outline_names: the class as written, then "#id", "@itemprop", "=role", and "!" if it is hidden, with a
  // blank before each.
  uint32_t names_begin = 0;
};

struct Page {
  std::vector<PageLink> links;  // in document order
  std::vector<PageMeta> metas;
  std::string strings;
  std::string text;                   // visible text: words separated by one blank, blocks by one line end
  std::string headings;               // one per line: the level, a blank, the text
  std::vector<OutlineEvent> outline;  // in document order
  std::string outline_names;

  bool has_base = false;
  Slice base;  // href of the first base element that has one
  size_t base_position = 0;
  Slice title;
  Slice description;
  Slice lang;              // of the html element
  Slice charset;           // the first that a meta element names
  int64_t canonical = -1;  // the first link with kRelCanonical, an index into links
  // Of the first meta element that names one there is: charset_sniff.h says when the document is in it after all.
  std::optional<Encoding> meta_encoding;

  uint64_t links_dropped = 0;   // over max_links or max_kept_bytes
  uint64_t values_dropped = 0;  // over max_value_bytes or max_metas
  bool text_cut = false;        // over max_text_bytes
  bool outline_cut = false;     // over max_outline
  bool cut = false;             // over the tokenizer's limit

  std::string_view View(Slice slice) const { return std::string_view(strings).substr(slice.begin, slice.size); }
  std::string_view NamesOf(const OutlineEvent& event) const {
    return std::string_view(outline_names).substr(event.names_begin, event.names_size);
  }
  void Clear();
};

}  // namespace portolan
