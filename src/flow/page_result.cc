#include "flow/page_result.h"

#include <algorithm>

namespace portolan {

LastVisit AfterVisit(const PageResult& result, const FetchLine& about) {
  if (result.visit == nullptr) return {};
  const Visit& visit = *result.visit;
  // Neither a failure nor an overloaded server says anything about the page.
  const Follow follow = FollowOf(result.outcome, result.status);
  const bool said_nothing = !HasAnswer(result.outcome) || follow.retry != Retry::kNever;
  if (said_nothing) return visit.last != nullptr ? *visit.last : LastVisit();
  LastVisit next;
  if (visit.signals.change == PayloadChange::kNotModified && visit.last != nullptr) next = *visit.last;
  next.validators = visit.validators;
  if (visit.signals.change == PayloadChange::kNotModified) return next;
  next.similarity = result.similarity;
  next.payload_sha1 = visit.payload_sha1;
  if (!next.has_payload() || about.dropped || result.archive.bytes.empty()) return next;
  if (about.revisit && !result.archive.revisit.empty() && !about.duplicate_of.empty()) {
    next.captured_unix_ms = about.duplicate_unix_ms;
    if (about.duplicate_of != about.url) next.captured_url = about.duplicate_of;
  } else {
    next.captured_unix_ms = std::max<int64_t>(1, result.times.begin_unix_ns / 1'000'000);
  }
  return next;
}

}  // namespace portolan
