// UrlRecord: a URL in the queues and DRUMs, with the few facts that it carries.
//
// On disk (all queues of the frontier, aux of URLseen and RobotsCache):
//   u8 layout: bit 0 a robots reference follows, bit 1 a budget, bit 2 a via, bit 3 it stands in for its via, bit 4 it
//   is a probe, bit 5 a last visit; the rest zero u8 kind in the low four bits, requisite in the high four   u8
//   attempts   u8 hops   u16 depth   u8 priority [robots reference: u48 position, u32 expires]   [u16 budget]   [via:
//   u16 its length in bits 0 to 14, its bytes]   [last visit: u16 its length, its bytes (flow/visit.h)] the URL, to the
//   end
// Numbers are little-endian. Bit 15 of a via's length: the via begins with the URL's own origin, which is left out. The
// layout is the record's version: bits that a reader does not know make it "corrupt"; a record without them is read as
// before.
//
// Head and via are the same for the links of a page to one host, so front coding and lz4 remove most of them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash_key.h"

namespace portolan {

// On disk: never renumber.
enum class UrlKind : uint8_t {
  kPage = 0,
  kRobots = 1,   // GET /robots.txt of an origin, for the gate
  kSitemap = 2,  // a sitemap or feed: its links are taken, it is archived like a page
};

// Which rules let this URL pass the gate. `position` is defined by the gate; 0 means "everything is allowed".
struct RobotsRef {
  uint64_t position = 0;  // 48 bits
  uint32_t expires = 0;   // seconds since 1970 after which the rules are stale; 0: there is no reference

  bool present() const { return expires != 0; }
  bool operator==(const RobotsRef&) const = default;
};

inline constexpr uint8_t kMaxRequisiteSteps = 15;  // what four bits hold
// The page on which a URL was found first, or the URL that redirected to it: in two pieces, as it is stored.
struct Via {
  std::string_view origin;  // "https://example.org", if it is also the URL's; otherwise empty
  std::string_view rest;    // "/page", or all of it

  bool empty() const { return rest.empty(); }
  std::string ToString() const { return std::string(origin) += rest; }
  bool operator==(const Via&) const = default;
};

inline constexpr size_t kMaxVia = 2000;  // bytes; a longer one is left out

// `page` as the via of `url`, both canonical and absolute. The views are of `page`.
Via ViaOf(std::string_view page, std::string_view url);

struct UrlRecord {
  UrlKind kind = UrlKind::kPage;
  uint8_t attempts = 0;  // fetches that failed
  uint8_t hops = 0;      // redirects that led here
  uint8_t priority = 0;  // 0 is first; set by the prioritizer
  uint8_t requisite =
      0;  // steps from a page that needs it to be displayed, at most kMaxRequisiteSteps; 0: not a requisite
  // It is fetched in place of its via, which has the same path on a mirror (docs/content.md). If it fails, that is
  // fetched, and then has this flag and no via.
  bool stands_in = false;
  uint16_t depth = 0;   // links from a seed
  uint16_t budget = 0;  // of its pay-level domain when it was admitted; 0: unknown
  bool probe = false;   // was let through although its form is suspect (crawl/trap_park.h)
  RobotsRef robots;
  Via via = {};                // empty: a seed, or unknown
  std::string_view last = {};  // what its last visit left, encoded (flow/visit.h); empty: it was never fetched
  std::string_view url;        // canonical, absolute; a view of what it was decoded from, like via and last

  bool operator==(const UrlRecord&) const = default;
};

// Replaces `out` (does not append); its memory is reused.
void EncodeUrlRecord(const UrlRecord& record, std::string& out);
std::string EncodeUrlRecord(const UrlRecord& record);

// nullopt for bytes that are not a record (from a damaged file). `record.url` and its via are views of `bytes`.
std::optional<UrlRecord> DecodeUrlRecord(std::string_view bytes);

// Parts of a canonical http(s) URL without parsing it again.
std::string_view OriginOf(std::string_view url);        // "https://example.org:8443"
std::string_view HostOf(std::string_view url);          // "example.org", "[::1]"
std::string_view PathAndQueryOf(std::string_view url);  // "/a?b"
// Keyed hashes of them: politeness is per host name (all ports); robots.txt is per origin.
uint64_t HostKey(std::string_view url, const HashKey& key);
uint64_t OriginKey(std::string_view url, const HashKey& key);

}  // namespace portolan
