#include "parse/page_maker.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/hash.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/css_links.h"
#include "html/link_values.h"
#include "parse/answer_fields.h"
#include "parse/similarity.h"
#include "robots/fetch_policy.h"
#include "robots/robots_txt.h"
#include "url/raw_bytes.h"

namespace portolan {
namespace {

constexpr size_t kRootElementWithin = 1024;  // bytes: where a sitemap's or feed's root element must begin

FetchOutcome OutcomeOf(HeadOutcome head) {
  return head == HeadOutcome::kTooManyFields || head == HeadOutcome::kTooLarge ? FetchOutcome::kHeadTooLarge
                                                                               : FetchOutcome::kNotHttp;
}

bool IsCut(FetchOutcome outcome) {
  return outcome == FetchOutcome::kBodyCut || outcome == FetchOutcome::kTimeCut ||
         outcome == FetchOutcome::kDisconnected || outcome == FetchOutcome::kSlowCut;
}

bool LooksLikeText(std::string_view body) {
  return std::ranges::none_of(body.substr(0, kSniffBytes),
                              [](char c) { return IsBinaryByte(static_cast<uint8_t>(c)); });
}

std::optional<std::string_view> LastField(const HeaderFields& fields, std::string_view name) {
  for (size_t i = fields.size(); i > 0; --i) {
    const HeaderFields::Field field = fields[i - 1];
    if (EqualsIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

// XML that hands out URLs, by its root element.
bool LooksLikeSitemap(std::string_view xml) {
  static constexpr std::array<std::string_view, 5> kRoots = {"<urlset", "<sitemapindex", "<rss", "<feed", "<rdf:RDF"};
  const std::string_view start = xml.substr(0, kRootElementWithin);
  return std::ranges::any_of(kRoots, [&](std::string_view root) { return start.find(root) != std::string_view::npos; });
}

// "5; url=…": is the wait short enough to be a redirect?
bool IsPromptRefresh(std::string_view content) {
  content = TrimHtmlSpace(content);
  int seconds = 0;
  for (const char c : content) {
    if (!IsDigit(c)) break;
    seconds = std::min(seconds * 10 + (c - '0'), 100'000);
  }
  return seconds <= PageMaker::kRefreshIsRedirect;
}

// Whether a body is compressed: by its content coding, or because such files always are.
bool IsPacked(const HeaderFields& fields, const Sniffed& sniffed, size_t size) {
  constexpr size_t kWorthAsking = 512;  // below it the headers are most of the record
  if (size < kWorthAsking) return false;
  if (const auto coding = fields.Find("content-encoding"); coding && !EqualsIgnoringCase(*coding, "identity")) {
    return true;
  }
  switch (sniffed.kind) {
    case ContentKind::kImage:
      return sniffed.essence != "image/svg+xml" && sniffed.essence != "image/bmp" && sniffed.essence != "image/x-icon";
    case ContentKind::kMedia:
      return sniffed.essence != "audio/wave" && sniffed.essence != "audio/basic" && sniffed.essence != "audio/midi";
    case ContentKind::kArchive:
      return true;
    default:
      return false;
  }
}

// The first `most` bytes, less where a character would be torn.
std::string_view CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

void GiveBack(std::string& buffer, size_t keep) {
  if (buffer.capacity() > keep) std::string().swap(buffer);
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
  page.text = options.similarity;
  page.anchor_text = false;
  page.styles = options.requisites;
  page.robot_name = options.agent;
  return page;
}

}  // namespace

Result<PageMaker> PageMaker::Create(const PageMakerOptions& options) {
  if (!IsValidProductToken(options.agent)) {
    return Fail(ErrorCode::kInvalidArgument, "'" + options.agent + "' is no product token: letters, - and _ only");
  }
  ASSIGN_OR_RETURN(RecordMaker records,
                   RecordMaker::Create(
                       {.seed = options.seed, .level = options.archive_level, .metadata = options.archive_metadata}));
  return PageMaker(options, std::move(records));
}

PageMaker::PageMaker(const PageMakerOptions& options, RecordMaker records)
    : options_(options),
      records_(std::move(records)),
      reader_(std::make_unique<PageReader>(ReaderOptions(options))),
      decoder_(CodingStack(), options.decode) {}

PageResult PageMaker::Make(FetchResponse&& response) {
  PageResult result;
  result.id = response.task.id;
  result.kind = response.task.kind;
  result.outcome = response.outcome;
  result.times = response.times;
  result.wire_bytes = response.wire_bytes;
  result.version = response.version;
  result.tls = !response.tls_version.empty();
  result.detail = std::move(response.detail);
  const bool is_robots = result.kind == UrlKind::kRobots;
  // Unless something below knows better: no answer, nothing allowed for now.
  if (is_robots) result.robots.emplace();

  if (!HasAnswer(result.outcome)) return result;
  head_ = ParseResponseHead(response.response_head, options_.head);
  if (head_.outcome != HeadOutcome::kRead) {
    result.outcome = OutcomeOf(head_.outcome);
    result.detail = HeadOutcomeName(head_.outcome);
    return result;
  }
  if (const UrlStatus status = url_.Assign(response.task.url); status != UrlStatus::kOk) {
    result.outcome = FetchOutcome::kLocal;  // tasks carry canonical URLs: the fault is ours
    result.detail = UrlStatusName(status);
    return result;
  }
  result.status = response.status != 0 ? response.status : head_.status;

  result.cut = result.outcome == FetchOutcome::kBodyCut;
  bool readable = true;
  const std::string_view body = Decode(response, result, readable);
  result.body_bytes = body.size();
  result.fingerprint = body.empty() ? 0 : Hash64(body);
  const auto content_type = LastField(head_.fields, "content-type");
  result.content_type = CutText(content_type.value_or(""), kMaxContentType);
  const Sniffed sniffed =
      SniffContent(content_type, body.substr(0, kSniffBytes),
                   EqualsIgnoringCase(head_.fields.Find("x-content-type-options").value_or(""), "nosniff"));
  result.mime = sniffed.essence;

  const int64_t end_unix_ns =
      response.times.begin_unix_ns + std::max<int64_t>(0, response.times.end_ns - response.times.begin_ns);
  if (const auto value = head_.fields.Find("retry-after")) result.retry_after_ns = RetryAfterNs(*value, end_unix_ns);

  RobotsTag tag(options_.agent);
  for (size_t i = 0; i < head_.fields.size(); ++i) {
    const HeaderFields::Field field = head_.fields[i];
    if (EqualsIgnoringCase(field.name, "x-robots-tag")) tag.AddField(field.value);
  }

  RecordFacts facts;
  if (result.status / 100 == 3) facts.location = head_.fields.Find("location").value_or("");
  result.location = CutText(facts.location, kMaxLocation);
  if (is_robots) {
    if (readable) ReadRobots(body, result);
  } else if (IsRedirectStatus(result.status)) {
    TakeRedirect(result);
  } else if (readable && result.status >= 200 && result.status < 300) {
    const bool html = sniffed.kind == ContentKind::kHtml || sniffed.essence == "application/xhtml+xml";
    if (html && result.kind == UrlKind::kPage) {
      facts.charset = ReadHtml(body, result, tag);
    } else if (options_.requisites && sniffed.essence == "text/css" && result.kind == UrlKind::kPage) {
      facts.charset = ReadStyleSheet(body, result);
    } else if (!html &&
               (result.kind == UrlKind::kSitemap || (sniffed.kind == ContentKind::kXml && LooksLikeSitemap(body)))) {
      ReadSitemap(body, result);
    }
  }
  result.robots_flags = tag.flags();
  if (tag.Has(RobotsTag::kNoFollow)) {
    for (FoundLink& link : result.links.links) {
      if ((link.flags & kFoundRedirect) == 0) link.flags |= kFoundNofollow;
    }
  }

  const bool wanted = options_.archive && (!is_robots || options_.archive_robots) &&
                      !(options_.honour_noarchive && tag.Has(RobotsTag::kNoArchive));
  if (wanted && FollowOf(result.outcome, result.status).keep) {
    facts.outcome = result.outcome;
    facts.status = result.status;
    facts.packed = readable && IsPacked(head_.fields, sniffed, response.body.size());
    facts.mime_detected = body.empty() ? std::string_view() : std::string_view(result.mime);
    facts.title = result.title;
    facts.links = result.links.links.size();
    records_.Make(response, head_, url_, facts, result.archive);
  }
  GiveBack(decoded_, kKeepBuffer);
  GiveBack(links_.urls, kKeepBuffer);
  if (body.size() > kKeepBuffer) reader_ = std::make_unique<PageReader>(ReaderOptions(options_));
  return result;
}

std::string_view PageMaker::Decode(const FetchResponse& response, PageResult& result, bool& readable) {
  if (response.body.empty() || !head_.fields.Find("content-encoding")) return response.body;
  const CodingStack stack = CodingStack::Parse(head_.fields.Joined("content-encoding"));
  if (stack.supported() && stack.codings().empty()) return response.body;
  if (stack.supported() && stack.codings().size() == 1 && stack.codings()[0] == ContentCoding::kGzip &&
      gunzip_.Decode(response.body, options_.decode, decoded_)) {
    return decoded_;
  }
  decoded_.clear();
  decoder_.Restart(stack, options_.decode);
  decoder_.Feed(response.body, decoded_);
  const DecodeOutcome outcome = decoder_.Finish(decoded_);
  switch (outcome) {
    case DecodeOutcome::kWhole:
    case DecodeOutcome::kGoing:
      break;
    case DecodeOutcome::kTruncated:
      // Of a body that was cut nothing else can be expected.
      if (!IsCut(response.outcome)) result.detail = "content coding ends early";
      break;
    case DecodeOutcome::kChecksum:
      result.detail = "content coding's checksum differs";
      break;
    case DecodeOutcome::kTooLarge:
      result.detail = "decoded body cut";
      result.cut = true;
      break;
    case DecodeOutcome::kBomb:
      readable = false;
      result.outcome = FetchOutcome::kBomb;
      break;
    case DecodeOutcome::kUnsupported:
      result.detail = "unknown content coding";
      // "none", "utf-8" …: what is text as it stands is not coded at all.
      if (LooksLikeText(response.body)) return response.body;
      [[fallthrough]];
    case DecodeOutcome::kCorrupt:
      readable = false;
      // That a body was cut says more: it may be whole the next time.
      if (!IsCut(response.outcome)) result.outcome = FetchOutcome::kDecodeFailed;
      if (result.detail.empty()) result.detail = DecodeOutcomeName(outcome);
      break;
  }
  return decoded_;
}

bool PageMaker::AddLink(std::string_view href, uint8_t flags, PageResult& result) {
  const LinkOutcome outcome = ResolveLink(href, url_, options_.link, link_);
  const bool crawlable = outcome == LinkOutcome::kCrawlable;
  if (crawlable && collector_.Add(link_.url.href(), link_.hash, link_.host_hash, flags)) return true;
  if (outcome == LinkOutcome::kTooLong) ++result.links_too_long;
  if (crawlable) ++result.links_too_many;
  ++result.links_left_out;
  return false;
}

void PageMaker::TakeRedirect(PageResult& result) {
  const auto location = head_.fields.Find("location");
  if (!location) return;
  collector_.Begin(result.links, 1, 1);
  AddLink(EscapeBrokenUtf8(*location), kFoundRedirect, result);
}

std::string_view PageMaker::ReadHtml(std::string_view body, PageResult& result, RobotsTag& tag) {
  const auto mime = ExtractMimeType(head_.fields);
  const std::string* label = mime ? mime->Parameter("charset") : nullptr;
  CharsetDecision decision =
      SniffCharset(body.substr(0, kDetectBytes), label != nullptr ? std::string_view(*label) : std::string_view());
  body.remove_prefix(decision.bom_bytes);
  if (body.size() > options_.max_html) {
    body = body.substr(0, options_.max_html);
    result.cut = true;
  }
  const auto read = [&]() -> const Page& {
    CharsetDecoder charset(decision.encoding);
    return reader_->Read(charset.Decode(body, /*last=*/true));
  };
  const Page* read_page = &read();
  if (const auto changed = ChangedEncoding(decision, read_page->meta_encoding)) {
    decision = *changed;
    read_page = &read();
  }
  const Page& page = *read_page;

  const PageLinksOptions resolve{.link = options_.link,
                                 .encoding = decision.encoding,
                                 .navigation = true,
                                 .embeds = options_.embeds || options_.requisites,
                                 .resources = options_.embeds || options_.requisites,
                                 .in_templates = false,
                                 .max_bytes = options_.max_link_bytes};
  links_.Resolve(page, url_, resolve);
  for (const PageMeta& meta : page.metas) {
    if (meta.kind == PageMeta::Kind::kRobots) tag.AddMeta(page.View(meta.name), page.View(meta.content));
  }

  collector_.Begin(result.links, links_.links.size(), options_.max_links);
  result.links.links.reserve(std::min<size_t>(links_.links.size(), options_.max_links));
  uint32_t too_many = 0;
  result.links.text.reserve(links_.urls.size());
  bool redirected = false;
  if (const auto refresh = head_.fields.Find("refresh")) {
    if (const auto target = RefreshUrl(*refresh)) {
      redirected = IsPromptRefresh(*refresh);
      AddLink(EscapeBrokenUtf8(*target), redirected ? kFoundRedirect : 0, result);
    }
  }
  for (size_t i = 0; i < head_.fields.size(); ++i) {
    const HeaderFields::Field field = head_.fields[i];
    if (!EqualsIgnoringCase(field.name, "link")) continue;
    if (const auto target = CanonicalInLinkField(field.value))
      AddLink(EscapeBrokenUtf8(*target), kFoundCanonical, result);
  }
  for (const ResolvedLink& resolved : links_.links) {
    const PageLink& source = page.links[resolved.source];
    if (source.attribute == LinkAttribute::kAction || (source.rel & kRelHint) != 0) continue;
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
    if (!collector_.Add(links_.UrlOf(resolved), resolved.hash, resolved.host_hash, flags)) ++too_many;
  }
  for (size_t outcome = 1; outcome < links_.outcomes.size(); ++outcome)
    result.links_left_out += links_.outcomes[outcome];
  result.links_too_long += links_.outcomes[static_cast<size_t>(LinkOutcome::kTooLong)];
  too_many += static_cast<uint32_t>(page.links_dropped + page.values_dropped + links_.dropped);
  result.links_too_many += too_many;
  result.links_left_out += too_many;
  result.title = CutText(page.View(page.title), kMaxTitle);
  if (options_.similarity) result.similarity = SimilarityHash(page.text);
  return EncodingName(decision.encoding);
}

std::string_view PageMaker::ReadStyleSheet(std::string_view body, PageResult& result) {
  const auto mime = ExtractMimeType(head_.fields);
  const std::string* label = mime ? mime->Parameter("charset") : nullptr;
  const CharsetDecision decision = SniffStyleCharset(body.substr(0, kPrescanBytes),
                                                     label != nullptr ? std::string_view(*label) : std::string_view());
  body.remove_prefix(decision.bom_bytes);
  if (body.size() > options_.max_html) {
    body = body.substr(0, options_.max_html);
    result.cut = true;
  }
  CharsetDecoder charset(decision.encoding);
  StyleLinkReader reader(charset.Decode(body, /*last=*/true));
  collector_.Begin(result.links, 64, options_.max_links);
  const bool broken_off = result.cut || IsCut(result.outcome);
  while (const auto link = reader.Next()) {
    if (link->open && broken_off) break;  // half a URL
    AddLink(link->url, kFoundEmbed | kFoundRequisite, result);
  }
  return EncodingName(decision.encoding);
}

void PageMaker::ReadSitemap(std::string_view body, PageResult& result) {
  collector_.Begin(result.links, 64, options_.sitemap.max_entries);
  SitemapParser parser(options_.sitemap, [&](SitemapEntry& entry) {
    uint8_t flags = kFoundSitemap;
    if (entry.role == SitemapEntry::Role::kSitemap) flags |= kFoundSitemapFile;
    if (entry.role == SitemapEntry::Role::kHome) flags = 0;
    if (entry.role != SitemapEntry::Role::kRelated) AddLink(entry.url, flags, result);
    return true;
  });
  parser.Feed(body);
  const SitemapOutcome outcome = parser.Finish();
  if (outcome != SitemapOutcome::kWhole) result.detail = SitemapOutcomeName(outcome);
}

void PageMaker::ReadRobots(std::string_view body, PageResult& result) {
  RobotsAnswer& robots = *result.robots;
  // The gate counts the hops of robots.txt, so none are counted here.
  switch (RobotsForStatus(result.status, 0)) {
    case RobotsVerdict::kAllowAll:
      robots.kind = RobotsAnswer::Kind::kAllowAll;
      break;
    case RobotsVerdict::kDisallowAll:
      robots.kind = RobotsAnswer::Kind::kDisallowAll;
      break;
    case RobotsVerdict::kFollow: {
      // Without a target that can be fetched this is no answer: nothing is allowed for now.
      const auto location = head_.fields.Find("location");
      if (location && ResolveLink(EscapeBrokenUtf8(*location), url_, options_.link, link_) == LinkOutcome::kCrawlable) {
        robots.kind = RobotsAnswer::Kind::kFollow;
        robots.follow = link_.url.href();
      }
      break;
    }
    case RobotsVerdict::kUseFile: {
      // A file that broke off may have lost the line that forbids; one cut at our size limit is what RFC 9309 asks for.
      if (IsCut(result.outcome) && result.outcome != FetchOutcome::kBodyCut) break;
      RobotsOptions options;
      options.agent = options_.agent;
      RobotsTxt file = ParseRobots(body, options);
      robots.kind = RobotsAnswer::Kind::kRules;
      robots.rules = std::move(file.rules);
      robots.crawl_delay_ms = file.crawl_delay_ms;
      collector_.Begin(result.links, file.sitemaps.size(), options.max_sitemaps);
      for (const std::string& sitemap : file.sitemaps) AddLink(sitemap, kFoundSitemap | kFoundSitemapFile, result);
      break;
    }
  }
}

}  // namespace portolan
