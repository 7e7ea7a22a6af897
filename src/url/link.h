// The hot path: turns a link of a page into a canonical URL and its hash, or gives a named reason why not.
//
//   Link link;                                    // reused for every link of every page
//   switch (ResolveLink(href, base, options, link)) {
//     case LinkOutcome::kCrawlable:  use(link.url.href(), link.hash, link.host_hash); …
//
// `href` is the attribute's value after the page's charset and character references are decoded: UTF-8, blanks around
// it and line ends within it still there. `base` is the page's URL, or what its <base href> resolved to.
// A page in another encoding than UTF-8 has its queries in that: LinkOptions::query_encoder.
//
// ResolveLink gives exactly what Url::Assign and Canonicalize give, one after the other; common spellings (plain ASCII:
// absolute, //host, /path, path, ?query, #fragment) use a fast path that allocates nothing once the link's buffer has
// grown to the longest URL so far.
//
// Thread: any, with a Link of its own.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash_key.h"
#include "url/canonical.h"
#include "url/query_encoder.h"
#include "url/url.h"

namespace portolan {

struct LinkOptions {
  CanonicalRules rules = CanonicalRules::Default();
  uint32_t max_length = 8000;             // bytes of the canonical form; servers refuse request lines above 8 KiB or so
  QueryEncoder* query_encoder = nullptr;  // of the page's encoding; null for UTF-8
  HashKey key;                            // the crawl's: what URLs and hosts are hashed with
};

enum class LinkOutcome : uint8_t {
  kCrawlable,
  kOtherScheme,   // mailto:, javascript:, data:, ftp: …: not HTTP, whatever follows
  kInvalid,       // the URL parser fails: link.status says why
  kTooLong,       // the canonical form is over LinkOptions::max_length
  kHostNotInDns,  // a label over 63 bytes or empty, or a name over 253: it cannot be resolved
  kBadPort,       // another protocol's port (bad_port.h): browsers do not use it either
};
inline constexpr size_t kLinkOutcomes = static_cast<size_t>(LinkOutcome::kBadPort) + 1;
std::string_view LinkOutcomeName(LinkOutcome outcome);

struct Link {
  Url url;                 // the canonical form; only after kCrawlable
  uint64_t hash = 0;       // LinkOptions::key's, of url.href()
  uint64_t host_hash = 0;  // likewise, of url.hostname()
  UrlStatus status = UrlStatus::kOk;
};

// REQUIRES: base is not link.url, and href is not a view of link.url.
LinkOutcome ResolveLink(std::string_view href, const Url& base, const LinkOptions& options, Link& link);

// A URL that needs no base: a seed, a sitemap's entry, a redirect's absolute target.
LinkOutcome ResolveAbsolute(std::string_view text, const LinkOptions& options, Link& link);

// Whether the DNS could hold this host: labels of 1 to 63 bytes, 253 in all, one dot at the end allowed. IP addresses
// are not names: ask only where Url::host_kind() is kDomain.
bool FitsDns(std::string_view host);

}  // namespace portolan
