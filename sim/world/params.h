// WorldParams: everything that may differ between two simulated webs, except the seed; and the named profiles.
//
// A profile is a table of profiles.toml, which is part of the program; a file of the same form adds more. "base" names
// the profile that another starts from. Rates are shares between 0 and 1.
//
// Rates of page kinds are shares of all pages, but only pages without children in their host's tree are drawn for them
// (nine of ten), so that no fault hides a healthy page from a crawl that starts at the seed. Rates of hosts likewise:
// only hosts that no other host depends on are drawn.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan::sim {

struct WorldParams {
  std::string profile = "small";

  // Size and shape.
  uint64_t domains = 8;                // ordinary pay-level domains
  uint64_t pages = 200;                // of all ordinary domains together; mirrors come on top
  double hosts_alpha = 1.6;            // hosts per domain: Pareto with this exponent; the larger the fewer
  uint64_t max_hosts = 3;              // per domain
  double size_exponent = 0.8;          // pages of the domain of rank r: about r^-size_exponent …
  double size_sigma = 1.0;             // … times a lognormal of this sigma
  uint64_t max_pages_per_host = 1000;  // cap
  uint64_t giants = 0;                 // so many domains (spread over the ranks) have a host of giant_pages
  uint64_t giant_pages = 0;

  // Links.
  double links_mean = 20;       // out-links per page
  double links_sigma = 0.6;     // of the lognormal number
  uint64_t links_max = 1000;    // cap
  uint64_t links_nav = 8;       // of them in the template of the host
  double external_share = 0.2;  // of the others to other domains
  double zipf_exponent = 0.8;   // popularity of domains: rank^-s; PLD in-degree then has the exponent 1 + 1/s
  double friends_mean = 12;     // domains that a domain of 100 pages links to; grows with its size
  double nofollow = 0;          // of external links

  // Pages.
  double page_bytes = 6000;  // mean of the lognormal, decoded
  double page_sigma = 0.6;
  uint64_t page_bytes_max = 2'000'000;
  double script_share = 0.2;      // of the filling bytes in scripts, styles and comments
  double legacy_charset = 0;      // of hosts: another charset than UTF-8
  double malformed = 0;           // of pages: markup that only a tolerant reader understands
  double canonical = 0.1;         // of pages: rel=canonical
  double compressed = 0;          // of hosts: gzip, br, zstd or deflate where the client accepts it
  double chunked = 0.2;           // of pages: no Content-Length
  double http10 = 0;              // of hosts: HTTP/1.0
  double cut_keep_alive = 0;      // of pages: the connection closes after an answer that promised otherwise
  double validators = 0.9;        // of hosts: ETag and Last-Modified
  double latency_ms = 80;         // mean of a healthy answer in the virtual world
  double change_days = 30;        // mean time between two changes of a page; 0: nothing ever changes
  double change_sigma = 1;        // of the lognormal of that time over the pages
  uint64_t epoch_s = 1767225600;  // when the world was made (2026-01-01); versions count from here

  // What else changes in time (life.h), and what is said about it.
  double boilerplate = 0;       // of pages: bytes around the text change, and the text does not, …
  double boilerplate_days = 1;  // … on average so often
  double born = 0;              // of the pages of a host: born after the epoch, …
  double born_days = 60;        // … within this time
  double dying = 0;             // of pages: they die, …
  double life_days = 60;        // … on average after this time
  double etag_random = 0;       // of hosts: a new ETag with each answer
  double modified_now = 0;      // of hosts: Last-Modified is always now
  double modified_future = 0;   // of hosts: always a month ahead
  double stuck_304 = 0;         // of hosts: 304 to every conditional request
  double unasked_304 = 0;       // of pages: 304 to requests that are not conditional
  double max_age = 0;           // of hosts: Cache-Control with half of a page's mean time between changes
  double lastmod_absent = 0;    // of sitemaps: no lastmod
  double lastmod_lying = 0;     // of sitemaps: every lastmod is today
  double lastmod_time = 0;      // of sitemaps: lastmod has the time, not only the date
  double changefreq = 0;        // of sitemaps: with <changefreq>; "always" where lastmod lies

  // Network.
  uint16_t http_port = 0;  // 0: the default, and no port in URLs
  uint16_t https_port = 0;
  double https = 0;                     // of hosts
  double ipv6 = 0;                      // of hosts: ::1 beside IPv4
  double ipv6_only = 0;                 // of hosts: ::1 alone
  uint64_t address_first = 0x7f010001;  // 127.1.0.1
  uint64_t addresses = 64;              // so many from there
  double shared_address = 0.3;          // of domains: on one of the few addresses of big hosting companies
  uint64_t shared_addresses = 2;
  double multi_address = 0;  // of hosts: two to four addresses
  double dns_not_found = 0;  // of hosts, each:
  double dns_servfail = 0;
  double dns_silent = 0;
  double dns_slow = 0;
  double dns_private = 0;
  double bad_certificate = 0;  // of https hosts

  // Robots.
  double robots_rules = 0;     // of hosts: a file with rules
  double robots_groups = 0;    // of those: groups for named agents
  double robots_changing = 0;  // of those: other rules after each robots_change_s
  uint64_t robots_change_s = 86400;
  uint64_t robots_own = 0;         // of those: lines that name what only this host would have
  double restricted_pages = 0.05;  // of pages: in places that rules speak of
  double crawl_delay = 0;          // of hosts with rules
  double crawl_delay_s = 2;        // the longest
  double robots_forbid_all = 0;    // of hosts, each:
  double robots_error = 0;         // 5xx or no answer
  double robots_redirect = 0;
  double robots_huge = 0;
  double robots_garbage = 0;
  double sitemaps = 0;              // of hosts
  uint64_t sitemap_entries = 1000;  // the most in one file

  // Kinds of pages.
  double redirect = 0;
  double redirect_loop = 0;
  double not_found = 0;
  double gone = 0;
  double forbidden = 0;
  double server_error = 0;
  double flaky = 0;
  double soft404 = 0;  // of pages; and of hosts: what does not exist answers 200
  double duplicate = 0;
  double near_duplicate = 0;
  double noindex = 0;
  double page_nofollow = 0;

  // Faults on the wire, and bodies that hurt: of pages, each.
  double fault_reset = 0;
  double fault_reset_in_body = 0;
  double fault_close_early = 0;
  double fault_empty_reply = 0;
  double fault_slow_first_byte = 0;
  double fault_tarpit = 0;
  double fault_endless = 0;
  double fault_long_length = 0;
  double fault_short_length = 0;
  double fault_header_flood = 0;
  double fault_garbage = 0;
  double fault_http09 = 0;
  double fault_bad_chunks = 0;
  double bomb = 0;  // content coding that unfolds to bomb_bytes
  uint64_t bomb_bytes = 256 << 20;
  double slow_first_byte_s = 2;  // longest
  double tarpit_s = 1;           // a byte each
  uint64_t header_flood_bytes = 4 << 20;

  // Hosts that are the same, and traps: of hosts, each.
  double mirrors = 0;
  uint64_t mirror_pages = 2000;  // of the largest host that is mirrored
  double trap_calendar = 0;
  double trap_session = 0;
  double trap_loop = 0;
  double trap_query = 0;
  double trap_entry = 0.1;      // of the pages of such a host: a link into the trap
  double trap_forbidden = 0.5;  // of such hosts: robots.txt forbids the trap

  // Mazes: traps whose words and forms are drawn for each host (maze.h): of hosts, each. None is forbidden.
  double maze_repeat = 0;         // path segments that repeat, as symbolic links make them
  double maze_calendar = 0;       // dates without end, in the path or in the query
  double maze_session_path = 0;   // the host's pages again below ever new tokens
  double maze_session_query = 0;  // … or with ever new values of a parameter
  double maze_growing = 0;        // a query that gets longer with each step
  double maze_facets = 0;         // combinations of filters over the same items
  double maze_soft404 = 0;        // pages that do not exist, answered with 200 and links to more of them
  double maze_redirect = 0;       // redirects that lead to redirects
  double maze_entry = 0.1;        // of the pages of such a host: a link into each of its mazes
  uint64_t maze_words = 0;        // 0 or 1: which of two lists their words are taken from

  // Spam.
  uint64_t spam_domains = 0;
  double spam_wildcard = 0.5;   // of them: every host name exists
  uint64_t spam_pages = 1000;   // a host
  uint64_t spam_links = 100;    // a page
  double spam_entry = 0.001;    // of ordinary pages: a link to a farm
  double spam_doors = 1;        // of ordinary domains: only their pages have such links
  uint64_t spam_campaigns = 0;  // farms that the links of one of these lead to; 0: to any
  uint64_t spam_addresses = 0;  // of each of them, its hosts spread over them; 0: ten domains share one
  uint64_t spam_alone = 0;   // 1: a farm is one site with the same pages under every name, and links to no other farm
  double spam_slowness = 1;  // an answer of a farm takes so many times as long, in the virtual world

  bool operator==(const WorldParams&) const = default;
};

// All profiles of the program, in the order of profiles.toml.
std::vector<std::string> ProfileNames();

// The profile of this name from `toml` (the text of a user's file) or from the program. kNotFound names the nearest
// one; an unknown key is kInvalidArgument and names the nearest key.
Result<WorldParams> LoadProfile(std::string_view name, std::string_view toml = {});

// SetParam(params, "domains", "1000")
Status SetParam(WorldParams& params, std::string_view key, std::string_view value);
// The same of "domains=1000".
Status SetParam(WorldParams& params, std::string_view pair);

// Only what differs from the defaults, as "key=value key=value": SetParam brings it back.
std::string DescribeParams(const WorldParams& params);

// Every key with its value, as a TOML table: LoadProfile reads it back.
std::string ParamsToToml(const WorldParams& params);

}  // namespace portolan::sim
