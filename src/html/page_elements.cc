// What PageSink takes from each element: its links, and what meta, base, html and title say.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "html/css_links.h"
#include "html/link_values.h"
#include "html/page_sink.h"
#include "html/scan.h"

namespace portolan {
namespace {

constexpr LinkAttribute kNoAttribute = LinkAttribute::kHref;

}  // namespace

// By a packed name of at most eight bytes; kAttributeCount for one that is not read.
PageSink::Attribute PageSink::FindAttribute(uint64_t word) {
  struct Slot {
    uint64_t word = 0;
    Attribute id = kAttributeCount;
  };
  constexpr size_t kSlots = 128;  // four times the names: most are found at once
  constexpr auto kSlotOf = [](uint64_t key) { return (key * 0x9e3779b97f4a7c15) >> 57; };
  static constexpr std::array<Slot, kSlots> kTable = [kSlotOf] {
    constexpr std::pair<std::string_view, Attribute> kNames[] = {{"id", kId},
                                                                 {"rel", kRel},
                                                                 {"src", kSrc},
                                                                 {"alt", kAlt},
                                                                 {"href", kHref},
                                                                 {"name", kName},
                                                                 {"type", kType},
                                                                 {"lang", kLang},
                                                                 {"data", kData},
                                                                 {"cite", kCite},
                                                                 {"role", kRole},
                                                                 {"face", kFontStyle},
                                                                 {"size", kFontStyle},
                                                                 {"color", kFontStyle},
                                                                 {"style", kStyle},
                                                                 {"class", kClass},
                                                                 {"srcset", kSrcset},
                                                                 {"action", kAction},
                                                                 {"poster", kPoster},
                                                                 {"hidden", kHidden},
                                                                 {"content", kContent},
                                                                 {"charset", kCharset},
                                                                 {"pubdate", kPubdate},
                                                                 {"encoding", kEncoding},
                                                                 {"itemprop", kItemprop},
                                                                 {"property", kProperty},
                                                                 {"datetime", kDatetime}};
    std::array<Slot, kSlots> table{};
    for (const auto& [name, id] : kNames) {
      size_t at = kSlotOf(PackName(name));
      while (table[at].word != 0) at = (at + 1) % kSlots;
      table[at] = {PackName(name), id};
    }
    return table;
  }();
  size_t at = kSlotOf(word);
  while (kTable[at].word != word && kTable[at].word != 0) at = (at + 1) % kSlots;
  return kTable[at].id;
}

void PageSink::FindAttributes(const TagToken& tag) {
  found_ = 0;
  for (const RawAttribute& attribute : tag.attributes) {
    const std::string_view name = attribute.name;
    Attribute id = kAttributeCount;
    if (name.size() <= sizeof(attribute.word)) {
      id = FindAttribute(attribute.word);
    } else if (name.size() == 10) {
      if (EqualsIgnoringCase(name, "http-equiv")) id = kHttpEquiv;
      if (EqualsIgnoringCase(name, "background")) id = kBackground;
      if (EqualsIgnoringCase(name, "xlink:href")) id = kXlinkHref;
    } else if (name.size() == 11) {
      if (EqualsIgnoringCase(name, "imagesrcset")) id = kImagesrcset;
      if (EqualsIgnoringCase(name, "aria-hidden")) id = kAriaHidden;
    }
    if (id == kAttributeCount || Has(id)) continue;
    found_ |= 1U << id;
    values_[id] = attribute.value;
  }
}

std::string_view PageSink::Value(Attribute attribute) {
  const std::string_view raw = values_[attribute];
  if (!AttributeValueChanges(raw)) return TrimHtmlSpace(raw);
  scratch_.clear();
  AppendAttributeValue(scratch_, raw);
  return TrimHtmlSpace(scratch_);
}

Slice PageSink::Keep(std::string_view value) {
  const Slice slice{static_cast<uint32_t>(page_.strings.size()), static_cast<uint32_t>(value.size())};
  page_.strings.append(value);
  return slice;
}

void PageSink::AddLink(const TagToken& tag, LinkAttribute attribute, std::string_view url, LinkKind kind,
                       uint16_t rel) {
  if (!Fits(url)) return;
  if (page_.links.size() >= options_.max_links || page_.strings.size() + url.size() > options_.max_kept_bytes) {
    ++page_.links_dropped;
    return;
  }
  page_.links.push_back({.element = tag.tag,
                         .attribute = attribute,
                         .kind = kind,
                         .in_template = template_depth_ > 0,
                         .rel = rel,
                         .url = Keep(url),
                         .text = {},
                         .position = tag.position});
}

void PageSink::AddLink(const TagToken& tag, Attribute from, LinkKind kind, uint16_t rel) {
  constexpr auto kNames = [] {
    std::array<LinkAttribute, kAttributeCount> names{};
    names.fill(kNoAttribute);
    names[kSrc] = LinkAttribute::kSrc;
    names[kSrcset] = LinkAttribute::kSrcset;
    names[kPoster] = LinkAttribute::kPoster;
    names[kData] = LinkAttribute::kData;
    names[kAction] = LinkAttribute::kAction;
    names[kCite] = LinkAttribute::kCite;
    names[kBackground] = LinkAttribute::kBackground;
    return names;
  }();
  if (!Has(from)) return;
  // A value that is far too long (an image in a data: URL) is not even decoded.
  if (values_[from].size() / 8 > options_.max_value_bytes) {
    ++page_.values_dropped;
    return;
  }
  AddLink(tag, kNames[from], Value(from), kind, rel);
}

void PageSink::AddSrcset(const TagToken& tag, Attribute from) {
  if (!Has(from)) return;
  const LinkAttribute attribute = from == kSrcset ? LinkAttribute::kSrcset : LinkAttribute::kImagesrcset;
  SrcsetReader reader(Value(from));
  while (const auto url = reader.Next()) AddLink(tag, attribute, *url, LinkKind::kEmbed, 0);
}

void PageSink::AddStyleLinks(const TagToken& tag, std::string_view css, bool cut) {
  StyleLinkReader reader(css);
  while (const auto link = reader.Next()) {
    if (!cut || !link->open) AddLink(tag, LinkAttribute::kStyle, link->url, LinkKind::kEmbed, 0);
  }
}

void PageSink::OpenStyle(const TagToken& tag) {
  if (!options_.styles) return;
  in_style_ = true;
  style_position_ = tag.position;
  UpdateWishes();
}

void PageSink::CloseStyle() {
  in_style_ = false;
  const bool cut = style_.size() > options_.max_style_bytes;
  if (cut) {
    ++page_.values_dropped;
    style_.pop_back();
  }
  TagToken tag;
  tag.tag = Tag::kStyle;
  tag.position = style_position_;
  AddStyleLinks(tag, style_, cut);
  style_.clear();
  UpdateWishes();
}

void PageSink::Element(const TagToken& tag) {
  switch (tag.tag) {
    case Tag::kA:
      Anchor(tag);
      break;
    case Tag::kArea:
      AddLink(tag, kHref, LinkKind::kNavigation, Has(kRel) ? ParseRel(Value(kRel)) : 0);
      break;
    case Tag::kLink: {
      const uint16_t rel = Has(kRel) ? ParseRel(Value(kRel)) : 0;
      const bool used = (rel & (kRelStylesheet | kRelIcon)) != 0;
      const bool page = (rel & (kRelCanonical | kRelAlternate | kRelNext | kRelPrev)) != 0;
      const size_t before = page_.links.size();
      AddLink(tag, kHref, page && !used ? LinkKind::kNavigation : LinkKind::kResource, rel);
      if ((rel & kRelPreload) != 0) AddSrcset(tag, kImagesrcset);
      if ((rel & kRelCanonical) != 0 && page_.canonical < 0 && page_.links.size() > before && template_depth_ == 0) {
        page_.canonical = static_cast<int64_t>(before);
      }
      break;
    }
    case Tag::kImg:
    case Tag::kImage:  // the tree builder makes it an img
      AddLink(tag, kSrc, LinkKind::kEmbed);
      AddSrcset(tag, kSrcset);
      if (anchor_open_ && Has(kAlt)) {
        anchor_open_ = anchor_gaps_.Append(anchor_, 0, options_.max_anchor_bytes, Value(kAlt));
        anchor_gaps_.Break(Collapser::Gap::kBlank);
        UpdateWishes();
      }
      break;
    case Tag::kInput:
      if (Has(kType) && Has(kSrc) && EqualsIgnoringCase(Value(kType), "image")) AddLink(tag, kSrc, LinkKind::kEmbed);
      break;
    case Tag::kSource:
      AddLink(tag, kSrc, LinkKind::kEmbed);
      AddSrcset(tag, kSrcset);
      break;
    case Tag::kVideo:
      AddLink(tag, kSrc, LinkKind::kEmbed);
      AddLink(tag, kPoster, LinkKind::kEmbed);
      break;
    case Tag::kAudio:
    case Tag::kTrack:
    case Tag::kEmbed:
      AddLink(tag, kSrc, LinkKind::kEmbed);
      break;
    case Tag::kIframe:
      AddLink(tag, kSrc, LinkKind::kFrame);
      break;
    case Tag::kFrame:
      if (template_depth_ == 0) AddLink(tag, kSrc, LinkKind::kFrame);
      break;
    case Tag::kObject:
      AddLink(tag, kData, LinkKind::kEmbed);
      break;
    case Tag::kScript:
      AddLink(tag, kSrc, LinkKind::kResource);
      break;
    case Tag::kForm:
      if (in_form_ && template_depth_ == 0) break;  // a form in a form is ignored, and so are its attributes
      in_form_ |= template_depth_ == 0;
      AddLink(tag, kAction, LinkKind::kNavigation);
      break;
    case Tag::kBody:
      if (has_background_ || !Has(kBackground) || template_depth_ > 0) break;
      has_background_ = true;
      AddLink(tag, kBackground, LinkKind::kEmbed);
      break;
    case Tag::kTable:
    case Tag::kThead:
    case Tag::kTbody:
    case Tag::kTfoot:
    case Tag::kTr:
    case Tag::kTd:
    case Tag::kTh:
      AddLink(tag, kBackground, LinkKind::kEmbed);
      break;
    case Tag::kBlockquote:
    case Tag::kQ:
    case Tag::kIns:
    case Tag::kDel:
      AddLink(tag, kCite, LinkKind::kResource);
      break;
    case Tag::kBase:
      if (page_.has_base || !Has(kHref) || template_depth_ > 0) break;
      if (const std::string_view href = Value(kHref); Fits(href)) {
        page_.has_base = true;
        page_.base = Keep(href);
        page_.base_position = tag.position;
      }
      break;
    case Tag::kHtml:
      if (page_.lang.size == 0 && Has(kLang) && template_depth_ == 0) {
        if (const std::string_view lang = Value(kLang); Fits(lang)) page_.lang = Keep(lang);
      }
      break;
    case Tag::kMeta:
      Meta(tag);
      break;
    case Tag::kTime:
      TimeElement(tag);
      break;
    case Tag::kH1:
    case Tag::kH2:
    case Tag::kH3:
    case Tag::kH4:
    case Tag::kH5:
    case Tag::kH6:
      OpenHeading(tag.tag);
      break;
    case Tag::kTemplate:
      ++template_depth_;
      UpdateWishes();
      break;
    default:
      break;
  }
}

void PageSink::Anchor(const TagToken& tag) {
  CloseAnchor();  // an <a> in an <a> ends the outer one
  if (!Has(kHref)) return;
  const size_t before = page_.links.size();
  AddLink(tag, kHref, LinkKind::kNavigation, Has(kRel) ? ParseRel(Value(kRel)) : 0);
  if (!options_.anchor_text || page_.links.size() == before) return;
  anchor_link_ = static_cast<int64_t>(before);
  anchor_open_ = true;
  UpdateWishes();
}

void PageSink::CloseAnchor() {
  if (anchor_link_ < 0) return;
  if (!anchor_.empty() && page_.strings.size() + anchor_.size() <= options_.max_kept_bytes) {
    page_.links[static_cast<size_t>(anchor_link_)].text = Keep(anchor_);
  }
  anchor_.clear();
  anchor_gaps_.Clear();
  anchor_link_ = -1;
  anchor_open_ = false;
  UpdateWishes();
}

void PageSink::OpenHeading(Tag tag) {
  CloseHeading();
  if (!options_.headings || template_depth_ > 0) return;
  constexpr std::array<Tag, 6> kLevels = {Tag::kH1, Tag::kH2, Tag::kH3, Tag::kH4, Tag::kH5, Tag::kH6};
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == tag) heading_level_ = static_cast<char>('1' + i);
  }
  heading_open_ = true;
  UpdateWishes();
}

void PageSink::CloseHeading() {
  if (!heading_.empty() && page_.headings.size() + heading_.size() + 3 <= options_.max_heading_bytes) {
    if (!page_.headings.empty()) page_.headings += '\n';
    page_.headings += heading_level_;
    page_.headings += ' ';
    page_.headings += heading_;
  }
  heading_.clear();
  heading_gaps_.Clear();
  if (!heading_open_) return;
  heading_open_ = false;
  UpdateWishes();
}

void PageSink::CloseJson() {
  in_json_ = false;
  AddFact(PageMeta::Kind::kJsonLd, json_position_, {}, json_);
  json_.clear();
  UpdateWishes();
}

void PageSink::AddFact(PageMeta::Kind kind, size_t position, std::string_view name, std::string_view content) {
  uint32_t& kept = kept_metas_[static_cast<size_t>(kind)];
  if (kept >= options_.max_metas || page_.strings.size() + name.size() + content.size() > options_.max_kept_bytes) {
    ++page_.values_dropped;
    return;
  }
  ++kept;
  PageMeta meta{.kind = kind, .name = Keep(name), .content = {}, .position = position};
  meta.content = Keep(content);
  page_.metas.push_back(meta);
}

void PageSink::MetaFact(const TagToken& tag) {
  const Attribute from = Has(kProperty) ? kProperty : Has(kName) ? kName : kItemprop;
  if (!Has(from)) return;
  const std::string name(Value(from));  // Value's buffer is needed for the content
  const std::string_view content = Value(kContent);
  if (!name.empty() && !content.empty() && Fits(name) && Fits(content)) {
    AddFact(PageMeta::Kind::kFact, tag.position, name, content);
  }
}

void PageSink::TimeElement(const TagToken& tag) {
  if (!Has(kDatetime) || template_depth_ > 0) return;
  std::string name;
  if (Has(kPubdate)) {
    name = "pubdate";
  } else if (Has(kItemprop)) {
    name = Value(kItemprop);
  } else if (Has(kClass)) {
    name = Value(kClass);
  }
  const std::string_view datetime = Value(kDatetime);
  if (Fits(name) && Fits(datetime)) AddFact(PageMeta::Kind::kTime, tag.position, name, datetime);
}

void PageSink::AddOutline(Tag tag, bool end) {
  if (page_.outline.size() >= options_.max_outline) {
    page_.outline_cut = true;
    return;
  }
  page_.outline.push_back({.text_at = static_cast<uint32_t>(page_.text.size()), .tag = tag, .end = end});
  if (!end && (found_ & kNaming) != 0) AddOutlineNames(page_.outline.back());
}

void PageSink::AddOutlineNames(OutlineEvent& event) {
  std::string& names = page_.outline_names;
  const size_t begin = names.size();
  if (begin + OutlineEvent::kMaxNames > options_.max_outline_names) return;
  constexpr size_t kMostOfOne = OutlineEvent::kMaxNames / 4;
  constexpr size_t kMarks = 2;  // before each name, and " !" at the end
  names.resize_and_overwrite(begin + 4 * (kMostOfOne + kMarks) + kMarks, [&](char* data, size_t /*room*/) {
    char* to = data + begin;
    const auto add = [&](Attribute attribute, char mark) {
      if (!Has(attribute) || values_[attribute].empty()) return;
      *to++ = ' ';
      if (mark != ' ') *to++ = mark;
      const std::string_view name = values_[attribute].substr(0, kMostOfOne);
      std::memcpy(to, name.data(), name.size());
      to += name.size();
    };
    add(kClass, ' ');
    add(kId, '#');
    add(kItemprop, '@');
    add(kRole, '=');
    const auto hides = [](std::string_view style) {
      const size_t at = style.find("display");
      if (at == std::string_view::npos) return false;
      const std::string_view rest = style.substr(at, 16);
      return rest.find("none") != std::string_view::npos;
    };
    if (Has(kHidden) || (Has(kAriaHidden) && values_[kAriaHidden] == "true") ||
        (Has(kStyle) && hides(values_[kStyle]))) {
      to = std::ranges::copy(std::string_view(" !"), to).out;
    }
    return std::min(static_cast<size_t>(to - data), begin + OutlineEvent::kMaxNames);
  });
  event.names_begin = static_cast<uint32_t>(begin);
  event.names_size = static_cast<uint16_t>(names.size() - begin);
}

void PageSink::AddMeta(const TagToken& tag, PageMeta::Kind kind) {
  uint32_t& kept = kept_metas_[0];  // of both kinds that the crawl obeys
  if (kept >= options_.max_metas) {
    ++page_.values_dropped;
    return;
  }
  PageMeta meta{.kind = kind, .name = {}, .content = {}, .position = tag.position};
  if (kind == PageMeta::Kind::kRobots) meta.name = Keep(Value(kName));
  if (const std::string_view content = Value(kContent); Fits(content)) {
    meta.content = Keep(content);
    page_.metas.push_back(meta);
    ++kept;
  }
}

// By tokens, wherever they stand: the standard's tree builder asks each meta element that it meets, in templates too.
void PageSink::MetaCharset() {
  if (page_.meta_encoding) return;
  const auto take = [&](std::string_view charset) {
    if (!Fits(charset)) return;
    if (page_.charset.size == 0) page_.charset = Keep(charset);
    if (!page_.meta_encoding) page_.meta_encoding = EncodingForLabel(charset);
  };
  if (Has(kCharset)) take(Value(kCharset));
  if (!page_.meta_encoding && Has(kHttpEquiv) && Has(kContent) &&
      EqualsIgnoringCase(Value(kHttpEquiv), "content-type")) {
    take(CharsetInContent(Value(kContent)));
  }
}

void PageSink::Meta(const TagToken& tag) {
  MetaCharset();
  if (!Has(kContent) || template_depth_ > 0) return;
  if (Has(kHttpEquiv)) {
    const std::string_view header = Value(kHttpEquiv);
    if (EqualsIgnoringCase(header, "refresh")) {
      AddMeta(tag, PageMeta::Kind::kRefresh);
      if (const auto url = RefreshUrl(Value(kContent))) {
        AddLink(tag, LinkAttribute::kContent, *url, LinkKind::kNavigation, 0);
      }
    }
  }
  if (options_.facts) MetaFact(tag);
  if (!Has(kName)) return;
  const std::string_view name = Value(kName);
  const bool for_robots = EqualsIgnoringCase(name, "robots") ||
                          (name.size() > 3 && EqualsIgnoringCase(name.substr(name.size() - 3), "bot")) ||
                          (!options_.robot_name.empty() && EqualsIgnoringCase(name, options_.robot_name));
  if (for_robots && Fits(name)) {
    AddMeta(tag, PageMeta::Kind::kRobots);
  } else if (page_.description.size == 0 && EqualsIgnoringCase(name, "description")) {
    if (const std::string_view content = Value(kContent); Fits(content)) page_.description = Keep(content);
  }
}

}  // namespace portolan
