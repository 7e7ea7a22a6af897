// LinkStream: the links that a crawl of any length finds, page by page, out of a seed.
//
// What a URL-seen structure meets in a crawl, without a crawl: about 59 links per page. Pages come from a window of
// sites that are crawled side by side (politeness puts minutes between two pages of one site). Four in ten links of a
// page are the site's navigation, the same on each of its pages; others lead to pages of the site, new ones or known
// ones, the recent and the popular first; a fifth leads to other sites, the popular ones most of all; some stand twice
// in a row (picture and headline). One link in nine is new, at every length from 600,000 links on: a controller makes
// up in the sites' pages for what navigation and first pages add.
//
// Memory bound: 16 bytes per site of the window, the vocabulary and one page; nothing grows with the number of links.
// Thread: one owner. Deterministic: the same options give the same stream on every machine.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/seen/url_text.h"
#include "io/rng.h"

namespace portolan::bench {

struct Link {
  uint64_t key;  // Hash64(text)
  std::string_view text;
};

struct LinkStreamOptions {
  uint64_t seed = 1;
  double unique = 1.0 / 9;        // share of links that were never seen before: p of the models
  uint32_t sites_at_once = 1024;  // the window
};

class LinkStream {
 public:
  explicit LinkStream(const LinkStreamOptions& options);

  // The links of the next page in the order of its text. Valid until the next call.
  std::span<const Link> NextPage();

  uint64_t pages() const { return pages_; }
  uint64_t links() const { return links_; }
  // Links that were new when they came, by construction (two texts of one hash aside).
  uint64_t unique_links() const { return unique_; }

 private:
  struct Site {
    uint64_t host;
    uint32_t known;       // pages of it that have been linked to
    uint16_t pages_left;  // until another site takes its place
    uint16_t navigation;  // links of its navigation that have been shown
  };

  void Open(Site& site);
  void Emit(const char* end);
  void EmitNavigation(const Site& site, uint32_t index);
  void EmitLocal(Site& site, bool fresh);
  void EmitForeign();

  const LinkStreamOptions options_;
  const UrlText text_;
  Rng rng_;
  std::vector<Site> sites_;
  uint64_t next_host_ = 0;
  uint64_t foreign_ = 0;  // URLs on other sites found so far; each is a number below
  uint64_t pages_ = 0;
  uint64_t links_ = 0;
  uint64_t unique_ = 0;

  // The page being made.
  std::unique_ptr<char[]> buffer_;
  char* at_;              // where the next link's text begins
  uint64_t list_at_ = 0;  // how far back in time the site's lists have come
  size_t own_host_length_ = 0;
  char own_host_[kMaxUrl];
  std::vector<Link> page_;
};

}  // namespace portolan::bench
