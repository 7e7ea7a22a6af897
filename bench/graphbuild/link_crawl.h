// LinkCrawl: the link log of a polite crawl of the simulated web, written by the crawl's own outputs.
//
// Pages, links and their order on a page are the world's; which pages are fetched, and when, is decided here, since a
// whole simulated crawl costs a hundred times as much as the log: a window of hosts gives one page per round, as hosts
// do that are waited for; of each host the first sixth of its pages is fetched (home page, then the tree below it), so
// that about one link in ten leads to a URL that is new. That is IRLbot's ratio (394 billion links, 41 billion URLs).
// A link has the flags and anchor text of the page, as parse/ would have found them; a URL is once in a page's list.
//
// Totals hold sums over all links that do not depend on their order, to compare with what a graph holds.
//
// Thread: one owner. Memory: the world's (some 100 bytes per host), a window of hosts.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "follow/output_reader.h"
#include "io/env.h"
#include "sim/world/world.h"

namespace portolan::bench {

// What is the same of two sets of links, whatever their order.
struct LinkSums {
  uint64_t fetched = 0;  // pages
  uint64_t links = 0;
  uint64_t texts = 0;  // links with flags or a text
  uint64_t fetched_sum = 0;
  uint64_t link_sum = 0;
  uint64_t text_sum = 0;

  void AddFetched(uint64_t page) {
    ++fetched;
    fetched_sum += Mix64(page + 1);
  }
  // Hashes of both URLs.
  void AddLink(uint64_t source, uint64_t target) {
    ++links;
    link_sum += OfLink(source, target);
  }
  void AddText(uint64_t source, uint64_t target, std::string_view text) {
    ++texts;
    text_sum += Mix64(OfLink(source, target) ^ Hash64(text));
  }
  bool operator==(const LinkSums&) const = default;

 private:
  static uint64_t OfLink(uint64_t source, uint64_t target) {
    return Mix64(source ^ Mix64(target + 0x9e3779b97f4a7c15));
  }
};

class LinkCrawl {
 public:
  // A web that is large enough for so many links.
  static Result<LinkCrawl> Create(uint64_t links);

  struct Page {
    std::string url;
    std::string packed;  // its records, as parse/ packs them
  };
  // Fetches the next page; false: there is none. The sums go on.
  bool Next(Page& page);

  // Fetches pages until there are `links` links in all, and commits them to the log in `dir`.
  Status WriteLog(Env& env, const std::string& dir, uint64_t links);
  const LinkSums& sums() const { return sums_; }
  static OutputSource LogIn(const std::string& dir);

 private:
  explicit LinkCrawl(std::unique_ptr<sim::World> world) : world_(std::move(world)) {}

  struct Host {
    sim::HostId id;
    uint64_t next = 0;
    uint64_t end = 0;
  };
  bool AddHost();  // to the window
  void AppendLinks(const sim::Place& place, Page& page);

  std::unique_ptr<sim::World> world_;
  std::vector<Host> window_;
  size_t at_ = 0;  // in the window
  sim::HostId next_host_;
  std::vector<uint64_t> shown_;  // hashes of the page's links, a table of open addressing
  LinkSums sums_;
};

}  // namespace portolan::bench
