#include "html/foreign_content.h"

#include <array>
#include <initializer_list>

#include "base/ascii.h"
#include "html/tokenizer.h"

namespace portolan {
namespace {

// What the rules ask of a name of HTML.
enum Trait : uint8_t {
  kVoid = 1,        // has no content: never open
  kSpecial = 2,     // the standard's word, 13.2.4.2
  kClosesP = 4,     // its start tag closes an open p
  kEndsScoped = 8,  // its end tag closes the nearest of its name in scope, whatever is open in it
  kFormatting = 16,
  kTablePart = 32,
  kBreaksOut = 64,  // its start tag ends foreign content (13.2.6.5)
};

consteval std::array<uint8_t, kTagCount> MakeTraits() {
  std::array<uint8_t, kTagCount> traits{};
  const auto add = [&](uint8_t trait, std::initializer_list<Tag> tags) {
    for (const Tag tag : tags) traits[static_cast<size_t>(tag)] |= trait;
  };
  using enum Tag;
  add(kVoid, {kArea, kBase, kBasefont, kBgsound, kBr, kCol, kEmbed, kFrame, kHr, kImage, kImg, kInput, kKeygen, kLink,
              kMeta, kParam, kSource, kTrack, kWbr});
  add(kSpecial,
      {kAddress,   kApplet, kArea,     kArticle,  kAside,      kBase,     kBasefont, kBgsound, kBlockquote, kBody,
       kBr,        kButton, kCaption,  kCenter,   kCol,        kColgroup, kDd,       kDetails, kDir,        kDiv,
       kDl,        kDt,     kEmbed,    kFieldset, kFigcaption, kFigure,   kFooter,   kForm,    kFrame,      kFrameset,
       kH1,        kH2,     kH3,       kH4,       kH5,         kH6,       kHead,     kHeader,  kHgroup,     kHr,
       kHtml,      kIframe, kImg,      kInput,    kKeygen,     kLi,       kLink,     kListing, kMain,       kMarquee,
       kMenu,      kMeta,   kNav,      kNoembed,  kNoframes,   kNoscript, kObject,   kOl,      kP,          kParam,
       kPlaintext, kPre,    kScript,   kSearch,   kSection,    kSelect,   kSource,   kStyle,   kSummary,    kTable,
       kTbody,     kTd,     kTemplate, kTextarea, kTfoot,      kTh,       kThead,    kTitle,   kTr,         kTrack,
       kUl,        kWbr,    kXmp});
  add(kClosesP,
      {kAddress,    kArticle, kAside,  kBlockquote, kCenter,    kDetails, kDialog, kDir, kDiv, kDl,  kFieldset,
       kFigcaption, kFigure,  kFooter, kHeader,     kHgroup,    kMain,    kMenu,   kNav, kOl,  kP,   kSearch,
       kSection,    kSummary, kUl,     kH1,         kH2,        kH3,      kH4,     kH5,  kH6,  kPre, kListing,
       kForm,       kLi,      kDd,     kDt,         kPlaintext, kTable,   kHr,     kXmp});
  add(kEndsScoped,
      {kAddress, kApplet,  kArticle, kAside,    kBlockquote, kButton, kCenter, kDd,     kDetails, kDialog,  kDir,
       kDiv,     kDl,      kDt,      kFieldset, kFigcaption, kFigure, kFooter, kForm,   kHeader,  kHgroup,  kListing,
       kMain,    kMarquee, kMenu,    kNav,      kObject,     kOl,     kPre,    kSearch, kSection, kSummary, kUl});
  add(kFormatting, {kA, kB, kBig, kCode, kEm, kFont, kI, kNobr, kS, kSmall, kStrike, kStrong, kTt, kU});
  add(kTablePart, {kCaption, kCol, kColgroup, kTable, kTbody, kTd, kTfoot, kTh, kThead, kTr});
  add(kBreaksOut,
      {kB,   kBig,  kBlockquote, kBody,  kBr,   kCenter, kCode,   kDd,  kDiv, kDl,      kDt,   kEm,   kEmbed, kH1, kH2,
       kH3,  kH4,   kH5,         kH6,    kHead, kHr,     kI,      kImg, kLi,  kListing, kMenu, kMeta, kNobr,  kOl, kP,
       kPre, kRuby, kS,          kSmall, kSpan, kStrong, kStrike, kSub, kSup, kTable,   kTt,   kU,    kUl,    kVar});
  return traits;
}
constexpr std::array<uint8_t, kTagCount> kTraits = MakeTraits();

constexpr bool Is(Tag tag, uint8_t traits) { return (kTraits[static_cast<size_t>(tag)] & traits) != 0; }

constexpr bool IsHeading(Tag tag) { return tag >= Tag::kH1 && tag <= Tag::kH6; }
static_assert(static_cast<int>(Tag::kH6) - static_cast<int>(Tag::kH1) == 5);

constexpr bool IsMathText(Tag tag) {
  return tag == Tag::kMi || tag == Tag::kMo || tag == Tag::kMn || tag == Tag::kMs || tag == Tag::kMtext;
}

// Elements of HTML that bound every scope.
constexpr bool BoundsScope(Tag tag) {
  return tag == Tag::kApplet || tag == Tag::kCaption || tag == Tag::kTable || tag == Tag::kTd || tag == Tag::kTh ||
         tag == Tag::kMarquee || tag == Tag::kObject || tag == Tag::kTemplate || tag == Tag::kHtml;
}

// Whether an end tag in a drawing that closes nothing there is taken to close an element of HTML around it.
constexpr bool ClosesAround(Tag tag) {
  switch (tag) {
    case Tag::kUnknown:
    case Tag::kHtml:
    case Tag::kHead:
    case Tag::kBody:
    case Tag::kFrameset:
    // Names that SVG or MathML have too.
    case Tag::kAudio:
    case Tag::kCanvas:
    case Tag::kFont:
    case Tag::kVideo:
    case Tag::kSvg:
    case Tag::kMath:
    case Tag::kForeignObject:
    case Tag::kDesc:
    case Tag::kAnnotationXml:
      return false;
    default:
      return !Is(tag, kVoid) && !IsMathText(tag) && TextStateAfter(tag) == TextState::kData;
  }
}

}  // namespace

uint64_t ForeignContent::NameOf(Tag tag, std::string_view name) {
  if (tag != Tag::kUnknown) return static_cast<uint64_t>(tag);
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(AsciiLower(c))) * 0x100000001b3;
  return hash | uint64_t{1} << 63;
}

bool ForeignContent::IsSpecial(const Element& element) {
  switch (element.space) {
    case Space::kHtml:
      return Is(element.tag, kSpecial);
    case Space::kSvg:
      return element.html_inside;
    case Space::kMath:
      return element.html_inside || element.tag == Tag::kAnnotationXml;
  }
  return false;
}

template <typename Wanted, typename Bound>
int64_t ForeignContent::FindInScope(Wanted wanted, Bound bound) const {
  for (size_t i = open_.size(); i-- > 0;) {
    const Element& element = open_[i];
    const bool html = element.space == Space::kHtml;
    if (html && wanted(element)) return static_cast<int64_t>(i);
    if (html ? BoundsScope(element.tag) || bound(element.tag) : IsSpecial(element)) return -1;
  }
  return -1;
}

void ForeignContent::Push(const StartTag& tag, Space space) {
  if (open_.size() >= kMaxDepth) return;
  bool html_inside = false;
  bool hides_text = HidesText();
  if (space == Space::kSvg) {
    html_inside = tag.tag == Tag::kForeignObject || tag.tag == Tag::kDesc || tag.tag == Tag::kTitle;
    hides_text = tag.tag != Tag::kForeignObject;
  } else if (space == Space::kMath) {
    html_inside = IsMathText(tag.tag) || (tag.tag == Tag::kAnnotationXml && tag.html_encoding);
  }
  open_.push_back({NameOf(tag.tag, tag.name), tag.tag, space, html_inside, hides_text});
}

bool ForeignContent::StartIsHtml(const StartTag& tag) const {
  if (open_.empty()) return true;
  const Element& current = open_.back();
  if (current.space == Space::kHtml) return true;
  if (current.space == Space::kMath && current.tag == Tag::kAnnotationXml && tag.tag == Tag::kSvg) return true;
  if (!current.html_inside) return false;
  // Two elements of MathML that stand in its text.
  const bool math_glyph = EqualsIgnoringCase(tag.name, "mglyph") || EqualsIgnoringCase(tag.name, "malignmark");
  return !(math_glyph && current.space == Space::kMath && IsMathText(current.tag));
}

ForeignContent::Space ForeignContent::Start(const StartTag& tag) {
  if (!StartIsHtml(tag)) {
    if (!Is(tag.tag, kBreaksOut) && !(tag.tag == Tag::kFont && tag.font_style)) {
      const Space space = open_.back().space;
      if (!tag.self_closing) Push(tag, space);
      return space;
    }
    BreakOut();
  }
  if (tag.tag == Tag::kSvg || tag.tag == Tag::kMath) {
    const Space space = tag.tag == Tag::kSvg ? Space::kSvg : Space::kMath;
    if (!tag.self_closing) Push(tag, space);
    return space;
  }
  if (!open_.empty()) HtmlStart(tag);
  return Space::kHtml;
}

void ForeignContent::BreakOut() {
  while (!open_.empty() && open_.back().space != Space::kHtml && !open_.back().html_inside) open_.pop_back();
}

void ForeignContent::HtmlStart(const StartTag& tag) {
  if (tag.tag == Tag::kHtml || tag.tag == Tag::kHead || tag.tag == Tag::kBody || tag.tag == Tag::kFrameset) return;
  if (Is(tag.tag, kTablePart) && tag.tag != Tag::kTable) return StartTablePart(tag);
  if (tag.tag == Tag::kLi) CloseListItem(Tag::kLi, Tag::kLi);
  if (tag.tag == Tag::kDd || tag.tag == Tag::kDt) CloseListItem(Tag::kDd, Tag::kDt);
  if (Is(tag.tag, kClosesP)) {
    const int64_t p =
        FindInScope([](const Element& one) { return one.tag == Tag::kP; }, [](Tag one) { return one == Tag::kButton; });
    if (p >= 0) PopThrough(static_cast<size_t>(p));
  }
  // What the tokenizer reads as text ends with its own end tag, whatever that is in.
  if (Is(tag.tag, kVoid) || TextStateAfter(tag.tag) != TextState::kData) return;
  const size_t top = open_.size() - 1;
  if (IsHeading(tag.tag) && open_[top].space == Space::kHtml && IsHeading(open_[top].tag)) PopThrough(top);
  if ((tag.tag == Tag::kOption || tag.tag == Tag::kOptgroup) && IsHtml(top, Tag::kOption)) PopThrough(top);
  if (tag.tag == Tag::kA || tag.tag == Tag::kNobr) EndFormatting(NameOf(tag.tag, tag.name));
  if (tag.tag == Tag::kButton) HtmlEnd(tag.tag, tag.name);
  Push(tag, Space::kHtml);
}

void ForeignContent::CloseListItem(Tag tag, Tag other) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (IsHtml(i, tag) || IsHtml(i, other)) return PopThrough(i);
    const bool passes = IsHtml(i, Tag::kAddress) || IsHtml(i, Tag::kDiv) || IsHtml(i, Tag::kP);
    if (IsSpecial(open_[i]) && !passes) return;
  }
}

// Rows and cells close what stands between them and the element that they belong in; outside of a table they are
// nothing.
void ForeignContent::StartTablePart(const StartTag& tag) {
  const bool cell = tag.tag == Tag::kTd || tag.tag == Tag::kTh;
  const auto holds = [&](Tag one) {
    if (one == Tag::kTable || one == Tag::kTemplate) return true;
    const bool section = one == Tag::kTbody || one == Tag::kThead || one == Tag::kTfoot;
    return (section && (cell || tag.tag == Tag::kTr)) || (one == Tag::kTr && cell);
  };
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].space != Space::kHtml) {
      if (IsSpecial(open_[i])) return;
    } else if (holds(open_[i].tag)) {
      open_.resize(i + 1);
      if (tag.tag != Tag::kCol) Push(tag, Space::kHtml);
      return;
    }
  }
}

bool ForeignContent::End(Tag tag, std::string_view name, bool in_template) {
  if (tag == Tag::kTemplate && in_template) {
    for (size_t i = open_.size(); i-- > 0;) {
      if (!IsHtml(i, Tag::kTemplate)) continue;
      PopThrough(i);
      return true;
    }
    Clear();
    return true;
  }
  if (!AtForeignElement()) return HtmlEnd(tag, name);
  if (tag == Tag::kP || tag == Tag::kBr) {
    BreakOut();
    return open_.empty() || HtmlEnd(tag, name);
  }
  const uint64_t wanted = NameOf(tag, name);
  bool in_point = false;
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].space == Space::kHtml) return HtmlEnd(tag, name);
    if (open_[i].name == wanted) {
      PopThrough(i);
      return false;
    }
    in_point |= IsSpecial(open_[i]);
  }
  if (!ClosesAround(tag) || (in_point && !Is(tag, kTablePart))) return false;
  Clear();
  return true;
}

// REQUIRES: the innermost open element is HTML's, or one of HTML is around it, so that an integration point of ours
// bounds every scope.
bool ForeignContent::HtmlEnd(Tag tag, std::string_view name) {
  const uint64_t wanted = NameOf(tag, name);
  if (tag == Tag::kP || tag == Tag::kLi || IsHeading(tag) || Is(tag, kEndsScoped)) {
    const int64_t found = FindInScope(
        [&](const Element& one) { return one.name == wanted || (IsHeading(tag) && IsHeading(one.tag)); },
        [&](Tag one) {
          return (tag == Tag::kP && one == Tag::kButton) || (tag == Tag::kLi && (one == Tag::kOl || one == Tag::kUl));
        });
    if (found >= 0) PopThrough(static_cast<size_t>(found));
    return found >= 0 || tag == Tag::kP;
  }
  if (Is(tag, kTablePart)) return EndTablePart(wanted);
  if (Is(tag, kFormatting)) return EndFormatting(wanted);
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].space == Space::kHtml && open_[i].name == wanted) {
      PopThrough(i);
      return true;
    }
    if (IsSpecial(open_[i])) return false;
  }
  return false;
}

// What the adoption agency leaves open: the formatting element goes, and with it what is open in it, up to the
// innermost special element.
bool ForeignContent::EndFormatting(uint64_t name) {
  const int64_t found = FindInScope([&](const Element& one) { return one.name == name; }, [](Tag) { return false; });
  if (found < 0) return false;
  const auto at = static_cast<size_t>(found);
  size_t keep = open_.size();
  while (keep > at + 1 && !IsSpecial(open_[keep - 1])) --keep;
  open_.resize(keep);
  open_.erase(open_.begin() + found);
  return true;
}

// The scope of tables passes over integration points: "</td>" closes a drawing that is left open in its cell.
bool ForeignContent::EndTablePart(uint64_t name) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].space != Space::kHtml) continue;
    if (open_[i].name == name) {
      PopThrough(i);
      return true;
    }
    if (open_[i].tag == Tag::kTable || open_[i].tag == Tag::kTemplate) return false;
  }
  Clear();
  return true;
}

}  // namespace portolan
