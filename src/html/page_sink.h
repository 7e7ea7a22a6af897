// PageSink: the sink behind PageReader. See page_reader.h.

#pragma once

#include <array>
#include <vector>

#include "html/collapse.h"
#include "html/foreign_content.h"
#include "html/page.h"
#include "html/tokenizer.h"

namespace portolan {

class PageSink {
 public:
  static constexpr bool kWantsMarkup = false;

  PageSink(const PageOptions& options, Page& page);

  void Begin();   // a new document
  void Finish();  // its end

  bool WantsText() const { return wants_text_; }
  void Text(std::string_view piece);
  bool WantsTag(Tag tag, bool end_tag) const {
    return (interest_[static_cast<size_t>(tag)] & (end_tag ? end_mask_ : start_mask_)) != 0;
  }
  TextState StartTag(const TagToken& tag);
  void EndTag(const TagToken& tag);
  bool InForeignContent() const { return foreign_.AtForeignElement(); }

 private:
  // The attributes that are read from any element.
  enum Attribute : uint8_t {
    kHref,
    kSrc,
    kRel,
    kSrcset,
    kContent,
    kName,
    kHttpEquiv,
    kCharset,
    kData,
    kAction,
    kType,
    kCite,
    kBackground,
    kPoster,
    kLang,
    kAlt,
    kXlinkHref,
    kEncoding,
    kFontStyle,
    kStyle,
    kImagesrcset,
    kClass,
    kId,
    kRole,
    kItemprop,
    kHidden,
    kAriaHidden,
    kProperty,
    kDatetime,
    kPubdate,
    kAttributeCount
  };

  // Those that say what a block is for.
  static constexpr uint32_t kNaming =
      1U << kClass | 1U << kId | 1U << kItemprop | 1U << kRole | 1U << kHidden | 1U << kAriaHidden | 1U << kStyle;

  // Whether the page has a body or a frameset. A frameset counts until something of a body has come (the standard's
  // frameset-ok flag); in it and behind it there is nothing but frames.
  enum class Frames : uint8_t { kPossible, kBody, kInFrameset, kAfterFrameset };

  static Attribute FindAttribute(uint64_t word);
  void FindAttributes(const TagToken& tag);
  bool Has(Attribute attribute) const { return (found_ & (1U << attribute)) != 0; }
  // The decoded value, blanks around it cut. Valid until the next call.
  std::string_view Value(Attribute attribute);

  void SvgLink(const TagToken& tag);
  TextState HtmlStartTag(const TagToken& tag);
  TextState FramesetStartTag(const TagToken& tag);
  TextState BeginText(const TagToken& tag);  // of an element whose content the tokenizer reads as text
  bool RulesOutFrameset(Tag tag);
  ForeignContent::StartTag ForeignTag(const TagToken& tag);
  void Element(const TagToken& tag);
  void Anchor(const TagToken& tag);
  void Meta(const TagToken& tag);
  void MetaCharset();
  void AddLink(const TagToken& tag, Attribute from, LinkKind kind, uint16_t rel = 0);
  void AddLink(const TagToken& tag, LinkAttribute attribute, std::string_view url, LinkKind kind, uint16_t rel);
  void AddSrcset(const TagToken& tag, Attribute from);
  void AddStyleLinks(const TagToken& tag, std::string_view css, bool cut);
  // Of a style element, HTML's or SVG's. Its text is kept up to the next tag: pieces may be cut anywhere.
  void OpenStyle(const TagToken& tag);
  void CloseStyle();
  void CloseJson();
  void AddMeta(const TagToken& tag, PageMeta::Kind kind);
  void AddFact(PageMeta::Kind kind, size_t position, std::string_view name, std::string_view content);
  void MetaFact(const TagToken& tag);
  void TimeElement(const TagToken& tag);
  void AddOutline(Tag tag, bool end);
  void AddOutlineNames(OutlineEvent& event);
  bool TakesOutline() const { return collects_ && options_.outline && text_open_; }
  void CloseAnchor();
  void OpenHeading(Tag tag);
  void CloseHeading();
  void Break(Collapser::Gap gap);

  bool Fits(std::string_view value) {
    if (value.size() <= options_.max_value_bytes) return true;
    ++page_.values_dropped;
    return false;
  }
  Slice Keep(std::string_view value);
  // After any change of what is open: which text and which tags are asked for.
  void UpdateWishes();

  const PageOptions options_;
  Page& page_;
  std::array<uint8_t, kTagCount> interest_;

  uint8_t start_mask_ = 0;
  uint8_t end_mask_ = 0;
  bool wants_text_ = false;
  bool collects_ = false;  // the text that follows belongs to the page's text or to an anchor's
  bool in_title_ = false;
  bool title_seen_ = false;
  bool title_open_ = true;  // it may still grow
  bool hidden_ = false;     // in raw text that is not visible
  bool raw_open_ = false;   // the next end tag is that of an element read as text
  bool text_open_ = false;  // it may still grow
  bool in_style_ = false;   // its text is wanted
  bool in_json_ = false;    // of a script whose text is wanted
  bool in_form_ = false;
  bool has_background_ = false;  // of the body: later body tags only add what is not there
  bool anchor_open_ = false;
  bool heading_open_ = false;
  char heading_level_ = '1';
  int64_t anchor_link_ = -1;
  uint32_t template_depth_ = 0;
  Frames frames_ = Frames::kPossible;
  uint32_t frameset_depth_ = 0;
  ForeignContent foreign_;

  std::array<std::string_view, kAttributeCount> values_;
  uint32_t found_ = 0;
  std::string scratch_;
  std::string anchor_;
  std::string title_;
  std::string heading_;
  std::string style_;
  size_t style_position_ = 0;
  std::string json_;
  size_t json_position_ = 0;
  std::array<uint32_t, 5> kept_metas_{};  // by PageMeta::Kind
  Collapser anchor_gaps_;
  Collapser title_gaps_;
  Collapser heading_gaps_;
  Collapser text_gaps_;
};

}  // namespace portolan
