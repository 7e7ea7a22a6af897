// Refresh: what a crawl that comes back adds to a shard. It keeps the schedule of its pages (fresh/refresh_schedule.h),
// the pace of visits (refresh_pace.h), and says what a visit means for a page.
//
//   first visit ended ─▶ OnFirstVisit ─▶ schedule … TakeDue ─▶ the shard: gate, frontier, fetch ─▶ OnRevisit ─▶
//   schedule
//
// A page is scheduled after its first visit if it was there (2xx), and for some attempts if its server failed. What a
// page needs to be displayed, redirects, and what a rule drops is visited once.
//
// What counts as a change is the main text: kSameText bits of its similarity hash may differ. Where there is no text,
// it is the bytes. An answer that says nothing about the page (an error, a temporary redirect, a 304 that was not asked
// for) changes no belief.
//
// Importance is taken from what the shard knows: the budget of the domain (its reputation, budget/) and the depth,
// which stands for the links to a page. Home pages, sitemaps and feeds are hubs, which are expected to bring links;
// other pages become so by what they bring.
//
// Of one host no more pages are taken than it can serve in about a tick of the calendar, and no more than there is room
// for others: so new URLs of that host do not wait long behind them, and a giant does not take all.
//
// Thread: the shard's. Memory bound: the schedule's, and 24 bytes per host with a page that is visited.
// Durability: Checkpointables.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "crawl/refresh_options.h"
#include "crawl/refresh_pace.h"
#include "disk/manifest.h"
#include "flow/fetch_line.h"
#include "flow/page_result.h"
#include "flow/url_record.h"
#include "fresh/refresh_schedule.h"

namespace portolan {

class Refresh : private Checkpointable {
 public:
  static constexpr uint8_t kSameText = 3;
  static constexpr std::string_view kKind = "pace";

  static Result<std::unique_ptr<Refresh>> Open(Env& env, const Manifest& manifest, const ShardRefresh& options,
                                               uint32_t connections, int64_t host_delay_ns, int64_t now_ns);

  // `unix_ns` is the crawl's calendar. `first_visits`: URLs wait for their first visit.
  void Advance(int64_t now_ns, int64_t unix_ns, bool first_visits);
  // A bounded part of the schedule's own work. True: there is more.
  Result<bool> Work() { return schedule_->Work(kWorkStep); }
  // Pages that are due, as records for the gate: at most `most`.
  Result<std::vector<std::string>> TakeDue(uint64_t most);
  // When to call again, if nothing happens before.
  int64_t NextNs(int64_t now_ns) const;

  // Visits that have ended, with all that was found out about them: `line` is complete, and the archive's records are
  // still there.
  Status OnFirstVisit(const PageResult& result, const UrlRecord& record, const FetchLine& line, uint64_t host);
  Status OnRevisit(const PageResult& result, const UrlRecord& record, const FetchLine& line, uint64_t host);
  // A page that was due, but was not fetched.
  Status OnUnvisited(const UrlRecord& record, VisitEnd end);
  // URLseen says that a link is new; `via` is the page that has it.
  void Brought(const Via& via) {
    if (!via.empty()) schedule_->Brought(via.ToString());
  }
  void Fetched() { pace_.Fetched(); }

  RefreshCounts counts() const { return schedule_->counts(); }
  const RefreshSchedule& schedule() const { return *schedule_; }
  // What was committed, for displays.
  static Result<double> CommittedVisitsPerDay(const Manifest& manifest, const std::string& schedule,
                                              const ShardRefresh& options);
  double visits_per_day() const { return pace_.PerNs() * 86'400e9; }
  std::vector<Checkpointable*> Checkpointables();

  static float ImportanceOf(const UrlRecord& record);
  static bool IsHub(const UrlRecord& record);
  static VisitEnd EndOf(const PageResult& result, const FetchLine& line);

 private:
  static constexpr uint64_t kWorkStep = 1024;
  static constexpr uint64_t kTakeStep = 64;
  static constexpr uint64_t kLookStep = 1024;

  Refresh(const ShardRefresh& options, const RefreshPace::Options& pace, int64_t now_ns);
  Status Flush() override { return {}; }
  ManifestSection Describe() const override;
  Status Committed() override { return {}; }
  double HearSignals(const PageResult& result, uint64_t host);
  bool Full() const { return schedule_->counts().out >= options_.schedule.max_out; }
  void Left(std::string_view url);

  const ShardRefresh options_;
  std::unique_ptr<RefreshSchedule> schedule_;
  RefreshPace pace_;
  uint32_t most_of_host_ = 1;
  bool full_ = false;                               // what was due found no room
  bool dry_ = false;                                // nothing was due
  std::unordered_map<uint64_t, uint32_t> of_host_;  // pages that are out, by HostKey; never iterated
  std::string last_;                                // scratch
};

}  // namespace portolan
