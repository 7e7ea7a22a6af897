// What STAR knows of a pay-level domain, its encoding, and the leaky bucket that says how far ahead its next URL goes.
//
// The paper's BEAST finds a URL's queue from budget B and pages passed P: the first B go to the next queue, the next B
// to the one after. P counts from the beginning of the crawl, while queues move on. So here each domain has a bucket
// instead: `used` is how much of its URLs' price is in queues ahead of `tick`, and B of it leaks with every tick. A
// URL's place is used / B whole queues behind the next one. A URL whose place is at or beyond the horizon (the number
// of queues) waits in Q_F and takes no room.
//
// DomainRecord is the value of STAR's DRUM of domains. A tuple's value is a record too: what is to be added. DRUM
// stores the first value of a key as it is, so a tuple's record must be what the domain becomes if nothing is stored.
// docs/formats/reputation.md has the bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reputation/budget_table.h"

namespace portolan {

struct DomainRecord {
  uint32_t in_degree = 0;  // distinct other domains that link here; stays at its largest value
  uint32_t passed = 0;     // unique URLs that came through STAR; likewise
  uint32_t used = 0;       // price of its URLs in the queues after `tick`, less what leaked
  uint32_t tick = 0;       // of its latest URL
  uint16_t horizon = 0;    // of its last URL
  uint16_t price = 0;      // of its last URL; 0 in a tuple: it is not a URL
  uint32_t vouched = 0;    // other domains that its links have raised; likewise
  uint32_t fetched = 0;    // of `passed`: pages that were fetched; likewise
  uint32_t failed = 0;     // of `passed`: URLs that ended without a page (error, redirect, denied); likewise

  // URLs that have not ended. An end may be known before its URL is counted: then 0.
  uint32_t waiting() const {
    const uint64_t ended = uint64_t{fetched} + failed;
    return ended >= passed ? 0 : static_cast<uint32_t>(passed - ended);
  }
  bool operator==(const DomainRecord&) const = default;
};

inline constexpr size_t kDomainRecordSize = 32;

// Writes kDomainRecordSize bytes.
void EncodeDomainRecord(const DomainRecord& record, char* to);
std::string EncodeDomainRecord(const DomainRecord& record);
// REQUIRES: kDomainRecordSize bytes.
DomainRecord DecodeDomainRecord(std::string_view bytes);

// What the bucket needs to know of a URL.
struct BucketUrl {
  uint32_t tick = 0;     // the queue being read when it came
  uint16_t horizon = 0;  // number of queues after that one
  uint16_t price = 1;    // at least 1; how much of the budget it takes

  bool operator==(const BucketUrl&) const = default;
};

struct BucketPlace {
  uint32_t place = 0;  // queues to skip; queue tick + 1 + place is the URL's
  uint32_t tick = 0;   // from which place counts: the URL's, or a later one that the domain has seen
  uint32_t used = 0;   // of the domain, afterwards
  bool later = false;  // place >= horizon: the URL waits in Q_F and used is unchanged
};

// REQUIRES: budget from 1 to kMaxBudget. Then `used` cannot overflow: it grows only while it is below budget × horizon.
BucketPlace PlaceInBucket(const DomainRecord& stored, const BucketUrl& url, uint32_t budget);

// Values of tuples.
DomainRecord InDegreeTuple();
DomainRecord VouchTuple();                                  // for the edge's source
DomainRecord EndsTuple(uint32_t fetched, uint32_t failed);  // this many URLs ended
DomainRecord UrlTuple(const BucketUrl& url, bool fresh);

// DRUM's combine: adds the tuple's record to the stored one, with the budget that the domain has at that moment.
// `may_vouch`: the stored domain may vouch for another one (VouchLimits::Counts).
void CombineDomain(DomainRecord& stored, const DomainRecord& tuple, const BudgetTable& budgets, bool may_vouch = true);

// What travels with a vouch through the DRUM of domains (aux): the edge's target. A URL's aux is longer, so the length
// tells which it is.
inline constexpr size_t kVouchAuxSize = 8;

// What travels with a URL through the DRUM of domains (aux): the tuple's own numbers, what the names log needs, and the
// record. The views point into the bytes.
inline constexpr size_t kMaxPldName = 255;  // a domain name has at most 253

struct StarAux {
  BucketUrl url;
  bool fresh = true;
  uint64_t pld = 0;           // hash; 0 unless fresh
  std::string_view pld_name;  // at most kMaxPldName bytes; empty unless fresh
  std::string_view record;

  bool operator==(const StarAux&) const = default;
};

// Replaces `out` and reuses its memory.
void EncodeStarAux(const StarAux& aux, std::string& out);
// Empty for bytes that are not an aux (from a damaged file).
std::optional<StarAux> DecodeStarAux(std::string_view bytes);

}  // namespace portolan
