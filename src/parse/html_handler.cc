#include "parse/html_handler.h"

#include <algorithm>

#include "base/ascii.h"
#include "flow/output_records.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/link_values.h"
#include "parse/answer_fields.h"
#include "url/raw_bytes.h"

namespace portolan {
namespace {

// "5; url=…": is the wait short enough to be a redirect?
bool IsPromptRefresh(std::string_view content) {
  content = TrimHtmlSpace(content);
  int seconds = 0;
  for (const char c : content) {
    if (!IsDigit(c)) break;
    seconds = std::min(seconds * 10 + (c - '0'), 100'000);
  }
  return seconds <= HtmlHandler::kRefreshIsRedirect;
}

uint8_t FlagsOf(const PageLink& link) {
  switch (link.kind) {
    case LinkKind::kNavigation:
      return 0;
    case LinkKind::kFrame:
      return kFoundRequisite;
    case LinkKind::kEmbed:
      return kFoundEmbed | kFoundRequisite;
    case LinkKind::kResource:
      break;
  }
  // Of link elements some only point somewhere: rel=search, rel=license.
  const bool used = link.element == Tag::kScript || (link.rel & (kRelStylesheet | kRelIcon | kRelPreload)) != 0;
  return used ? kFoundEmbed | kFoundRequisite : kFoundEmbed;
}

PageOptions ReaderOptions(const PageMakerOptions& options) {
  PageOptions page;
  page.text = options.similarity || options.text_log;
  page.outline = page.text;
  page.facts = page.headings = options.text_log;
  page.max_text_bytes = kMaxPageText;
  page.anchor_text = options.link_log;
  page.max_anchor_bytes = kMaxAnchor;
  page.max_heading_bytes = kMaxHeadings;
  page.max_title_bytes = kMaxRecordTitle;
  page.styles = options.requisites;
  page.robot_name = options.agent;
  return page;
}

}  // namespace

HtmlHandler::HtmlHandler(const PageMakerOptions& options)
    : embeds_(options.embeds || options.requisites),
      canonical_(options.canonical),
      alternates_(options.alternates),
      anchors_(options.link_log),
      max_links_(options.max_links),
      max_link_bytes_(options.max_link_bytes),
      max_html_(options.max_html),
      link_options_(options.link),
      reader_options_(ReaderOptions(options)),
      reader_(std::make_unique<PageReader>(reader_options_)),
      links_(options.link) {}

const Page& HtmlHandler::ReadPage(const PageView& view, CharsetDecision& decision, PageResult& result) {
  std::string_view body = view.body;
  decision = SniffCharset(body.substr(0, kDetectBytes), CharsetLabel(view.head.fields));
  body.remove_prefix(decision.bom_bytes);
  if (body.size() > max_html_) {
    body = body.substr(0, max_html_);
    result.cut = true;
  }
  if (large_) reader_ = std::make_unique<PageReader>(reader_options_);
  large_ = body.size() > kKeepBuffer;
  const auto read = [&]() -> const Page& {
    CharsetDecoder charset(decision.encoding);
    return reader_->Read(charset.Decode(body, /*last=*/true));
  };
  const Page& page = read();
  const auto changed = ChangedEncoding(decision, page.meta_encoding);
  if (!changed) return page;
  decision = *changed;
  return read();
}

void HtmlHandler::Read(PageView& view, PageResult& result) {
  CharsetDecision decision;
  const Page& page = ReadPage(view, decision, result);
  const PageLinksOptions resolve{.link = link_options_,
                                 .encoding = decision.encoding,
                                 .navigation = true,
                                 .embeds = embeds_,
                                 .resources = embeds_,
                                 .in_templates = false,
                                 .max_bytes = max_link_bytes_};
  resolved_.Resolve(page, view.url, resolve);
  for (const PageMeta& meta : page.metas) {
    if (meta.kind == PageMeta::Kind::kRobots) view.robots.AddMeta(page.View(meta.name), page.View(meta.content));
  }
  TakeLinks(view, page, result);
  result.title = CutUtf8(page.View(page.title), kMaxTitle);
  view.page = &page;
  view.text = page.text;
  view.charset = EncodingName(decision.encoding);
  if (resolved_.urls.capacity() > kKeepBuffer) std::string().swap(resolved_.urls);
}

void HtmlHandler::TakeLinks(PageView& view, const Page& page, PageResult& result) {
  const HeaderFields& fields = view.head.fields;
  links_.Begin(view.url, result, resolved_.links.size(), max_links_);
  result.links.links.reserve(std::min<size_t>(resolved_.links.size(), max_links_));
  result.links.text.reserve(resolved_.urls.size());
  uint32_t too_many = 0;
  bool redirected = false;
  if (const auto refresh = fields.Find("refresh")) {
    if (const auto target = RefreshUrl(*refresh)) {
      redirected = IsPromptRefresh(*refresh);
      links_.Add(EscapeBrokenUtf8(*target), redirected ? kFoundRedirect : 0);
    }
  }
  for (size_t i = 0; canonical_ && i < fields.size(); ++i) {
    const HeaderFields::Field field = fields[i];
    if (!EqualsIgnoringCase(field.name, "link")) continue;
    if (const auto target = CanonicalInLinkField(field.value)) links_.Add(EscapeBrokenUtf8(*target), kFoundCanonical);
  }
  for (const ResolvedLink& resolved : resolved_.links) {
    const PageLink& source = page.links[resolved.source];
    if (source.attribute == LinkAttribute::kAction || (source.rel & kRelHint) != 0) continue;
    if ((source.rel & kRelCanonical) != 0 && !canonical_) continue;
    if (source.element == Tag::kLink && (source.rel & kRelAlternate) != 0 && !alternates_) continue;
    uint8_t flags = FlagsOf(source);
    if ((source.rel & kRelNofollow) != 0) flags |= kFoundNofollow;
    if ((source.rel & kRelCanonical) != 0) flags |= kFoundCanonical;
    if (source.attribute == LinkAttribute::kContent && source.element == Tag::kMeta && !redirected) {
      const auto meta = std::ranges::find_if(page.metas, [&](const PageMeta& one) {
        return one.kind == PageMeta::Kind::kRefresh && one.position == source.position;
      });
      if (meta != page.metas.end() && IsPromptRefresh(page.View(meta->content))) {
        flags |= kFoundRedirect;
        redirected = true;
      }
    }
    if (!links_.AddResolved(resolved_.UrlOf(resolved), resolved.hash, resolved.host_hash, flags)) {
      ++too_many;
    } else if (anchors_ && source.text.size > 0) {
      // A link that stands on the page several times has the first text that is not empty.
      view.anchors.resize(std::max(view.anchors.size(), links_.last() + 1));
      if (view.anchors[links_.last()].empty()) view.anchors[links_.last()] = page.View(source.text);
    }
  }
  for (size_t outcome = 1; outcome < resolved_.outcomes.size(); ++outcome) {
    result.links_left_out += resolved_.outcomes[outcome];
  }
  result.links_too_long += resolved_.outcomes[static_cast<size_t>(LinkOutcome::kTooLong)];
  too_many += static_cast<uint32_t>(page.links_dropped + page.values_dropped + resolved_.dropped);
  result.links_too_many += too_many;
  result.links_left_out += too_many;
}

}  // namespace portolan
