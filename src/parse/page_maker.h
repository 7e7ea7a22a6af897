// PageMaker: a FetchResponse becomes a PageResult, on the thread that fetched it.
//
//   head parsed → content coding removed within limits → type sniffed → charset → links, canonical and hashed
//   → robots.txt compiled, sitemap read → fingerprint → WARC records and the parts of the CDXJ line
//
// The web's behaviour stays data: whatever the bytes are, a PageResult comes out, and its outcome says what they were.
// Outcomes that come in without an answer pass through; an answer may turn into kNotHttp, kHeadTooLarge, kDecodeFailed
// or kBomb here. A coding that was cut short by us or by the server gives its first part, as in a browser.
//
// Links are taken from answers of 2xx only: HTML, sitemaps and feeds, and style sheets where requisites are wanted. Of
// a redirect there is one link, its target. A refresh of the page within kRefreshIsRedirect seconds is a redirect too,
// but the page's other links count as well. Form targets and links in templates are not links: nobody can follow them
// without filling in or running something.
//
// Thread: one owner, one a fetch loop. Same options with a seed, same responses in the same order: same results.
// Memory bound: the decoded body (options.decode.max_output), the page (html/page.h) and its links; buffers over
// kKeepBuffer are given back after the page that needed them.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "http/content_decoder.h"
#include "http/headers.h"
#include "http/sniff.h"
#include "parse/link_collector.h"
#include "parse/record_maker.h"
#include "parse/whole_gzip.h"
#include "robots/robots_tag.h"
#include "robots/sitemap.h"
#include "url/link.h"

namespace portolan {

struct PageMakerOptions {
  std::string agent = "portolan";  // product token: for robots.txt, robots meta elements, X-Robots-Tag
  LinkOptions link = {};           // canonical rules, longest URL
  bool embeds = false;             // images, scripts, style sheets as links too, flagged kFoundEmbed
  bool requisites = false;         // those, and what style sheets, style elements and style attributes name
  bool similarity = false;         // PageResult::similarity; needs the visible text
  uint32_t max_links = 10'000;     // a page; more are counted in links_left_out
  uint64_t max_link_bytes = uint64_t{256} << 20;  // of a page's links together; more count as too many
  uint64_t max_html = UINT64_MAX;                 // bytes that are read as HTML or CSS; more is cut
  SitemapLimits sitemap = {};                     // entries and bytes of a sitemap
  DecodeLimits decode = {};                       // of content codings; what is longer is cut
  HeadLimits head = {};

  bool archive = true;            // make WARC records at all
  bool archive_robots = true;     // of robots.txt too
  bool honour_noarchive = false;  // no records of pages that say noarchive
  bool archive_metadata = false;  // a metadata record beside each response
  int archive_level = 1;          // of gzip, GzipMember's 1 to 12
  // Of the record ids, for tests and virtual worlds: another one for each maker. None: from the system's random source,
  // so that no two records of any crawl have the same.
  std::optional<uint64_t> seed = {};
};

class PageMaker {
 public:
  // A meta refresh after at most this many seconds is a redirect; one after more is a link.
  static constexpr int kRefreshIsRedirect = 10;
  static constexpr size_t kKeepBuffer = size_t{4} << 20;

  // kInvalidArgument for an agent that is no product token, or a gzip level that does not exist.
  static Result<PageMaker> Create(const PageMakerOptions& options);

  PageResult Make(FetchResponse&& response);

 private:
  PageMaker(const PageMakerOptions& options, RecordMaker records);

  // The body without its content coding; sets outcome and detail where that fails.
  // The body without its content codings; `readable` becomes false where that failed.
  std::string_view Decode(const FetchResponse& response, PageResult& result, bool& readable);
  void TakeRedirect(PageResult& result);
  // Gives the encoding that was found, for the index.
  std::string_view ReadHtml(std::string_view body, PageResult& result, RobotsTag& tag);
  // Likewise. What a style sheet names is needed by whoever needs it.
  std::string_view ReadStyleSheet(std::string_view body, PageResult& result);
  void ReadSitemap(std::string_view body, PageResult& result);
  void ReadRobots(std::string_view body, PageResult& result);
  // Resolves against the page's URL. False when it is not crawlable or over the limit, which is counted.
  bool AddLink(std::string_view href, uint8_t flags, PageResult& result);

  PageMakerOptions options_;
  RecordMaker records_;
  std::unique_ptr<PageReader> reader_;
  PageLinks links_;
  LinkCollector collector_;
  ContentDecoder decoder_;
  WholeGunzip gunzip_;
  std::string decoded_;
  ResponseHead head_;
  Url url_;
  Link link_;
};

}  // namespace portolan
