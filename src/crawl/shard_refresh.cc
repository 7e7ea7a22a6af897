// What the shard of a crawl that comes back does with pages that were visited: schedules them, takes those that are due
// to the robots loop, reports what was found. refresh.h has the policy, docs/freshness.md its reasons.

#include <algorithm>

#include "crawl/shard_sinks.h"

namespace portolan {

Status Shard::TakeDue(Moment now, bool* moved) {
  const uint64_t elsewhere = frontier_->counts().urls() + gate_->waiting();
  refresh_->Advance(now.now_ns, CalendarNs(now), elsewhere > robots_open_ + visiting());
  ASSIGN_OR_RETURN(const bool more, refresh_->Work());
  if (more) *moved = true;
  if (inbox_waits_ || paused_ || outage().down()) return {};
  if (more && refresh_->counts().ready == 0) return {};  // what is due may still be poured
  ASSIGN_OR_RETURN(const std::vector<std::string> records, refresh_->TakeDue(gate_->Room()));
  GateToFrontier passed(*this, now);
  for (const std::string& bytes : records) {
    const std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "the calendar holds bytes that are not a URL record");
    RETURN_IF_ERROR(AddToGate(*record, passed, now));
    *moved = true;
  }
  if (gate_->Room() > 0) WakeBy(refresh_->NextNs(now.now_ns));
  return {};
}

Status Shard::NoteVisit(const PageResult& result, const UrlRecord& record, const InFlight& flight,
                        const FetchLine& line) {
  refresh_->Fetched();
  return IsRevisit(record) ? refresh_->OnRevisit(result, record, line, flight.host)
                           : refresh_->OnFirstVisit(result, record, line, flight.host);
}

void Shard::NoteUnvisited(const UrlRecord& record, VisitEnd end) {
  if (const Status status = refresh_->OnUnvisited(record, end); !status) late_error_ = status;
}

}  // namespace portolan
