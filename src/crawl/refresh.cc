#include "crawl/refresh.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "crawl/partition.h"
#include "flow/outcome.h"

namespace portolan {
namespace {

constexpr uint32_t kLeastOfHost = 16;
constexpr uint32_t kMostOfHost = 4096;

bool Failed(CountAs count) {
  switch (count) {
    case CountAs::kServerError:
    case CountAs::kDns:
    case CountAs::kConnection:
    case CountAs::kTls:
    case CountAs::kBroken:
      return true;
    default:
      return false;
  }
}

std::string PaceName(const std::string& schedule) { return schedule + "-pace"; }

Status RestorePace(const ManifestSection& section, RefreshPace& pace) {
  ASSIGN_OR_RETURN(const uint64_t per_ns, section.Number("per_ns"));
  ASSIGN_OR_RETURN(const uint64_t waiting, section.Number("waiting"));
  const auto rate = std::bit_cast<double>(per_ns);
  const auto part = std::bit_cast<double>(waiting);
  if (!std::isfinite(rate) || !std::isfinite(part)) {
    return Fail(ErrorCode::kCorrupt, section.name + ": its numbers cannot be");
  }
  pace.Restore(rate, part);
  return {};
}

bool Changed(const Visit& visit) {
  switch (visit.signals.change) {
    case PayloadChange::kNotModified:
    case PayloadChange::kSame:
      return false;
    case PayloadChange::kUnknown:
    case PayloadChange::kOther:
      break;
  }
  if (visit.signals.text_distance != VisitSignals::kUnknownDistance) {
    return visit.signals.text_distance > Refresh::kSameText;
  }
  return visit.signals.change == PayloadChange::kOther;
}

}  // namespace

Refresh::Refresh(const ShardRefresh& options, const RefreshPace::Options& pace, int64_t now_ns)
    : options_(options), pace_(pace, now_ns) {}

Result<std::unique_ptr<Refresh>> Refresh::Open(Env& env, const Manifest& manifest, const ShardRefresh& options,
                                               uint32_t connections, int64_t host_delay_ns, int64_t now_ns) {
  ASSIGN_OR_RETURN(auto schedule, RefreshSchedule::Open(env, manifest, options.schedule));
  const RefreshPace::Options pace{.share = options.share,
                                  .most_per_day = options.visits_per_day,
                                  .connections = static_cast<double>(connections),
                                  .period_ns = options.schedule.shortest_ns,
                                  .tick_ns = schedule->tick_ns()};
  std::unique_ptr<Refresh> refresh(new Refresh(options, pace, now_ns));
  refresh->schedule_ = std::move(schedule);
  const int64_t served = pace.tick_ns / std::max<int64_t>(host_delay_ns, 1);
  refresh->most_of_host_ = static_cast<uint32_t>(std::clamp<int64_t>(served, kLeastOfHost, kMostOfHost));
  refresh->schedule_->ForEachOut(
      [&](const UrlRecord& record) { ++refresh->of_host_[HostKey(record.url, options.schedule.key)]; });
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(PaceName(options.schedule.name), kKind));
  if (section != nullptr) RETURN_IF_ERROR(RestorePace(*section, refresh->pace_));
  return refresh;
}

Result<double> Refresh::CommittedVisitsPerDay(const Manifest& manifest, const std::string& schedule,
                                              const ShardRefresh& options) {
  RefreshPace pace({.share = options.share, .most_per_day = options.visits_per_day, .connections = 1e9}, 0);
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(PaceName(schedule), kKind));
  if (section != nullptr) RETURN_IF_ERROR(RestorePace(*section, pace));
  return pace.PerNs() * 86'400e9;
}

std::vector<Checkpointable*> Refresh::Checkpointables() {
  std::vector<Checkpointable*> all = schedule_->Checkpointables();
  all.push_back(this);
  return all;
}

ManifestSection Refresh::Describe() const {
  ManifestSection section;
  section.name = PaceName(options_.schedule.name);
  section.kind = kKind;
  section.numbers = {{"per_ns", std::bit_cast<uint64_t>(pace_.capacity_per_ns())},
                     {"waiting", std::bit_cast<uint64_t>(pace_.waiting())}};
  return section;
}

void Refresh::Advance(int64_t now_ns, int64_t unix_ns, bool first_visits) {
  pace_.Advance(now_ns, first_visits, full_);
  schedule_->SetCapacity(visits_per_day() * schedule_->days_to_ns() / 86'400e9);
  schedule_->Advance(unix_ns);
  full_ = Full() && schedule_->counts().ready > 0;
}

Result<std::vector<std::string>> Refresh::TakeDue(uint64_t most) {
  std::vector<std::string> records;
  dry_ = false;
  const uint64_t wanted = std::min({pace_.allowed(), most, kTakeStep});
  const uint64_t out = schedule_->counts().out;
  const uint64_t room = options_.schedule.max_out - std::min<uint64_t>(options_.schedule.max_out, out);
  if (wanted == 0 || room == 0) return records;
  const uint64_t held = schedule_->counts().held;
  const auto hold = [&](const UrlRecord& record) {
    uint32_t& there = of_host_[HostKey(record.url, options_.schedule.key)];
    if (there >=
        std::min<uint64_t>(most_of_host_, std::max<uint64_t>(room - std::min<uint64_t>(room, records.size()), 1))) {
      return true;
    }
    ++there;
    return false;
  };
  ASSIGN_OR_RETURN(const std::vector<DueVisit> due, schedule_->Take(wanted, hold, kLookStep));
  pace_.Took(due.size(), schedule_->counts().held - held);
  if (due.size() < wanted && schedule_->counts().ready == 0) {
    pace_.Idle();
    dry_ = true;
  }
  for (const DueVisit& visit : due) {
    UrlRecord record = DecodeUrlRecord(visit.record).value();
    last_.clear();
    AppendLastVisit(*visit.last, last_);
    record.last = last_;
    EncodeUrlRecord(record, records.emplace_back());
  }
  return records;
}

int64_t Refresh::NextNs(int64_t now_ns) const {
  // With nothing due, or no room, the next tick or the end of a fetch changes that.
  if (dry_ || full_ || schedule_->counts().ready == 0)
    return now_ns + std::max<int64_t>(schedule_->tick_ns(), 1'000'000);
  return std::max(pace_.NextNs(), now_ns + 1'000'000);
}

float Refresh::ImportanceOf(const UrlRecord& record) {
  if (record.kind == UrlKind::kSitemap) return 0;
  constexpr double kLeastBudget = 10;  // budget.function: what a domain gets to which nobody links
  const double domain = record.budget == 0 ? 1 : std::sqrt(std::max(record.budget / kLeastBudget, 1.0));
  return static_cast<float>(domain / std::sqrt(1.0 + record.depth));
}

bool Refresh::IsHub(const UrlRecord& record) {
  return record.kind == UrlKind::kSitemap || record.depth == 0 || PathAndQueryOf(record.url) == "/";
}

VisitEnd Refresh::EndOf(const PageResult& result, const FetchLine& line) {
  if (line.dropped) return VisitEnd::kDropped;
  switch (FollowOf(result.outcome, result.status).count) {
    case CountAs::kFetched:
      return result.visit != nullptr && Changed(*result.visit) ? VisitEnd::kChanged : VisitEnd::kSame;
    case CountAs::kNotModified:
      return VisitEnd::kSame;
    case CountAs::kRedirected:
      return result.status == 301 || result.status == 308 ? VisitEnd::kMoved : VisitEnd::kFailed;
    case CountAs::kClientError:
      return VisitEnd::kGone;
    default:
      return VisitEnd::kFailed;
  }
}

// Only what a host says about its own pages.
double Refresh::HearSignals(const PageResult& result, uint64_t host) {
  double news = 0;
  if (result.visit == nullptr) return news;
  for (const LinkHint& hint : result.visit->hints) {
    if (hint.link >= result.links.links.size()) continue;
    const FoundLink& link = result.links.links[hint.link];
    if (link.host_hash != host) continue;
    const std::string_view url = result.links.UrlOf(link);
    schedule_->Promise(url, hint.every_s);
    if (hint.modified_s != 0) news += schedule_->Signal(url, hint.modified_s);
  }
  return news;
}

Status Refresh::OnFirstVisit(const PageResult& result, const UrlRecord& record, const FetchLine& line, uint64_t host) {
  const CountAs count = FollowOf(result.outcome, result.status).count;
  const bool failed = Failed(count);
  if (record.requisite > 0 || line.dropped || (count != CountAs::kFetched && !failed)) return {};
  HearSignals(result, host);
  UrlRecord page;
  page.kind = record.kind;
  page.priority = record.priority;
  page.depth = record.depth;
  page.budget = record.budget;
  page.url = record.url;
  const std::string encoded = EncodeUrlRecord(page);
  NewPage added{.record = encoded, .importance = ImportanceOf(record), .hub = IsHub(record), .failed = failed};
  if (result.visit != nullptr && !failed) {
    added.last = AfterVisit(result, line);
    const VisitSignals& signals = result.visit->signals;
    constexpr uint16_t kMadeUp = kSignalFutureDate | kSignalNowDate | kSignalBadDate;
    if (signals.age_s && (signals.flags & kMadeUp) == 0) added.age_s = signals.age_s;
    if (signals.fresh_for_s) added.fresh_for_s = signals.fresh_for_s;
  }
  return schedule_->Add(added);
}

Status Refresh::OnRevisit(const PageResult& result, const UrlRecord& record, const FetchLine& line, uint64_t host) {
  const uint64_t key = options_.schedule.key.Hash(record.url);
  if (!schedule_->IsOut(key)) return {};
  VisitReport report{.end = EndOf(result, line)};
  report.news = HearSignals(result, host);
  if (result.visit != nullptr) report.conditional = (result.visit->signals.flags & kSignalConditional) != 0;
  if (result.visit != nullptr && (report.end == VisitEnd::kChanged || report.end == VisitEnd::kSame)) {
    report.last = AfterVisit(result, line);
  }
  RETURN_IF_ERROR(schedule_->Report(key, report));
  Left(record.url);
  return {};
}

Status Refresh::OnUnvisited(const UrlRecord& record, VisitEnd end) {
  const uint64_t key = options_.schedule.key.Hash(record.url);
  if (!schedule_->IsOut(key)) return {};
  RETURN_IF_ERROR(schedule_->Report(key, {.end = end}));
  Left(record.url);
  return {};
}

void Refresh::Left(std::string_view url) {
  const auto host = of_host_.find(HostKey(url, options_.schedule.key));
  if (host != of_host_.end() && --host->second == 0) of_host_.erase(host);
}

}  // namespace portolan
