// RefreshSchedule: which page to visit again, and when.
//
//   Add / Report ─▶ PageEntry with estimate ─▶ Calendar ─▶ Take ─▶ the page is out, being visited ─▶ Report
//                                                ▲ poured: judged again
//     RateGroups (prior) · SignalTrust · signals │ Threshold (price of a visit)
//
// A page is due when its crawl value reaches the price. It is judged when it is filed, each time that the calendar
// pours it, and when its turn has come; so it needs no look-up when the price or a prior moves. A signal (a sitemap's
// lastmod) is remembered by the URL's hash until its entry is next judged; when many wait, the calendar is swept.
//
// The caller makes the visits, says how many there may be (SetCapacity, Take) and what each has found (Report). Pages
// that are out are kept here, with all that is known about them. New links that a page has brought are known later,
// when URLseen has answered (Brought): they count at the page's next report, which is as good for a rate.
//
// All times have one unit, RefreshOptions::shortest_ns / 3600: with an hour between two visits at least, a second. A
// day of the formulas is 24 such hours, so a crawl with a shorter one is the same crawl, faster.
//
// Thread: one owner. Reads no clock: Advance says what time it is. Deterministic.
// Invariants: a page is in the calendar or out, once; Report ends "out".
// Memory bound: Options::memory, divided between priors, trust and signals; the calendar's queues (calendar.h); the
// sample (threshold.h); max_out entries, of max_out_bytes.
// When the disk is full: a call that failed has lost nothing and may be made again; what a visit taught about its
// neighbours may then count twice.
// Durability: Checkpointables.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/group_cache.h"
#include "flow/url_record.h"
#include "flow/visit.h"
#include "fresh/calendar.h"
#include "fresh/calendar_clock.h"
#include "fresh/checkpoint_records.h"
#include "fresh/condition_trust.h"
#include "fresh/page_entry.h"
#include "fresh/rate_groups.h"
#include "fresh/signal_trust.h"
#include "fresh/threshold.h"

namespace portolan {

struct RefreshOptions {
  std::string name = "fresh";
  HashKey key;
  // An eighth for both kinds of trust, another for what pages bring, half for signals, the rest for priors.
  uint64_t memory = uint64_t{16} << 20;
  int64_t shortest_ns = int64_t{3600} * 1'000'000'000;  // between two visits of a page; may change between runs
  Threshold::Options threshold;
  Calendar::Options calendar;
  size_t max_out = 4096;
  uint64_t max_out_bytes = uint64_t{4} << 20;  // of their entries, exceeded by at most one
};

// A page after its first visit.
struct NewPage {
  std::string_view record;  // UrlRecord, encoded
  float importance = 1;
  bool hub = false;
  // The visit failed: nothing is known of the page. It is tried kNeverHadStrikes times in all.
  bool failed = false;
  // What its server said at the first visit: seconds since it had changed, and for how long the answer is good.
  std::optional<int64_t> age_s = {};
  std::optional<int64_t> fresh_for_s = {};
  LastVisit last;
};

struct DueVisit {
  uint64_t key = 0;  // of the page, for Report
  std::string record;
  std::shared_ptr<const LastVisit> last;  // without validators if the answer to a condition would prove nothing
};

enum class VisitEnd : uint8_t {
  kChanged,  // the main text, that is
  kSame,
  kGone,     // 404, 410 and the like
  kMoved,    // a permanent redirect
  kFailed,   // nothing was learnt about the page
  kDropped,  // it is not to be visited again: out of scope, forbidden
};

struct VisitReport {
  VisitEnd end = VisitEnd::kSame;
  double news = 0;                  // believed signals (what Signal returned), if it is a sitemap or feed
  bool conditional = false;         // the request was
  std::optional<float> importance;  // if it is another now
  std::optional<LastVisit> last;    // for the next visit; nullopt: what it was
};

struct RefreshCounts {
  uint64_t pages = 0;      // in the calendar
  uint64_t out = 0;        // being visited
  uint64_t ready = 0;      // due now
  uint64_t added = 0;      // ever: pages, out and ended together
  uint64_t taken = 0;      // ever
  uint64_t postponed = 0;  // that were not due after all when their turn came
  uint64_t held = 0;       // that were due, and not taken because the caller could not use them yet
  uint64_t changed = 0;
  uint64_t same = 0;
  uint64_t failed = 0;
  uint64_t ended = 0;    // gone, moved or dropped
  uint64_t signals = 0;  // that were newer than the one before
  uint64_t sweeps = 0;

  RefreshCounts& operator+=(const RefreshCounts& other) {
    for (uint64_t RefreshCounts::* const count :
         {&RefreshCounts::pages, &RefreshCounts::out, &RefreshCounts::ready, &RefreshCounts::added,
          &RefreshCounts::taken, &RefreshCounts::postponed, &RefreshCounts::held, &RefreshCounts::changed,
          &RefreshCounts::same, &RefreshCounts::failed, &RefreshCounts::ended, &RefreshCounts::signals,
          &RefreshCounts::sweeps}) {
      this->*count += other.*count;
    }
    return *this;
  }
};

class RefreshSchedule {
 public:
  static constexpr uint8_t kGoneStrikes = 4;  // visits in a row that must say so, at doubling intervals
  static constexpr uint8_t kMovedStrikes = 2;
  static constexpr uint8_t kNeverHadStrikes = 6;

  static Result<std::unique_ptr<RefreshSchedule>> Open(Env& env, const Manifest& manifest,
                                                       const RefreshOptions& options);
  ~RefreshSchedule();

  void Advance(int64_t unix_ns);
  // Visits per day that Take will ask for in the long run.
  void SetCapacity(double visits_per_day) { capacity_ = visits_per_day; }

  Status Add(const NewPage& page);
  // Up to `max` pages that are due; fewer if no more are, if max_out are out, or while the calendar is being poured
  // (then Work first). What was asked for and not due lowers the price.
  // `hold`, if given: true for a page that cannot be visited now; it is looked at again a tick later. `max_looks`
  // bounds how many entries are looked at.
  using Hold = std::function<bool(const UrlRecord& record)>;
  Result<std::vector<DueVisit>> Take(size_t max, const Hold& hold = {}, size_t max_looks = ~size_t{0});
  // Take gave it, and it was not reported since.
  bool IsOut(uint64_t key) const { return out_.contains(key); }
  void ForEachOut(const std::function<void(const UrlRecord& record)>& each) const;
  // True if the page stays in the calendar. REQUIRES: IsOut(key).
  Result<bool> Report(uint64_t key, const VisitReport& report);

  // A sitemap or feed says when a URL has changed last. Returns how much of a news this is: 0 to 1.
  double Signal(std::string_view url, int64_t modified_unix_s);
  // A sitemap says how often a URL changes. Counts, a little, when the page is added.
  void Promise(std::string_view url, uint32_t every_s);
  // A page has a link that no page had before. Counts if the page has been reported and is not forgotten.
  void Brought(std::string_view url);

  // Up to `max` entries of what is to be done beside: pouring, the price. True: there is more.
  Result<bool> Work(uint64_t max);

  RefreshCounts counts() const;
  // What is believed about a page, for displays: a page of the calendar or one that is out.
  struct Outlook {
    double day_ns = 0;            // of the numbers below
    Gamma prior;                  // changes per day, before its own visits
    Gamma change;                 // with them
    double waited = 0;            // days since the last visit
    double fresh = 0;             // probability that the copy is as the page is now
    double age = 0;               // days for which it has not been, on average
    double worth = 0;             // of a visit now; it is due when this is the price
    double price = 0;             // per visit
    double links = 0;             // new ones per day
    double signalled = 1;         // by how much a signal that waits raises the odds of a change; 1: none waits
    int64_t visited_unix_ns = 0;  // 0: never had
    int64_t due_unix_ns = 0;
  };
  std::optional<Outlook> OutlookOf(const PageEntry& entry, uint32_t due_s) const;
  int64_t UnixNs(uint32_t calendar_s) const { return (int64_t{calendar_s} - clock_.ahead()) * UnitNs(); }
  double days_to_ns() const { return 86'400.0 * static_cast<double>(UnitNs()); }
  int64_t tick_ns() const { return int64_t{options_.calendar.tick_s} * UnitNs(); }
  const Threshold& threshold() const { return threshold_; }
  const RateGroups& rates() const { return *rates_; }
  uint64_t poured() const { return calendar_->poured(); }  // entries that the calendar moved, since Open

  std::vector<Checkpointable*> Checkpointables();

  static constexpr std::string_view kKind = "refresh";

 private:
  struct Keys {
    uint64_t url = 0;
    RateKeys rates;
  };
  // How often pages of a kind (hubs, others) bring links.
  struct LinkRate {
    double links = 0;
    double days = 0;
  };
  class State : public Checkpointable {
   public:
    explicit State(const RefreshSchedule& schedule) : schedule_(schedule) {}
    Status Flush() override;
    ManifestSection Describe() const override { return described_; }
    Status Committed() override { return {}; }

   private:
    const RefreshSchedule& schedule_;
    ManifestSection described_;
  };

  RefreshSchedule(Env& env, const std::string& dir, const RefreshOptions& options);
  Status Restore(const ManifestSection& section);
  Status RestoreSample(std::string_view record);
  Status RestoreOut(std::string_view record);

  // What a page is worth now, and when it is due.
  struct Judgement {
    PageValue value;
    double effective = 0;  // days since the last visit, with signals and silence counted
    double signalled = 1;
    uint32_t due_s = 0;
  };
  int64_t UnitNs() const { return std::max<int64_t>(options_.shortest_ns / 3600, 1); }
  uint64_t KeyOf(std::string_view url) const { return options_.key.Hash(url); }
  std::optional<Keys> KeysOf(const PageEntry& entry) const;
  Judgement JudgeAt(const PageEntry& entry, const Keys& keys) const;
  // The same, and the sample gets to know it.
  Judgement JudgeAndSample(const PageEntry& entry, const Keys& keys);
  void Believe(const NewPage& page, const Keys& keys, ChangeEstimate& change) const;
  Gamma LinkPrior(bool hub) const;
  uint32_t DueAgain(uint32_t due_s, std::string_view bytes);
  Status File(const PageEntry& entry, uint32_t due_s);
  void Learn(PageEntry& entry, const Keys& keys, bool changed, double news);
  size_t RoomOut() const {
    return out_bytes_ < options_.max_out_bytes ? options_.max_out - std::min(options_.max_out, out_.size()) : 0;
  }
  void SolveIfDue();
  void SweepIfDue();

  const RefreshOptions options_;
  CalendarClock clock_;
  std::unique_ptr<Calendar> calendar_;
  std::unique_ptr<RateGroups> rates_;
  std::unique_ptr<SignalTrust> trust_;
  std::unique_ptr<ConditionTrust> conditions_;
  std::unique_ptr<GroupCache> signals_;  // number: the newest lastmod of a URL, in the calendar's time
  std::unique_ptr<GroupCache> news_;     // number: 1 and the links that it has brought since it was reported last
  Threshold threshold_;
  std::map<uint64_t, std::string> out_;  // by key
  uint64_t out_bytes_ = 0;
  CheckpointRecords sample_file_;
  CheckpointRecords out_file_;
  State state_;

  bool other_unit_ = false;  // than when this was committed
  double capacity_ = 0;
  double solved_capacity_ = 0;
  uint64_t solved_pages_ = 0;
  uint32_t solved_s_ = 0;
  uint64_t since_solve_ = 0;  // entries that were filed or judged again
  uint64_t signals_waiting_ = 0;
  uint32_t swept_s_ = 0;
  LinkRate link_rates_[2];
  RefreshCounts counts_;
  std::string bytes_;  // reused
};

}  // namespace portolan
