// What passes between the visits of one URL: what the last one left, what the answer to the next one said about change.
//
//   calendar ──LastVisit──▶ FetchTask ──▶ conditional request ──▶ PageResult::visit: LastVisit and Visit ──▶ calendar
//
// A first visit carries none of this unless the crawl comes back (PageMakerOptions::visits): one null pointer in the
// task and one in the result.
//
// Everything here is what a server said, and servers lie: a Last-Modified that is always now, an ETag that is never the
// same twice. So these are facts (VisitSignals), with flags for what contradicts itself. Whether to believe a server is
// decided elsewhere, from several visits.
//
// Thread: a LastVisit is immutable and shared; a Visit has one owner. Memory bound: kMaxValidator bytes per validator;
// one LinkHint per link of a sitemap or feed, of which there are at most SitemapLimits::max_entries.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

// Bytes of one validator; longer ones are not kept. What servers send has 10 to 60.
inline constexpr size_t kMaxValidator = 256;

// Whether it can be kept, and sent back as it came: not empty, not too long, no control character.
bool IsValidator(std::string_view value);

// What makes a request conditional (RFC 9110 sections 8.8 and 13.1), as the server sent it.
struct Validators {
  std::string etag;           // for If-None-Match
  std::string last_modified;  // for If-Modified-Since

  bool usable() const { return IsValidator(etag) || IsValidator(last_modified); }
  bool operator==(const Validators&) const = default;
};

// What the last visit of a URL left. Any part may be missing.
struct LastVisit {
  Validators validators;
  std::array<char, 20> payload_sha1{};  // of the payload that the page had then; zeros: unknown
  // The capture that holds this payload in full, for WARC-Refers-To…: the archive's revisit records all refer to such
  // captures, never to each other.
  int64_t captured_unix_ms = 0;  // 0: unknown, or nothing is archived
  std::string captured_url;      // empty: this URL
  uint64_t similarity = 0;       // of the main text (PageResult::similarity); 0: unknown

  bool has_payload() const { return payload_sha1 != std::array<char, 20>{}; }
  bool operator==(const LastVisit&) const = default;
};

// As a URL's record carries it (flow/url_record.h):
//   u8 bits: 1 a payload, 2 a capture, 4 its URL, 8 a similarity, 16 an ETag, 32 a Last-Modified
//   [20 bytes] [u64 captured] [URL] [u64 similarity] [ETag] [Last-Modified]
// Numbers are little-endian; a string is a varint of its length and its bytes. What is not a validator is left out.
// With a URL of the capture that is too long for kMaxLastVisit, the capture is.
inline constexpr size_t kMaxLastVisit = 700;
void AppendLastVisit(const LastVisit& last, std::string& out);
// nullopt: other bytes (from a damaged file).
std::optional<LastVisit> DecodeLastVisit(std::string_view bytes);

// How the answer differs from the last visit's.
enum class PayloadChange : uint8_t {
  kUnknown,      // a first visit, or nothing to compare: no payload, or one that was cut
  kNotModified,  // 304: the server says so
  kSame,         // the same payload came
  kOther,        // another payload
};
std::string_view PayloadChangeName(PayloadChange change);

// Bits of VisitSignals::flags: what the answer's header fields said, and what does not fit.
enum SignalFlag : uint16_t {
  kSignalEtag = 1 << 0,           // there is an ETag, kept or not
  kSignalWeakEtag = 1 << 1,       // W/"…"
  kSignalNoStore = 1 << 2,        // Cache-Control: no-store
  kSignalNoCache = 1 << 3,        // no-cache, or must-revalidate with max-age=0
  kSignalFutureDate = 1 << 4,     // Last-Modified is later than the server's own Date (or our clock, if it sends none)
  kSignalNowDate = 1 << 5,        // Last-Modified is Date, or up to kNowSeconds before it: made up for each answer?
  kSignalBadDate = 1 << 6,        // Last-Modified is not a date
  kSignalLongValidator = 1 << 7,  // an ETag or Last-Modified that cannot be kept
  // Only of a visit after the first:
  kSignalEtagMoved = 1 << 8,     // another ETag, but the payload is the same (or 304)
  kSignalDateMoved = 1 << 9,     // the same of Last-Modified
  kSignalEtagStuck = 1 << 10,    // the same ETag, but another payload: a 304 of this server proves nothing
  kSignalDateStuck = 1 << 11,    // the same of Last-Modified
  kSignalConditional = 1 << 12,  // the request was conditional
};
inline constexpr int64_t kNowSeconds = 2;

struct VisitSignals {
  uint16_t flags = 0;  // SignalFlag
  PayloadChange change = PayloadChange::kUnknown;
  // Bits in which the main text's similarity differs from the last visit's, 0 to 64; more: unknown. Advertisements,
  // dates and counters leave it as it is, or change a few bits.
  static constexpr uint8_t kUnknownDistance = 255;
  uint8_t text_distance = kUnknownDistance;
  std::optional<int64_t> last_modified_s;  // seconds since 1970
  std::optional<int64_t> age_s;            // Date (or our clock) less Last-Modified; negative: it is in the future
  std::optional<uint32_t> fresh_for_s;     // Cache-Control's max-age, or Expires less Date; 0: stale at once
  uint32_t new_links = 0;                  // links that no page had before: counted by the shard
};

// What a sitemap or feed says about a page that it names, beside the link.
struct LinkHint {
  uint32_t link = 0;        // index in LinkList::links; rising
  uint32_t modified_s = 0;  // seconds since 1970, when it changed last; 0: not said
  uint32_t every_s = 0;     // <changefreq> as seconds between two changes; 0: not said
  static constexpr uint32_t kNever = UINT32_MAX;

  bool operator==(const LinkHint&) const = default;
};

// Of a PageResult.
struct Visit {
  std::shared_ptr<const LastVisit> last;  // as the task had it, whatever became of the fetch; null: a first visit
  Validators validators;                  // for the next visit
  std::array<char, 20> payload_sha1{};    // zeros: none, or not whole
  VisitSignals signals;
  std::vector<LinkHint> hints;

  bool has_payload() const { return payload_sha1 != std::array<char, 20>{}; }
};

}  // namespace portolan
