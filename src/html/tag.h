// The elements that we know, and the mapping from a name in a tag to one of them.
//
// A name of up to eight bytes is packed into a word, lower-cased by one OR, and looked up in a small table: no string
// is compared. All unknown names are Tag::kUnknown.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace portolan {

// clang-format off
#define PORTOLAN_HTML_TAGS(X) \
  X(A, "a") X(Abbr, "abbr") X(Address, "address") X(Applet, "applet") X(Area, "area") X(Article, "article") \
  X(Aside, "aside") X(Audio, "audio") X(B, "b") X(Base, "base") X(Basefont, "basefont") X(Bgsound, "bgsound") \
  X(Big, "big") X(Blockquote, "blockquote") X(Body, "body") X(Br, "br") X(Button, "button") X(Canvas, "canvas") \
  X(Caption, "caption") X(Center, "center") X(Cite, "cite") X(Code, "code") X(Col, "col") X(Colgroup, "colgroup") \
  X(Dd, "dd") X(Del, "del") X(Details, "details") X(Dialog, "dialog") X(Dir, "dir") X(Div, "div") X(Dl, "dl") \
  X(Dt, "dt") X(Em, "em") X(Embed, "embed") X(Fieldset, "fieldset") X(Figcaption, "figcaption") X(Figure, "figure") \
  X(Font, "font") X(Footer, "footer") X(Form, "form") X(Frame, "frame") X(Frameset, "frameset") X(H1, "h1") \
  X(H2, "h2") X(H3, "h3") X(H4, "h4") X(H5, "h5") X(H6, "h6") X(Head, "head") X(Header, "header") \
  X(Hgroup, "hgroup") X(Hr, "hr") X(Html, "html") X(I, "i") X(Iframe, "iframe") X(Image, "image") X(Img, "img") \
  X(Input, "input") X(Ins, "ins") X(Kbd, "kbd") X(Keygen, "keygen") X(Label, "label") X(Legend, "legend") \
  X(Li, "li") X(Link, "link") X(Listing, "listing") X(Main, "main") X(Map, "map") X(Marquee, "marquee") \
  X(Menu, "menu") X(Meta, "meta") X(Nav, "nav") X(Nobr, "nobr") X(Noembed, "noembed") X(Noframes, "noframes") \
  X(Noscript, "noscript") X(Object, "object") X(Ol, "ol") X(Optgroup, "optgroup") X(Option, "option") X(P, "p") \
  X(Param, "param") X(Picture, "picture") X(Plaintext, "plaintext") X(Pre, "pre") X(Q, "q") X(Ruby, "ruby") \
  X(S, "s") X(Samp, "samp") X(Script, "script") X(Search, "search") X(Section, "section") X(Select, "select") \
  X(Small, "small") X(Source, "source") X(Span, "span") X(Strike, "strike") X(Strong, "strong") X(Style, "style") \
  X(Sub, "sub") X(Summary, "summary") X(Sup, "sup") X(Table, "table") X(Tbody, "tbody") X(Td, "td") \
  X(Template, "template") X(Textarea, "textarea") X(Tfoot, "tfoot") X(Th, "th") X(Thead, "thead") X(Time, "time") X(Title, "title") \
  X(Tr, "tr") X(Track, "track") X(Tt, "tt") X(U, "u") X(Ul, "ul") X(Var, "var") X(Video, "video") X(Wbr, "wbr") \
  X(Xmp, "xmp") \
  X(Svg, "svg") X(Math, "math") X(ForeignObject, "foreignobject") X(Desc, "desc") X(AnnotationXml, "annotation-xml") \
  X(Use, "use") X(Mi, "mi") X(Mo, "mo") X(Mn, "mn") X(Ms, "ms") X(Mtext, "mtext")
// clang-format on

enum class Tag : uint8_t {
  kUnknown,
#define PORTOLAN_TAG_ENUM(id, name) k##id,
  PORTOLAN_HTML_TAGS(PORTOLAN_TAG_ENUM)
#undef PORTOLAN_TAG_ENUM
      kCount,
};

inline constexpr size_t kTagCount = static_cast<size_t>(Tag::kCount);

inline constexpr std::string_view kTagNames[kTagCount] = {"",
#define PORTOLAN_TAG_NAME(id, name) name,
                                                          PORTOLAN_HTML_TAGS(PORTOLAN_TAG_NAME)
#undef PORTOLAN_TAG_NAME
};

// "div" for Tag::kDiv, "" for Tag::kUnknown.
constexpr std::string_view TagName(Tag tag) { return kTagNames[static_cast<size_t>(tag)]; }

// The word of a name of one to eight bytes: zero-padded, each byte with bit 5 set. Letters become lower case, digits
// and '-' stay. REQUIRES of a name to be looked up: no byte below '-' (a control character would become a digit).
constexpr uint64_t PackName(std::string_view name) {
  uint64_t word = 0;
  for (size_t i = 0; i < name.size() && i < 8; ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(name[i]) | 0x20) << (8 * i);
  }
  return word;
}

namespace tag_internal {

struct Slot {
  uint64_t key = 0;
  Tag tag = Tag::kUnknown;
};

inline constexpr size_t kSlotCount = 512;  // four times the names: most are found at once

constexpr size_t SlotOf(uint64_t key) { return (key * 0x9e3779b97f4a7c15) >> (64 - std::bit_width(kSlotCount - 1)); }

consteval std::array<Slot, kSlotCount> MakeSlots() {
  std::array<Slot, kSlotCount> slots{};
  for (size_t i = 1; i < kTagCount; ++i) {
    if (kTagNames[i].size() > 8) continue;
    const uint64_t key = PackName(kTagNames[i]);
    size_t slot = SlotOf(key);
    while (slots[slot].key != 0) slot = (slot + 1) % kSlotCount;
    slots[slot] = {key, static_cast<Tag>(i)};
  }
  return slots;
}

inline constexpr std::array<Slot, kSlotCount> kSlots = MakeSlots();

}  // namespace tag_internal

// By a packed name of at most eight bytes.
inline Tag FindTag(uint64_t packed) {
  using namespace tag_internal;
  for (size_t slot = SlotOf(packed);; slot = (slot + 1) % kSlotCount) {
    if (kSlots[slot].key == packed) return kSlots[slot].tag;
    if (kSlots[slot].key == 0) return Tag::kUnknown;
  }
}

// By any name, however long and whatever its bytes. REQUIRES: name is not empty.
Tag FindTag(std::string_view name);

}  // namespace portolan
