// PageMakerOptions: all options of parsing.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "http/content_decoder.h"
#include "http/headers.h"
#include "robots/sitemap.h"
#include "url/link.h"

namespace portolan {

// Reading PDF documents (pdf_handler.h).
struct PdfOptions {
  bool enabled = false;
  std::string program = {};                      // path of portolan-pdf
  int64_t max_wait_ns = 20'000'000'000;          // per document; processor time is limited to the same
  uint64_t max_memory = uint64_t{512} << 20;     // address space of the reader
  std::shared_ptr<std::atomic<bool>> stop = {};  // true: readers are ended. May be null
};

struct PageMakerOptions {
  std::string agent = "portolan";  // product token: for robots.txt, robots meta elements, X-Robots-Tag
  LinkOptions link = {};           // canonical rules, longest URL
  bool embeds = false;             // images, scripts, style sheets as links too, flagged kFoundEmbed
  bool requisites = false;         // those, and what style sheets, style elements and style attributes name
  bool canonical = true;           // rel=canonical is a link
  bool alternates = true;          // <link rel=alternate> is a link to a page
  bool x_robots_tag = true;        // X-Robots-Tag counts like robots meta elements
  bool honour_noindex = false;     // no records for the text log of pages that say noindex
  bool similarity = false;         // PageResult::similarity; needs the visible text
  uint32_t max_links = 10'000;     // per page; more are counted in links_left_out
  uint64_t max_link_bytes = uint64_t{256} << 20;  // of a page's links together; more count as too many
  uint64_t max_html = UINT64_MAX;                 // bytes that are read as HTML or CSS; more is cut
  SitemapLimits sitemap = {};                     // entries and bytes of a sitemap
  DecodeLimits decode = {};                       // of content codings; longer bodies are cut
  HeadLimits head = {};

  bool archive = true;            // make WARC records at all
  bool archive_robots = true;     // of robots.txt too
  bool honour_noarchive = false;  // no records of pages that say noarchive
  bool archive_metadata = false;  // a metadata record beside each response
  int archive_level = 1;          // of gzip, GzipMember's 1 to 12
  bool content_seen = false;      // payload digests, and revisit records beside the archive's
  uint64_t least_payload = 0;     // bytes of a body for that
  bool visits = false;            // the crawl comes back: PageResult::visit also of first visits
  bool link_log = false;          // records for the link log, with anchor text
  bool text_log = false;          // records for the text log, with headings and visible text
  PdfOptions pdf = {};            // text and links of PDF documents; the maker then waits for another process
  // Seed of the record ids, for tests and simulations: a different one for each maker. nullopt: from the system's
  // random source, so that no two records of any crawl have the same id.
  std::optional<uint64_t> seed = {};
};

}  // namespace portolan
