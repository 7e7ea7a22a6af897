#include "parse/log_stages.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "flow/output_records.h"
#include "parse/similarity.h"

namespace portolan {
namespace {

// The link log's flags are those of FoundLink today; on disk they must not change with them.
constexpr bool Same(LinkFlag on_disk, FoundFlag found) { return uint8_t{on_disk} == uint8_t{found}; }
static_assert(Same(kLinkRedirect, kFoundRedirect) && Same(kLinkNofollow, kFoundNofollow) &&
              Same(kLinkEmbed, kFoundEmbed) && Same(kLinkCanonical, kFoundCanonical) &&
              Same(kLinkSitemap, kFoundSitemap) && Same(kLinkSitemapFile, kFoundSitemapFile) &&
              Same(kLinkRequisite, kFoundRequisite));

int64_t UnixMs(const PageView& view) { return view.response.times.begin_unix_ns / 1'000'000; }

bool IsHtmlPage(const PageView& view, const PageResult& result) { return result.status / 100 == 2 && view.IsHtml(); }

// Those that end within the text.
std::string PackRanges(std::span<const TextRange> ranges, size_t size) {
  std::string packed;
  uint64_t end = 0;
  for (const TextRange& range : ranges.first(std::min(ranges.size(), kMaxMainRanges))) {
    if (range.begin + uint64_t{range.size} > size) break;
    AppendPackedRange(packed, end, range.begin, range.size);
    end = range.begin + uint64_t{range.size};
  }
  return packed;
}

}  // namespace

void LinkLogStage::Look(PageView& view, PageResult& result) {
  if (result.links.links.empty() && !IsHtmlPage(view, result)) return;
  OutputItem item{.output = OutputId::kLinks, .records = {}};
  constexpr size_t kAroundLink = 12;  // what AppendLink may need for flags, length and NUL
  constexpr size_t kAroundPage = 64;
  size_t anchors = 0;
  for (const std::string_view anchor : view.anchors) anchors += anchor.size();
  item.records.reserve(kAroundPage + view.response.task.url.size() + result.links.text.size() +
                       std::min(anchors, kMaxAnchors) + kAroundLink * result.links.links.size());
  AppendLinkPage(item.records, view.response.task.url, UnixMs(view));
  size_t anchor_bytes = 0;
  for (size_t i = 0; i < result.links.links.size(); ++i) {
    std::string_view anchor = i < view.anchors.size() ? view.anchors[i] : std::string_view();
    if (anchor_bytes + anchor.size() > kMaxAnchors) anchor = {};
    anchor_bytes += anchor.size();
    const FoundLink& link = result.links.links[i];
    AppendLink(item.records, result.links.UrlOf(link), link.flags, anchor);
  }
  result.outputs.push_back(std::move(item));
}

void TextLogStage::Look(PageView& view, PageResult& result) {
  if (!view.keep || !view.keep_text || (view.text.empty() && !IsHtmlPage(view, result))) return;
  OutputItem item{.output = OutputId::kText, .records = {}};
  TextRecord record{.url = view.response.task.url,
                    .unix_ms = UnixMs(view),
                    .title = view.text_title,
                    .description = view.facts.description,
                    .published = view.facts.published,
                    .language = view.language.code,
                    .confidence = view.language.confidence,
                    .robots = view.robots.flags(),
                    .type = CutUtf8(view.sniffed.essence, kMaxRecordType),
                    .similarity = result.similarity != 0 ? result.similarity : SimilarityHash(view.main_text)};
  record.text = CutUtf8(view.text, kMaxPageText);
  std::string main;
  if (view.page != nullptr) {
    record.title = CutUtf8(view.facts.title, kMaxRecordTitle);
    record.headings = view.page->headings;
    main = PackRanges(view.main, record.text.size());
  } else if (!record.text.empty()) {
    AppendPackedRange(main, 0, 0, record.text.size());
  }
  record.main = main;
  AppendTextRecord(item.records, record);
  result.outputs.push_back(std::move(item));
}

}  // namespace portolan
