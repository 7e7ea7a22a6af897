#include "html/page_sink.h"

#include "base/ascii.h"
#include "html/link_values.h"

namespace portolan {
namespace {

// Bits of interest_.
constexpr uint8_t kStart = 1;  // start tag always
constexpr uint8_t kEnd = 2;    // end tag always
constexpr uint8_t kBlock = 4;  // both, while text is collected: a line of its own
constexpr uint8_t kGap = 8;    // both, while text is collected: apart by a blank
constexpr uint8_t kAny = 16;   // both, in foreign content

// Nesting of svg and math deeper than this is not followed; its end tags are those of the last level that was.
constexpr size_t kMaxForeignDepth = 256;

constexpr Tag kStartTags[] = {Tag::kA,        Tag::kArea,      Tag::kBase,     Tag::kBody,  Tag::kFrame,
                              Tag::kIframe,   Tag::kImg,       Tag::kImage,    Tag::kInput, Tag::kEmbed,
                              Tag::kObject,   Tag::kScript,    Tag::kForm,     Tag::kLink,  Tag::kMeta,
                              Tag::kHtml,     Tag::kSource,    Tag::kVideo,    Tag::kAudio, Tag::kTrack,
                              Tag::kTitle,    Tag::kTextarea,  Tag::kStyle,    Tag::kXmp,   Tag::kNoembed,
                              Tag::kNoframes, Tag::kPlaintext, Tag::kTemplate, Tag::kSvg,   Tag::kMath};
constexpr Tag kEndTags[] = {Tag::kA,      Tag::kTemplate, Tag::kTitle,    Tag::kScript, Tag::kStyle,
                            Tag::kIframe, Tag::kNoembed,  Tag::kNoframes, Tag::kForm};
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
constexpr Tag kGaps[] = {Tag::kTd, Tag::kTh, Tag::kButton, Tag::kSelect, Tag::kTextarea, Tag::kImg, Tag::kInput};

// Start tags that end foreign content wherever they stand in it (13.2.6.5); font only with certain attributes.
constexpr bool BreaksOut(Tag tag) {
  switch (tag) {
    case Tag::kB:
    case Tag::kBig:
    case Tag::kBlockquote:
    case Tag::kBody:
    case Tag::kBr:
    case Tag::kCenter:
    case Tag::kCode:
    case Tag::kDd:
    case Tag::kDiv:
    case Tag::kDl:
    case Tag::kDt:
    case Tag::kEm:
    case Tag::kEmbed:
    case Tag::kH1:
    case Tag::kH2:
    case Tag::kH3:
    case Tag::kH4:
    case Tag::kH5:
    case Tag::kH6:
    case Tag::kHead:
    case Tag::kHr:
    case Tag::kI:
    case Tag::kImg:
    case Tag::kLi:
    case Tag::kListing:
    case Tag::kMenu:
    case Tag::kMeta:
    case Tag::kNobr:
    case Tag::kOl:
    case Tag::kP:
    case Tag::kPre:
    case Tag::kRuby:
    case Tag::kS:
    case Tag::kSmall:
    case Tag::kSpan:
    case Tag::kStrong:
    case Tag::kStrike:
    case Tag::kSub:
    case Tag::kSup:
    case Tag::kTable:
    case Tag::kTt:
    case Tag::kU:
    case Tag::kUl:
    case Tag::kVar:
      return true;
    default:
      return false;
  }
}

bool IsMathText(Tag tag) {
  return tag == Tag::kMi || tag == Tag::kMo || tag == Tag::kMn || tag == Tag::kMs || tag == Tag::kMtext;
}

}  // namespace

PageSink::PageSink(const PageOptions& options, Page& page) : options_(options), page_(page) {
  interest_.fill(kAny);
  const auto add = [&](const auto& tags, uint8_t bit) {
    for (const Tag tag : tags) interest_[static_cast<size_t>(tag)] |= bit;
  };
  add(kStartTags, kStart);
  add(kEndTags, kEnd);
  if (options_.citations) add(kCitations, kStart);
  add(kBlocks, kBlock);
  add(kGaps, kGap);
  Begin();
}

void PageSink::Begin() {
  page_.Clear();
  in_title_ = title_seen_ = hidden_ = in_form_ = anchor_open_ = false;
  title_open_ = true;
  text_open_ = options_.text;
  anchor_link_ = -1;
  template_depth_ = 0;
  foreign_.clear();
  anchor_.clear();
  title_.clear();
  anchor_gaps_.Clear();
  title_gaps_.Clear();
  text_gaps_.Clear();
  UpdateWishes();
}

void PageSink::Finish() {
  CloseAnchor();
  page_.title = Keep(title_);
}

void PageSink::UpdateWishes() {
  const bool foreign = !foreign_.empty();
  const bool in_svg = foreign && foreign_.back().svg && !(foreign_.back().tag == Tag::kForeignObject);
  const bool shown = !hidden_ && template_depth_ == 0 && !in_svg && !in_title_;
  const bool collects = (text_open_ || anchor_open_) && shown;
  wants_text_ = collects || (in_title_ && title_open_);
  const auto extra = static_cast<uint8_t>((collects ? kBlock | kGap : 0) | (foreign ? kAny : 0));
  start_mask_ = kStart | extra;
  end_mask_ = kEnd | extra;
}

void PageSink::Text(std::string_view piece) {
  if (in_title_) {
    if (title_open_) title_open_ = title_gaps_.Append(title_, 0, options_.max_title_bytes, piece);
  } else {
    if (anchor_open_) anchor_open_ = anchor_gaps_.Append(anchor_, 0, options_.max_anchor_bytes, piece);
    if (text_open_) {
      text_open_ = text_gaps_.Append(page_.text, 0, options_.max_text_bytes, piece);
      page_.text_cut = !text_open_;
    }
    if (anchor_open_ || text_open_) return;
  }
  UpdateWishes();
}

void PageSink::Break(Collapser::Gap gap) {
  if (anchor_open_) anchor_gaps_.Break(Collapser::Gap::kBlank);
  if (text_open_) text_gaps_.Break(gap);
}

TextState PageSink::StartTag(const TagToken& tag) {
  FindAttributes(tag);
  if (InForeignContent()) return ForeignStartTag(tag);
  return HtmlStartTag(tag);
}

TextState PageSink::ForeignStartTag(const TagToken& tag) {
  if (BreaksOut(tag.tag) || (tag.tag == Tag::kFont && Has(kFontStyle))) {
    while (InForeignContent()) foreign_.pop_back();
    UpdateWishes();
    return HtmlStartTag(tag);
  }
  const bool svg = foreign_.back().svg;
  if (svg && (tag.tag == Tag::kA || tag.tag == Tag::kImage || tag.tag == Tag::kScript)) {
    const Attribute href = Has(kHref) ? kHref : kXlinkHref;
    const LinkKind kind = tag.tag == Tag::kA       ? LinkKind::kNavigation
                          : tag.tag == Tag::kImage ? LinkKind::kEmbed
                                                   : LinkKind::kResource;
    if (Has(href)) AddLink(tag, href, kind, tag.tag == Tag::kA && Has(kRel) ? ParseRel(Value(kRel)) : 0);
    return TextState::kData;
  }
  if (tag.self_closing || foreign_.size() >= kMaxForeignDepth) return TextState::kData;
  if (svg) {
    if (tag.tag == Tag::kSvg) foreign_.push_back({tag.tag, true, false});
    if (tag.tag == Tag::kForeignObject || tag.tag == Tag::kDesc || tag.tag == Tag::kTitle) {
      foreign_.push_back({tag.tag, true, true});
    }
  } else if (tag.tag == Tag::kMath || tag.tag == Tag::kSvg) {
    foreign_.push_back({tag.tag, tag.tag == Tag::kSvg, false});
  } else if (IsMathText(tag.tag)) {
    foreign_.push_back({tag.tag, false, true});
  } else if (tag.tag == Tag::kAnnotationXml && Has(kEncoding)) {
    const std::string_view encoding = Value(kEncoding);
    if (EqualsIgnoringCase(encoding, "text/html") || EqualsIgnoringCase(encoding, "application/xhtml+xml")) {
      foreign_.push_back({tag.tag, false, true});
    }
  }
  UpdateWishes();
  return TextState::kData;
}

void PageSink::ForeignEndTag(const TagToken& tag) {
  // What ends an element of HTML around the svg ends the svg with it.
  const bool breaks = (interest_[static_cast<size_t>(tag.tag)] & kBlock) != 0;
  if (foreign_.back().html_inside) {
    if (foreign_.back().tag == tag.tag) foreign_.pop_back();
  } else if (breaks) {
    while (InForeignContent()) foreign_.pop_back();
  } else {
    // Up to the nearest of this name, not past a place where HTML goes on.
    for (size_t i = foreign_.size(); i > 0; --i) {
      if (foreign_[i - 1].tag == tag.tag) {
        foreign_.resize(i - 1);
        break;
      }
      if (foreign_[i - 1].html_inside) break;
    }
  }
  UpdateWishes();
}

TextState PageSink::HtmlStartTag(const TagToken& tag) {
  const uint8_t interest = interest_[static_cast<size_t>(tag.tag)];
  if ((interest & kBlock) != 0) {
    Break(Collapser::Gap::kLine);
  } else if ((interest & kGap) != 0) {
    Break(Collapser::Gap::kBlank);
  }
  if ((interest & kStart) == 0) return TextState::kData;
  Element(tag);
  const TextState next = TextStateAfter(tag.tag);
  if (next != TextState::kData) {
    hidden_ = next == TextState::kScriptData || (next == TextState::kRawtext && tag.tag != Tag::kXmp);
    in_title_ = tag.tag == Tag::kTitle;
    if (in_title_) {
      title_open_ = !title_seen_;
      title_seen_ = true;
    }
    UpdateWishes();
  }
  return next;
}

void PageSink::EndTag(const TagToken& tag) {
  if (!foreign_.empty()) ForeignEndTag(tag);
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
    case Tag::kTitle:
    case Tag::kScript:
    case Tag::kStyle:
    case Tag::kIframe:
    case Tag::kNoembed:
    case Tag::kNoframes:
      in_title_ = hidden_ = false;
      UpdateWishes();
      break;
    default:
      break;
  }
  const uint8_t interest = interest_[static_cast<size_t>(tag.tag)];
  if ((interest & kBlock) != 0) {
    Break(Collapser::Gap::kLine);
  } else if ((interest & kGap) != 0) {
    Break(Collapser::Gap::kBlank);
  }
}

}  // namespace portolan
