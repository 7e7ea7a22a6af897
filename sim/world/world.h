// World: a web that is a pure function of (parameters, seed, URL, time). Nothing is stored, any size fits.
//
// Domains 0 … D-1 in the order of popularity, hosts 0 … H-1 within a domain, pages 0 … P-1 within a host. All names end
// in ".test", which does not exist in the real DNS (RFC 6761). A host's name and a page's path contain their numbers,
// so a URL leads back to its place without any table.
//
// Page 0 is the home page. In a host without evils every page is reachable from page 0 within the host; every host of a
// domain is reachable from its host 0 over home pages; every domain is linked from a more popular one; faults affect
// only pages and hosts that no others depend on; so everything that is not forbidden is reachable from the seed, the
// home page of domain 0 (Seeds()).
//
// Traps (calendars, session ids, loops, growing queries), mazes (maze.h) and spam farms are endless: a Place of them
// has a class and a state of 64 bits, and no number.
//
// Thread: const after construction; any number of threads. Memory: a few words per domain (ten million pages in some
// tens of thousands of domains: megabytes), nothing per page.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/world/answer.h"
#include "sim/world/params.h"

namespace portolan::sim {

struct HostId {
  uint32_t domain = 0;
  uint32_t host = 0;  // of a wildcard farm: a hash of the name
  bool operator==(const HostId&) const = default;
};

enum class PlaceClass : uint8_t {
  kNothing,   // no such page: 404, or what the host does instead
  kPage,      // one of the numbered pages
  kRobots,    // /robots.txt
  kSitemap,   // /sitemap.xml and its parts
  kCalendar,  // traps, endless:
  kSession,   //   the same pages under ever new session ids, in paths or queries
  kLoop,      //   symlink loops: /a/b/a/b/…
  kQuery,     //   query strings that grow
  kSpam,      // pages of spam farms, endless where DNS is a wildcard
  kMaze,      // a trap of one of the kinds of maze.h, endless
};
std::string_view PlaceClassName(PlaceClass place_class);

struct Place {
  HostId host;
  PlaceClass place_class = PlaceClass::kNothing;
  uint64_t number = 0;  // the page of kPage; the state of a trap or spam page; the part of a sitemap
  bool operator==(const Place&) const = default;
};

struct OutLink {
  Place target;
  std::string_view url;   // absolute and in canonical form; dies when the callback returns
  bool nofollow = false;  // rel=nofollow on the link, or the page is kPageNofollow
};

// The properties of a numbered page. Faults are drawn per page from the rates of the parameters.
enum class PageKind : uint8_t {
  kNormal,
  kRedirect,       // 301, 302, 307 or 308 to RedirectTarget()
  kRedirectLoop,   // to itself by way of others
  kNotFound,       // 404
  kGone,           // 410
  kForbidden,      // 403
  kServerError,    // 500, 502: always
  kFlaky,          // 503 with Retry-After or 429 at first (Request::earlier), then normal
  kSoft404,        // 200, "not found" in words, same text for all
  kDuplicate,      // the same body as another page of the host
  kNearDuplicate,  // nearly
  kFault,          // normal, but for FaultOf() on the wire; or a decompression bomb (IsBomb())
  kNoindex,        // meta robots or X-Robots-Tag: noindex
  kPageNofollow,   // meta robots nofollow: its links are not to be followed
};
// Where a numbered page is in its life (life.h).
enum class PageState : uint8_t { kUnborn, kAlive, kDead };

inline constexpr size_t kPageKinds = 14;
std::string_view PageKindName(PageKind kind);

struct Web;

class World {
 public:
  static Result<std::unique_ptr<World>> Create(const WorldParams& params, uint64_t seed);
  ~World();

  const WorldParams& params() const;
  uint64_t seed() const;

  // Numbers. REQUIRES: arguments in range.
  uint32_t Domains() const;  // ordinary ones, then spam ones up to AllDomains()
  uint32_t AllDomains() const;
  bool IsSpam(uint32_t domain) const;
  uint32_t Hosts(uint32_t domain) const;  // of a wildcard farm: 0, its hosts have no numbers
  uint64_t Pages(HostId host) const;
  uint64_t TotalPages() const;                             // of ordinary domains
  uint64_t DenseNumber(HostId host, uint64_t page) const;  // 0 … TotalPages()-1
  Place FromDense(uint64_t number) const;
  std::optional<HostId> MirrorOf(HostId host) const;  // this host shows the content of that one

  // Names.
  std::string HostName(HostId host) const;
  std::optional<HostId> FindHost(std::string_view name) const;  // wildcard hosts too
  bool HostIsTls(HostId host) const;
  std::string Origin(HostId host) const;  // "https://www.x.test:8443"; the port is left out where it is the default
  std::string UrlOf(const Place& place) const;
  // Any URL or part of one that a client may ask for. kNothing for what does not exist.
  Place Find(std::string_view host_name, std::string_view path_and_query) const;
  Place FindUrl(std::string_view url) const;
  // Where crawls begin: the home pages of the `count` most popular domains that can be reached; fewer if there are not
  // so many. One is enough to reach all.
  std::vector<std::string> Seeds(uint64_t count = 1) const;

  // Truth.
  PageKind KindOf(const Place& place) const;
  WireFault FaultOf(const Place& place) const;
  bool IsBomb(const Place& place) const;           // a kFault whose FaultOf() is kNone
  Place RedirectTarget(const Place& place) const;  // REQUIRES: kRedirect or kRedirectLoop
  // What a well-behaved crawler finds on this page, in document order, repetitions included. Nothing for places that
  // show no links (errors, redirects, faults that spoil the body). Faster than rendering: no HTML is made.
  void Links(const Place& place, int64_t unix_ns, const std::function<void(const OutLink&)>& each) const;
  // May an agent of this product token fetch the place, by what robots.txt of the host says at that time? Decided from
  // the parameters that also write the file, not by parsing it.
  bool Allowed(const Place& place, std::string_view agent, int64_t unix_ns) const;
  // The Crawl-delay of the host for the agent in seconds, 0 for none.
  double CrawlDelay(HostId host, std::string_view agent, int64_t unix_ns) const;
  // False while robots.txt of the host answers 5xx or not at all: then nothing of it may be fetched.
  bool RobotsReachable(HostId host, int64_t unix_ns) const;
  bool DnsWorks(HostId host) const;                               // it has an address that may be crawled
  bool TlsWorks(HostId host) const;                               // true for plain HTTP
  uint64_t Version(const Place& place, int64_t unix_ns) const;    // rises with each change
  int64_t LastChange(const Place& place, int64_t unix_ns) const;  // unix_ns of it
  // Another number for other bytes: advertisements and dates around the text count as well.
  uint64_t BytesVersion(const Place& place, int64_t unix_ns) const;
  // It answers 304 to a request that is not conditional.
  bool AnswersUnasked(const Place& place) const;
  // Its server sends another ETag or Last-Modified with each answer.
  bool SaysAnew(const Place& place) const;
  // Of numbered pages; other places are always alive.
  PageState StateOf(const Place& place, int64_t unix_ns) const;
  int64_t BirthNs(const Place& place) const;      // unix; the epoch for pages that were always there
  int64_t DeathNs(const Place& place) const;      // INT64_MAX: never
  double MeanChangeNs(const Place& place) const;  // mean time between two changes of its own contents; 0: none
  // How much the page matters: falls with the rank of its domain and with its number, as in-links do. Home pages of the
  // first domain have 1.
  double Importance(const Place& place) const;

  // The web itself.
  Answer Respond(const Request& request) const;
  DnsAnswer Resolve(std::string_view host_name) const;  // all addresses are in 127.0.0.0/8 or ::1, or are a lie
  Certificate CertificateOf(std::string_view host_name) const;

  const Web& web() const;  // the parts, for the rest of sim/world

 private:
  struct Impl;
  explicit World(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace portolan::sim
