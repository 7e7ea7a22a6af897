#include "html/page_sink.h"

#include "base/ascii.h"
#include "html/link_values.h"

namespace portolan {
namespace {

// Bits of interest_.
constexpr uint8_t kStart = 1;   // start tag always
constexpr uint8_t kEnd = 2;     // end tag always
constexpr uint8_t kBlock = 4;   // both, while text is collected: a line of its own
constexpr uint8_t kGap = 8;     // both, while text is collected: apart by a blank
constexpr uint8_t kAny = 16;    // both, in foreign content and where a frameset may still come
constexpr uint8_t kFrame = 32;  // both, in and behind a frameset

constexpr Tag kStartTags[] = {Tag::kA,        Tag::kArea,      Tag::kBase,     Tag::kBody,  Tag::kFrame,
                              Tag::kIframe,   Tag::kImg,       Tag::kImage,    Tag::kInput, Tag::kEmbed,
                              Tag::kObject,   Tag::kScript,    Tag::kForm,     Tag::kLink,  Tag::kMeta,
                              Tag::kHtml,     Tag::kSource,    Tag::kVideo,    Tag::kAudio, Tag::kTrack,
                              Tag::kTitle,    Tag::kTextarea,  Tag::kStyle,    Tag::kXmp,   Tag::kNoembed,
                              Tag::kNoframes, Tag::kPlaintext, Tag::kTemplate, Tag::kSvg,   Tag::kMath};
constexpr Tag kEndTags[] = {Tag::kA,       Tag::kTemplate, Tag::kTitle, Tag::kScript,   Tag::kStyle, Tag::kIframe,
                            Tag::kNoembed, Tag::kNoframes, Tag::kForm,  Tag::kTextarea, Tag::kXmp};
constexpr Tag kFrames[] = {Tag::kFrameset, Tag::kFrame, Tag::kNoframes, Tag::kHtml};
constexpr Tag kTableParts[] = {Tag::kTable, Tag::kThead, Tag::kTbody, Tag::kTfoot, Tag::kTr, Tag::kTd, Tag::kTh};
constexpr Tag kCitations[] = {Tag::kBlockquote, Tag::kQ, Tag::kIns, Tag::kDel};
constexpr Tag kBlocks[] = {
    Tag::kAddress, Tag::kArticle,  Tag::kAside,      Tag::kBlockquote, Tag::kBody,    Tag::kBr,      Tag::kCaption,
    Tag::kCenter,  Tag::kDd,       Tag::kDetails,    Tag::kDialog,     Tag::kDir,     Tag::kDiv,     Tag::kDl,
    Tag::kDt,      Tag::kFieldset, Tag::kFigcaption, Tag::kFigure,     Tag::kFooter,  Tag::kForm,    Tag::kFrameset,
    Tag::kH1,      Tag::kH2,       Tag::kH3,         Tag::kH4,         Tag::kH5,      Tag::kH6,      Tag::kHeader,
    Tag::kHgroup,  Tag::kHr,       Tag::kHtml,       Tag::kLegend,     Tag::kLi,      Tag::kListing, Tag::kMain,
    Tag::kMenu,    Tag::kNav,      Tag::kOl,         Tag::kOptgroup,   Tag::kOption,  Tag::kP,       Tag::kPlaintext,
    Tag::kPre,     Tag::kSearch,   Tag::kSection,    Tag::kSummary,    Tag::kTable,   Tag::kTbody,   Tag::kTfoot,
    Tag::kThead,   Tag::kTr,       Tag::kUl,         Tag::kXmp,        Tag::kNoscript};
constexpr Tag kFactTags[] = {Tag::kTime};
constexpr Tag kHeadings[] = {Tag::kH1, Tag::kH2, Tag::kH3, Tag::kH4, Tag::kH5, Tag::kH6};
constexpr Tag kGaps[] = {Tag::kTd, Tag::kTh, Tag::kButton, Tag::kSelect, Tag::kTextarea, Tag::kImg, Tag::kInput};

}  // namespace

PageSink::PageSink(const PageOptions& options, Page& page) : options_(options), page_(page) {
  interest_.fill(kAny);
  const auto add = [&](const auto& tags, uint8_t bit) {
    for (const Tag tag : tags) interest_[static_cast<size_t>(tag)] |= bit;
  };
  add(kStartTags, kStart);
  add(kEndTags, kEnd);
  if (options_.citations) add(kCitations, kStart);
  if (options_.headings) add(kHeadings, kStart | kEnd);
  if (options_.styles) add(kTableParts, kStart);
  if (options_.facts) add(kFactTags, kStart);
  add(kBlocks, kBlock);
  add(kGaps, kGap);
  add(kFrames, kFrame);
  Begin();
}

void PageSink::Begin() {
  page_.Clear();
  in_title_ = title_seen_ = hidden_ = raw_open_ = in_form_ = has_background_ = anchor_open_ = heading_open_ = false;
  title_open_ = true;
  text_open_ = options_.text;
  anchor_link_ = -1;
  template_depth_ = 0;
  frames_ = Frames::kPossible;
  frameset_depth_ = 0;
  foreign_.Clear();
  anchor_.clear();
  title_.clear();
  heading_.clear();
  style_.clear();
  json_.clear();
  in_style_ = in_json_ = false;
  kept_metas_.fill(0);
  anchor_gaps_.Clear();
  title_gaps_.Clear();
  heading_gaps_.Clear();
  text_gaps_.Clear();
  UpdateWishes();
}

void PageSink::Finish() {
  CloseAnchor();
  CloseHeading();
  if (in_style_) CloseStyle();
  if (in_json_) CloseJson();
  page_.title = Keep(title_);
}

void PageSink::UpdateWishes() {
  if (frames_ == Frames::kInFrameset || frames_ == Frames::kAfterFrameset) {
    collects_ = wants_text_ = false;
    start_mask_ = end_mask_ = kFrame;
    return;
  }
  const bool foreign = !foreign_.empty();
  const bool undecided = frames_ == Frames::kPossible;
  collects_ = (text_open_ || anchor_open_ || heading_open_) && !hidden_ && !in_title_ && template_depth_ == 0 &&
              !foreign_.HidesText();
  wants_text_ =
      collects_ || in_style_ || in_json_ || (in_title_ && title_open_) || (undecided && !hidden_ && !in_title_);
  const auto extra = static_cast<uint8_t>((collects_ ? kBlock | kGap : 0) | (foreign || undecided ? kAny : 0));
  start_mask_ = kStart | extra | (options_.styles ? kAny : 0);  // any element may have a style
  end_mask_ = kEnd | extra;
}

void PageSink::Text(std::string_view piece) {
  if (in_style_) {
    style_.append(piece.substr(0, size_t{options_.max_style_bytes} + 1 - style_.size()));  // one more: it was cut
    return;
  }
  if (in_json_) {
    json_.append(piece.substr(0, size_t{options_.max_script_bytes} - json_.size()));
    return;
  }
  if (in_title_) {
    if (title_open_) title_open_ = title_gaps_.Append(title_, 0, options_.max_title_bytes, piece);
    UpdateWishes();
    return;
  }
  if (frames_ == Frames::kPossible && piece.find_first_not_of(std::string_view("\0\t\n\f\r ", 6)) != piece.npos) {
    frames_ = Frames::kBody;
    UpdateWishes();
  }
  if (!collects_) return;
  const char* const end = piece.data() + piece.size();
  const char* const p = SkipControlsAndBlanks(piece.data(), end);
  if (p != piece.data()) Break(Collapser::Gap::kBlank);
  if (p == end) return;  // as between most tags
  if (anchor_open_) anchor_open_ = anchor_gaps_.AppendText(anchor_, 0, options_.max_anchor_bytes, p, end);
  if (heading_open_) heading_open_ = heading_gaps_.AppendText(heading_, 0, options_.max_heading_bytes, p, end);
  if (text_open_) {
    text_open_ = text_gaps_.AppendText(page_.text, 0, options_.max_text_bytes, p, end);
    page_.text_cut = !text_open_;
  }
  if (!anchor_open_ && !text_open_ && !heading_open_) UpdateWishes();
}

void PageSink::Break(Collapser::Gap gap) {
  if (anchor_open_) anchor_gaps_.Break(Collapser::Gap::kBlank);
  if (heading_open_) heading_gaps_.Break(Collapser::Gap::kBlank);
  if (text_open_) text_gaps_.Break(gap);
}

TextState PageSink::StartTag(const TagToken& tag) {
  if (in_style_) CloseStyle();
  if (in_json_) CloseJson();
  FindAttributes(tag);
  if (frames_ == Frames::kInFrameset || frames_ == Frames::kAfterFrameset) return FramesetStartTag(tag);
  if (frames_ == Frames::kPossible && RulesOutFrameset(tag.tag)) {
    frames_ = Frames::kBody;
    UpdateWishes();
  }
  if (options_.styles && Has(kStyle)) AddStyleLinks(tag, Value(kStyle), /*cut=*/false);
  if (foreign_.empty() && tag.tag != Tag::kSvg && tag.tag != Tag::kMath) return HtmlStartTag(tag);
  const ForeignContent::Space space = foreign_.Start(ForeignTag(tag));
  if (space == ForeignContent::Space::kSvg && tag.tag == Tag::kStyle && !tag.self_closing) OpenStyle(tag);
  UpdateWishes();
  if (space == ForeignContent::Space::kHtml) return HtmlStartTag(tag);
  if (space == ForeignContent::Space::kSvg) SvgLink(tag);
  return TextState::kData;
}

ForeignContent::StartTag PageSink::ForeignTag(const TagToken& tag) {
  bool html_encoding = false;
  if (tag.tag == Tag::kAnnotationXml && Has(kEncoding)) {
    // Compared as written: with an extra blank it is not an integration point.
    scratch_.clear();
    AppendAttributeValue(scratch_, values_[kEncoding]);
    html_encoding = EqualsIgnoringCase(scratch_, "text/html") || EqualsIgnoringCase(scratch_, "application/xhtml+xml");
  }
  return {.tag = tag.tag,
          .name = tag.name,
          .self_closing = tag.self_closing,
          .font_style = Has(kFontStyle),
          .html_encoding = html_encoding};
}

void PageSink::SvgLink(const TagToken& tag) {
  if (tag.tag != Tag::kA && tag.tag != Tag::kImage && tag.tag != Tag::kUse && tag.tag != Tag::kScript) return;
  const Attribute href = Has(kHref) ? kHref : kXlinkHref;
  if (!Has(href)) return;
  if (tag.tag == Tag::kUse && Value(href).starts_with('#')) return;  // of this document
  const LinkKind kind = tag.tag == Tag::kA        ? LinkKind::kNavigation
                        : tag.tag == Tag::kScript ? LinkKind::kResource
                                                  : LinkKind::kEmbed;
  AddLink(tag, href, kind, tag.tag == Tag::kA && Has(kRel) ? ParseRel(Value(kRel)) : 0);
}

// The start tags in a body that clear the standard's frameset-ok flag.
bool PageSink::RulesOutFrameset(Tag tag) {
  switch (tag) {
    case Tag::kApplet:
    case Tag::kArea:
    case Tag::kBody:
    case Tag::kBr:
    case Tag::kButton:
    case Tag::kDd:
    case Tag::kDt:
    case Tag::kEmbed:
    case Tag::kHr:
    case Tag::kIframe:
    case Tag::kImage:
    case Tag::kImg:
    case Tag::kKeygen:
    case Tag::kLi:
    case Tag::kListing:
    case Tag::kMarquee:
    case Tag::kObject:
    case Tag::kPlaintext:
    case Tag::kPre:
    case Tag::kSelect:
    case Tag::kTable:
    case Tag::kTextarea:
    case Tag::kWbr:
    case Tag::kXmp:
      return true;
    case Tag::kInput:
      return !Has(kType) || !EqualsIgnoringCase(Value(kType), "hidden");
    default:
      return false;
  }
}

// In a frameset there are frames and framesets, and noframes there and behind it; everything else is ignored.
TextState PageSink::FramesetStartTag(const TagToken& tag) {
  switch (tag.tag) {
    case Tag::kNoframes:
      return BeginText(tag);
    case Tag::kHtml:
      Element(tag);
      break;
    case Tag::kFrameset:
      if (frames_ == Frames::kInFrameset) ++frameset_depth_;
      break;
    case Tag::kFrame:
      if (frames_ == Frames::kInFrameset) Element(tag);
      break;
    default:
      break;
  }
  return TextState::kData;
}

TextState PageSink::HtmlStartTag(const TagToken& tag) {
  const uint8_t interest = interest_[static_cast<size_t>(tag.tag)];
  if (collects_ && (interest & kBlock) != 0) {
    Break(Collapser::Gap::kLine);
  } else if (collects_ && (interest & kGap) != 0) {
    Break(Collapser::Gap::kBlank);
  }
  if (TakesOutline() && ((interest & (kBlock | kGap)) != 0 || tag.tag == Tag::kA)) AddOutline(tag.tag, /*end=*/false);
  if (frames_ == Frames::kPossible && tag.tag == Tag::kFrameset && template_depth_ == 0 && foreign_.empty()) {
    CloseAnchor();
    frames_ = Frames::kInFrameset;
    frameset_depth_ = 1;
    UpdateWishes();
    return TextState::kData;
  }
  if ((interest & kStart) == 0) return TextState::kData;
  Element(tag);
  return TextStateAfter(tag.tag) == TextState::kData ? TextState::kData : BeginText(tag);
}

TextState PageSink::BeginText(const TagToken& tag) {
  const TextState next = TextStateAfter(tag.tag);
  if (tag.tag == Tag::kStyle) OpenStyle(tag);
  if (tag.tag == Tag::kScript && options_.facts && Has(kType) && template_depth_ == 0 &&
      EqualsIgnoringCase(Value(kType), "application/ld+json")) {
    in_json_ = true;
    json_position_ = tag.position;
  }
  raw_open_ = true;
  // The title of a page is the first in its tree; what a template holds is not in it.
  in_title_ = tag.tag == Tag::kTitle && template_depth_ == 0;
  hidden_ = next == TextState::kScriptData || (next == TextState::kRawtext && tag.tag != Tag::kXmp);
  if (in_title_) {
    title_open_ = !title_seen_;
    title_seen_ = true;
  }
  UpdateWishes();
  return next;
}

void PageSink::EndTag(const TagToken& tag) {
  if (in_style_) CloseStyle();
  if (in_json_) CloseJson();
  if (raw_open_) {
    raw_open_ = in_title_ = hidden_ = false;
    UpdateWishes();
  } else if (frames_ == Frames::kInFrameset) {
    if (tag.tag == Tag::kFrameset && --frameset_depth_ == 0) frames_ = Frames::kAfterFrameset;
    return;
  } else if (!foreign_.empty()) {
    const bool html = foreign_.End(tag.tag, tag.name, template_depth_ > 0);
    UpdateWishes();
    if (!html) return;
  }
  switch (tag.tag) {
    case Tag::kA:
      CloseAnchor();
      break;
    case Tag::kTemplate:
      if (template_depth_ > 0) --template_depth_;
      UpdateWishes();
      break;
    case Tag::kForm:
      if (template_depth_ == 0) in_form_ = false;
      break;
    case Tag::kH1:
    case Tag::kH2:
    case Tag::kH3:
    case Tag::kH4:
    case Tag::kH5:
    case Tag::kH6:
      CloseHeading();  // any end tag of a heading ends the one that is open, as in the tree
      break;
    default:
      break;
  }
  if (!collects_) return;
  const uint8_t interest = interest_[static_cast<size_t>(tag.tag)];
  if ((interest & kBlock) != 0) {
    Break(Collapser::Gap::kLine);
  } else if ((interest & kGap) != 0) {
    Break(Collapser::Gap::kBlank);
  }
  if (TakesOutline() && ((interest & (kBlock | kGap)) != 0 || tag.tag == Tag::kA)) AddOutline(tag.tag, /*end=*/true);
}

}  // namespace portolan
