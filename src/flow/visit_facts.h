// What an answer's header fields say about change, as facts of a PageResult's Visit: for the parser, and for the
// simulated web, which makes results without bytes.
//
// Everything is taken from one answer as the server sent it; nothing is believed or refused here.
//
// Validators for the next visit are kept of a page that was read in full or up to our own limit. A 304 keeps those that
// it repeats and those that it does not mention; if its ETag is another one than was asked for, the server contradicts
// itself, and the next visit asks for the whole page.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flow/page_result.h"

namespace portolan {

struct VisitFields {
  std::string_view etag;
  std::string_view last_modified;
  std::optional<std::string_view> date;
  std::optional<std::string_view> expires;
  std::string_view cache_control;  // all fields of that name, joined by commas
};

// `readable`: the body could be decoded. `our_time_s`: stands in for a missing Date.
// REQUIRES: result.visit is set, its `last` and `payload_sha1` (of a body that is whole) as well, and outcome, status
// and similarity of the result.
void AddVisitFacts(const VisitFields& fields, bool conditional, bool readable, int64_t our_time_s, PageResult& result);

}  // namespace portolan
