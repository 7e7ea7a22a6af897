// PageLinks: the links of a Page, resolved, canonical and hashed, in one flat buffer.
//
// The last step of parsing: a Page has what the author wrote; the rest of the crawler needs canonical URLs with their
// hashes. The base is the page's URL, or its <base href> where that is one (HTML standard, 4.2.3: a base that does not
// parse, or is a data: or javascript: URL, does not count). Queries, also that of the base, are in the document's
// encoding; those of URLs in styles are in UTF-8.
//
// Nothing is allocated per link once the buffers have grown. What is not crawlable is counted by reason.
// Thread: one owner. Memory bound: Page's, times three for escapes; up to fourteen where queries are in an encoding
// that cannot write them (url.h).

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "html/charset.h"
#include "html/page.h"
#include "url/link.h"
#include "url/url.h"

namespace portolan {

struct PageLinksOptions {
  LinkOptions link = {};                // its query encoder is that of `encoding`, whatever is set here
  Encoding encoding = Encoding::kUtf8;  // of the document, before it was decoded
  bool navigation = true;               // frames included: they are pages that a visitor sees
  bool embeds = true;
  bool resources = true;
  bool in_templates = false;        // links that are inert until a script copies them
  uint64_t max_bytes = UINT32_MAX;  // of all URLs together; what is beyond is counted in PageLinks::dropped
};

struct ResolvedLink {
  uint64_t hash = 0;  // of the canonical URL, by LinkOptions::key
  uint64_t host_hash = 0;
  uint32_t url_begin = 0;  // in PageLinks::urls
  uint32_t url_size = 0;
  uint32_t source = 0;  // index in Page::links
};

struct PageLinks {
  std::string urls;
  std::vector<ResolvedLink> links;  // in document order, repetitions included
  Url base;
  std::array<uint32_t, kLinkOutcomes> outcomes{};  // by LinkOutcome
  uint32_t dropped = 0;                            // beyond max_bytes

  std::string_view UrlOf(const ResolvedLink& link) const {
    return std::string_view(urls).substr(link.url_begin, link.url_size);
  }
  uint32_t count(LinkOutcome outcome) const { return outcomes[static_cast<size_t>(outcome)]; }

  // Replaces what is here by the links of `page`, found at `page_url`.
  void Resolve(const Page& page, const Url& page_url, const PageLinksOptions& options);

 private:
  Link scratch_;
};

}  // namespace portolan
