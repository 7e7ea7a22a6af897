// PageEntry: what the calendar keeps of a page between its visits.
//
// The format is docs/formats/calendar.md; page_entry_test.cc has its golden bytes, fuzz/page_entry_fuzz.cc reads
// anything. 26 bytes, the URL's record, what the last visit left (flow/visit.h), and for pages that bring links 8 more.
//
// Thread: values. Memory bound: a UrlRecord (flow/record_bound.h), kMaxLastVisit, 40 bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/visit.h"
#include "fresh/change_estimate.h"

namespace portolan {

struct PageEntry {
  uint32_t visited_s = 0;  // calendar time of the last visit that said something about the page
  uint16_t visits = 0;     // … that said whether it had changed; no more than can be held
  uint16_t changes = 0;    // of those: it had
  uint8_t strikes = 0;     // visits in a row that found nothing: errors, or that the page is gone
  bool gone = false;       // the last one said that it is gone
  bool hub = false;        // a home page, sitemap or feed: expected to bring links
  float importance = 1;
  ChangeEstimate change;
  ChangeEstimate links;  // new links per day, as a gamma over the prior of its kind
  LastVisit last;
  std::string record;  // UrlRecord, encoded

  bool operator==(const PageEntry& other) const;
};

// Replaces `out`.
void EncodePageEntry(const PageEntry& entry, std::string& out);
// nullopt for bytes that are not an entry.
std::optional<PageEntry> DecodePageEntry(std::string_view bytes);

}  // namespace portolan
