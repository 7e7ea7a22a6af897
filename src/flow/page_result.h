// PageResult: the result of a fetch for the shard: outcome, links, fingerprints, and the archive's bytes, ready to be
// written. Made on the fetch thread (parse/), or by the simulated web; read by the shard.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/fetch.h"
#include "flow/fetch_line.h"
#include "flow/outcome.h"
#include "flow/visit.h"
#include "io/byte_budget.h"

namespace portolan {

// Bits of FoundLink::flags.
enum FoundFlag : uint8_t {
  kFoundRedirect = 1 << 0,     // the target of this answer's Location or refresh; there is at most one
  kFoundNofollow = 1 << 1,     // rel=nofollow on the link itself
  kFoundEmbed = 1 << 2,        // an image, a script: not a page to visit; frames are pages
  kFoundCanonical = 1 << 3,    // rel=canonical
  kFoundSitemap = 1 << 4,      // a sitemap, or a page that a sitemap names
  kFoundSitemapFile = 1 << 5,  // with kFoundSitemap: a sitemap itself (from robots.txt or an index): UrlKind::kSitemap
  kFoundRequisite = 1 << 6,    // the page needs it to be displayed: a frame, an image, a style sheet, what that names
};

struct FoundLink {
  uint64_t hash = 0;       // of the canonical URL, by the crawl's key
  uint64_t host_hash = 0;  // HostKey
  uint32_t begin = 0;      // in LinkList::text
  uint32_t size = 0;
  uint8_t flags = 0;
};

// Links in the order of the page, each URL once, in one buffer.
struct LinkList {
  std::string text;
  std::vector<FoundLink> links;

  std::string_view UrlOf(const FoundLink& link) const { return std::string_view(text).substr(link.begin, link.size); }
  void Add(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags) {
    links.push_back({hash, host_hash, static_cast<uint32_t>(text.size()), static_cast<uint32_t>(url.size()), flags});
    text += url;
  }
};

// What robots.txt said, for tasks of kind kRobots.
struct RobotsAnswer {
  enum class Kind : uint8_t { kRules, kAllowAll, kDisallowAll, kFollow };
  Kind kind = Kind::kDisallowAll;
  bool hopeless = false;  // of kDisallowAll: asking again is useless, for example because the name does not exist
  std::string rules;      // compiled (robots/robots_rules.h), for kRules
  std::optional<uint32_t> crawl_delay_ms;  // of kRules
  std::string follow;                      // the redirect's target, canonical, for kFollow
};

// Gzip members for the WARC file, with the capture's index entry. Empty bytes: nothing is archived.
struct ArchiveItem {
  std::string bytes;            // request, response, metadata, one member each
  uint32_t response_begin = 0;  // the capture's own member within bytes
  uint32_t response_length = 0;

  std::string key;  // SURT of the URL; empty: no line in the index
  std::string url;
  int64_t unix_seconds = 0;  // of the capture
  int status = 0;
  std::string mime;           // as the server said, without parameters
  std::string mime_detected;  // detected from the bytes; empty if there are none
  std::array<char, 20> payload_sha1{};
  std::string_view charset;    // a name that lives for ever: "windows-1251"
  std::string_view truncated;  // likewise: "length"
  std::string redirect;        // Location of a 3xx answer, as sent

  // A revisit record that may be written instead of the response: as text, complete but for the place of the first
  // capture, which the shard decides on and which is inserted at refers_at. Empty: none was prepared.
  std::string revisit;
  uint32_t refers_at = 0;
  std::string first_url;      // of the first capture of this payload; empty: this is it, the response is written
  int64_t first_unix_ms = 0;  // when that was fetched
  ByteLease lease;            // what the records hold, until they are written
};

// What a page adds to an output besides the archive and the crawl log: records that are ready (flow/output_records.h).
enum class OutputId : uint8_t { kLinks, kText };
struct OutputItem {
  OutputId output = OutputId::kLinks;
  std::string records;
  ByteLease lease;  // what they hold, until they are written
};

// Bounds of what is kept of an answer for the log; more is cut.
inline constexpr size_t kMaxContentType = 256;
inline constexpr size_t kMaxLocation = 2000;
inline constexpr size_t kMaxServer = 64;
inline constexpr size_t kMaxTitle = 256;

struct PageResult {
  uint64_t id = 0;
  UrlKind kind = UrlKind::kPage;
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  FetchTimes times;
  uint64_t wire_bytes = 0;
  uint64_t body_bytes = 0;  // decoded
  bool cut = false;         // the body was cut at one of our limits (fetch.max_body, fetch.max_decoded)
  HttpVersion version = HttpVersion::kUnknown;
  bool tls = false;
  std::string mime;                       // as sniffed, "text/html"
  std::string content_type;               // as sent, with its parameters; at most kMaxContentType bytes
  std::string server;                     // the software, as the server names it; at most kMaxServer bytes
  std::string location;                   // of a 3xx answer, as sent; at most kMaxLocation bytes
  std::string title;                      // of an HTML page, UTF-8, at most kMaxTitle bytes
  std::string detail;                     // for the log
  std::optional<int64_t> retry_after_ns;  // from the answer, relative to its end
  uint16_t robots_flags = 0;              // RobotsTag::Flag of meta and X-Robots-Tag together
  uint64_t fingerprint = 0;               // Hash64 of the decoded payload, comparable between crawls; 0: none
  uint64_t similarity = 0;                // of the text; 0 if it was not computed
  // SHA-1 of the body as received, if content-seen should look at it (docs/content.md); otherwise zeros.
  std::array<char, 20> payload_sha1{};
  LinkList links;               // in scope or not; nofollow pages keep theirs, with the flag on each
  uint32_t links_left_out = 0;  // not crawlable, or over a limit
  uint32_t links_too_long = 0;  // of them: over the limit of a URL's length
  uint32_t links_too_many = 0;  // and over the limits of a page
  std::optional<RobotsAnswer> robots;
  ArchiveItem archive;
  std::vector<OutputItem> outputs;  // the shard does not look into them
  // Of a crawl that comes back, and of every task with a LastVisit; otherwise null.
  std::unique_ptr<Visit> visit;
  ByteLease lease;  // memory besides the leases of archive and outputs: mostly the links

  // The server said that the page is as it was. A 304 that was not asked for is another outcome.
  bool not_modified() const { return outcome == FetchOutcome::kAnswered && status == 304; }
  // The server said that the page is no longer there.
  bool gone() const { return outcome == FetchOutcome::kAnswered && (status == 404 || status == 410); }
};

// What is remembered for the next visit of a page with a Visit, after its final result: with `about` complete, before
// the outputs take the records.
LastVisit AfterVisit(const PageResult& result, const FetchLine& about);

}  // namespace portolan
