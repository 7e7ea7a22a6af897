#include "fresh/refresh_schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

constexpr double kDay = 86'400;
constexpr uint64_t kHostKeySeed = 0x667265736868;
constexpr uint32_t kSweepSeconds = 6 * 3600;  // the longest that a signal waits
// Of a signal that leads to a visit, in new links: without it the page would be visited a while later, too.
constexpr double kSignalWorth = 0.2;
constexpr uint32_t kSolveSeconds = 4 * 3600;
constexpr uint32_t kHeardSeconds = 4 * 86'400;  // signals that were read longer ago than this say nothing
// What is expected of pages of which nothing is known yet: links per day, as if seen for so many days.
constexpr double kFirstLinks[2] = {0.002, 0.5};
constexpr double kFirstLinkDays = 20;
// What servers say about pages that were visited once, as parts of an observation: much of it is made up.
constexpr double kAgeWeight = 0.5;
constexpr double kFreshForWeight = 0.25;
constexpr double kLinkShapes[2] = {0.05, 0.5};  // how much pages of a kind resemble each other
constexpr double kMostLinkDays = 1e6;           // then old ones fade

uint64_t PromiseKey(uint64_t url) { return Mix64(url ^ 0x70726f6d697365); }

double WaitAfter(const PageEntry& entry) {
  // Gone pages: 1, 2, 4 days. Errors: from six hours on, 32 days at most.
  const double first = entry.gone ? 1 : 0.25;
  return std::min(first * std::exp2(entry.strikes - 1), 32.0);
}

}  // namespace

RefreshSchedule::RefreshSchedule(Env& env, const std::string& dir, const RefreshOptions& options)
    : options_(options),
      threshold_(options.threshold),
      sample_file_(env, dir, options.name + "-sample",
                   [this](const CheckpointRecords::Emit& emit) {
                     Status status;
                     std::string record;
                     threshold_.ForEach([&](uint64_t key, const PageValue& page) {
                       if (!status) return;
                       record.clear();
                       AppendLe(record, key);
                       for (const double number : {page.importance, page.change.shape, page.change.rate, page.silence,
                                                   page.signals, page.news}) {
                         AppendLe(record, std::bit_cast<uint64_t>(number));
                       }
                       status = emit(record);
                     });
                     return status;
                   }),
      out_file_(env, dir, options.name + "-out",
                [this](const CheckpointRecords::Emit& emit) -> Status {
                  std::string record;
                  for (const auto& [key, entry] : out_) {
                    record.clear();
                    AppendLe(record, key);
                    record += entry;
                    RETURN_IF_ERROR(emit(record));
                  }
                  return {};
                }),
      state_(*this) {}

RefreshSchedule::~RefreshSchedule() = default;

Result<std::unique_ptr<RefreshSchedule>> RefreshSchedule::Open(Env& env, const Manifest& manifest,
                                                               const RefreshOptions& options) {
  std::unique_ptr<RefreshSchedule> schedule(new RefreshSchedule(env, manifest.dir(), options));
  Calendar::Options calendar = options.calendar;
  calendar.name = options.name + "-calendar";
  ASSIGN_OR_RETURN(schedule->calendar_, Calendar::Open(env, manifest, calendar));
  ASSIGN_OR_RETURN(schedule->rates_,
                   RateGroups::Open(env, manifest, {.name = options.name + "-rates", .memory = options.memory / 4}));
  ASSIGN_OR_RETURN(schedule->trust_,
                   SignalTrust::Open(env, manifest, {.name = options.name + "-trust", .memory = options.memory / 16}));
  ASSIGN_OR_RETURN(
      schedule->conditions_,
      ConditionTrust::Open(env, manifest, {.name = options.name + "-conditions", .memory = options.memory / 16}));
  ASSIGN_OR_RETURN(schedule->signals_,
                   GroupCache::Open(env, manifest, {.name = options.name + "-signals", .memory = options.memory / 2}));
  ASSIGN_OR_RETURN(schedule->news_,
                   GroupCache::Open(env, manifest, {.name = options.name + "-news", .memory = options.memory / 8}));
  RETURN_IF_ERROR(schedule->sample_file_.Restore(
      manifest, [&](std::string_view record) { return schedule->RestoreSample(record); }));
  RETURN_IF_ERROR(
      schedule->out_file_.Restore(manifest, [&](std::string_view record) { return schedule->RestoreOut(record); }));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(schedule->Restore(*section));
  return schedule;
}

Status RefreshSchedule::RestoreSample(std::string_view record) {
  ByteReader in(record);
  uint64_t key = 0;
  PageValue page;
  bool sound = in.Read(key);
  for (double* number :
       {&page.importance, &page.change.shape, &page.change.rate, &page.silence, &page.signals, &page.news}) {
    uint64_t bits = 0;
    sound = sound && in.Read(bits);
    *number = std::bit_cast<double>(bits);
    sound = sound && std::isfinite(*number) && *number >= 0;
  }
  if (!sound || !in.done() || page.change.shape <= 0 || page.change.rate <= 0) {
    return Fail(ErrorCode::kCorrupt, options_.name + ": a sampled page cannot be read");
  }
  threshold_.Put(key, page);
  return {};
}

Status RefreshSchedule::RestoreOut(std::string_view record) {
  ByteReader in(record);
  uint64_t key = 0;
  if (!in.Read(key) || !DecodePageEntry(record.substr(sizeof key))) {
    return Fail(ErrorCode::kCorrupt, options_.name + ": the entry of a page that is visited cannot be read");
  }
  out_[key] = record.substr(sizeof key);
  out_bytes_ += record.size() - sizeof key;
  return {};
}

Status RefreshSchedule::State::Flush() {
  const RefreshSchedule& s = schedule_;
  const RateGroups::Levels& levels = s.rates_->levels();
  const auto bits = [](double number) { return std::bit_cast<uint64_t>(number); };
  described_ = {};
  described_.name = s.options_.name;
  described_.kind = kKind;
  described_.numbers = {{"now", s.clock_.now()},
                        {"ahead", std::bit_cast<uint64_t>(s.clock_.ahead())},
                        {"threshold", bits(s.threshold_.value())},
                        {"trim", bits(s.threshold_.trim())},
                        {"mean", bits(levels.mean)},
                        {"page_var", bits(levels.page_var)},
                        {"directory_var", bits(levels.directory_var)},
                        {"host_var", bits(levels.host_var)},
                        {"weight", bits(levels.weight)},
                        {"page_links", bits(s.link_rates_[0].links)},
                        {"page_link_days", bits(s.link_rates_[0].days)},
                        {"hub_links", bits(s.link_rates_[1].links)},
                        {"hub_link_days", bits(s.link_rates_[1].days)},
                        {"solved_capacity", bits(s.solved_capacity_)},
                        {"solved_pages", s.solved_pages_},
                        {"solved_s", s.solved_s_},
                        {"since_solve", s.since_solve_},
                        {"signals_waiting", s.signals_waiting_},
                        {"swept", s.swept_s_},
                        {"added", s.counts_.added},
                        {"taken", s.counts_.taken},
                        {"unit_ns", static_cast<uint64_t>(s.UnitNs())},
                        {"postponed", s.counts_.postponed},
                        {"held", s.counts_.held},
                        {"changed", s.counts_.changed},
                        {"same", s.counts_.same},
                        {"failed", s.counts_.failed},
                        {"ended", s.counts_.ended},
                        {"signals", s.counts_.signals},
                        {"sweeps", s.counts_.sweeps}};
  return {};
}

Status RefreshSchedule::Restore(const ManifestSection& section) {
  const auto number = [&](const char* name, double least, double most) -> Result<double> {
    ASSIGN_OR_RETURN(const uint64_t bits, section.Number(name));
    const auto value = std::bit_cast<double>(bits);
    if (!(value >= least && value <= most)) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} is {}", section.name, name, value));
    }
    return value;
  };
  ASSIGN_OR_RETURN(const uint64_t now, section.Number("now"));
  ASSIGN_OR_RETURN(const uint64_t ahead, section.Number("ahead"));
  ASSIGN_OR_RETURN(const uint64_t swept, section.Number("swept"));
  if (now > UINT32_MAX || swept > now) return Fail(ErrorCode::kCorrupt, section.name + ": its time cannot be");
  clock_ = CalendarClock(static_cast<uint32_t>(now), std::bit_cast<int64_t>(ahead));
  swept_s_ = static_cast<uint32_t>(swept);
  ASSIGN_OR_RETURN(const double threshold, number("threshold", 0, 1e300));
  ASSIGN_OR_RETURN(const double trim, number("trim", -Threshold::kMostTrim, Threshold::kMostTrim));
  threshold_.Restore(threshold, trim);
  RateGroups::Levels levels;
  ASSIGN_OR_RETURN(levels.mean, number("mean", -100, 100));
  ASSIGN_OR_RETURN(levels.page_var, number("page_var", 1e-6, 1e6));
  ASSIGN_OR_RETURN(levels.directory_var, number("directory_var", 1e-6, 1e6));
  ASSIGN_OR_RETURN(levels.host_var, number("host_var", 1e-6, 1e6));
  ASSIGN_OR_RETURN(levels.weight, number("weight", 0, 1e9));
  rates_->set_levels(levels);
  ASSIGN_OR_RETURN(link_rates_[0].links, number("page_links", 0, 1e18));
  ASSIGN_OR_RETURN(link_rates_[0].days, number("page_link_days", 0, 1e18));
  ASSIGN_OR_RETURN(link_rates_[1].links, number("hub_links", 0, 1e18));
  ASSIGN_OR_RETURN(link_rates_[1].days, number("hub_link_days", 0, 1e18));
  ASSIGN_OR_RETURN(solved_capacity_, number("solved_capacity", 0, 1e18));
  ASSIGN_OR_RETURN(solved_pages_, section.Number("solved_pages"));
  ASSIGN_OR_RETURN(const uint64_t solved_s, section.Number("solved_s"));
  solved_s_ = static_cast<uint32_t>(std::min(solved_s, now));
  ASSIGN_OR_RETURN(since_solve_, section.Number("since_solve"));
  ASSIGN_OR_RETURN(signals_waiting_, section.Number("signals_waiting"));
  ASSIGN_OR_RETURN(counts_.added, section.Number("added"));
  ASSIGN_OR_RETURN(counts_.taken, section.Number("taken"));
  ASSIGN_OR_RETURN(const uint64_t unit_ns, section.Number("unit_ns"));
  other_unit_ = unit_ns != static_cast<uint64_t>(UnitNs());
  ASSIGN_OR_RETURN(counts_.postponed, section.Number("postponed"));
  ASSIGN_OR_RETURN(counts_.held, section.Number("held"));
  ASSIGN_OR_RETURN(counts_.changed, section.Number("changed"));
  ASSIGN_OR_RETURN(counts_.same, section.Number("same"));
  ASSIGN_OR_RETURN(counts_.failed, section.Number("failed"));
  ASSIGN_OR_RETURN(counts_.ended, section.Number("ended"));
  ASSIGN_OR_RETURN(counts_.signals, section.Number("signals"));
  ASSIGN_OR_RETURN(counts_.sweeps, section.Number("sweeps"));
  return {};
}

std::vector<Checkpointable*> RefreshSchedule::Checkpointables() {
  std::vector<Checkpointable*> all = calendar_->Checkpointables();
  for (Checkpointable* one : {rates_->checkpointable(), trust_->checkpointable(), conditions_->checkpointable(),
                              static_cast<Checkpointable*>(signals_.get()), static_cast<Checkpointable*>(news_.get()),
                              static_cast<Checkpointable*>(&sample_file_), static_cast<Checkpointable*>(&out_file_),
                              static_cast<Checkpointable*>(&state_)}) {
    all.push_back(one);
  }
  return all;
}

void RefreshSchedule::Advance(int64_t unix_ns) {
  const int64_t clock = unix_ns / UnitNs();
  if (std::exchange(other_unit_, false)) clock_.Rebase(clock);
  calendar_->Advance(clock_.Advance(clock));
  if (swept_s_ == 0) swept_s_ = clock_.now();
}

std::optional<RefreshSchedule::Keys> RefreshSchedule::KeysOf(const PageEntry& entry) const {
  const std::optional<UrlRecord> record = DecodeUrlRecord(entry.record);
  if (!record) return std::nullopt;
  Keys keys;
  keys.url = KeyOf(record->url);
  keys.rates.host = Mix64(HostKey(record->url, options_.key) ^ kHostKeySeed);
  std::string_view path = PathAndQueryOf(record->url);
  path = path.substr(0, path.find('?'));
  if (path.starts_with('/')) path.remove_prefix(1);
  const size_t slash = path.find('/');
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
  keys.rates.directory = Mix64(keys.rates.host ^ options_.key.Hash(path));
  return keys;
}

Gamma RefreshSchedule::LinkPrior(bool hub) const {
  const LinkRate& rate = link_rates_[hub ? 1 : 0];
  const double mean = (rate.links + kFirstLinks[hub ? 1 : 0] * kFirstLinkDays) / (rate.days + kFirstLinkDays);
  const double shape = kLinkShapes[hub ? 1 : 0];
  return {.shape = shape, .rate = shape / std::max(mean, 1e-6)};
}

RefreshSchedule::Judgement RefreshSchedule::JudgeAt(const PageEntry& entry, const Keys& keys) const {
  Judgement judged;
  PageValue& page = judged.value;
  page.importance = entry.importance;
  page.change = entry.change.Posterior(rates_->Prior(keys.rates));
  const Trust trust = trust_->Of(keys.rates.host);
  const uint32_t now = clock_.now();
  if (!entry.hub && now - std::min(now, trust.heard_s) < kHeardSeconds) {
    // Of a page that changes several times between two readings, signals tell the less.
    const double told = trust.worth() / (1 + page.change.mean() * trust.every_days);
    page.silence = 1 - told;
    page.signals = told * page.change.mean();
  }
  page.news = threshold_.mean_importance() * entry.links.Posterior(LinkPrior(entry.hub)).mean();
  page.news *=
      page.silence * page.silence;  // effective days are longer where silence is evidence; new links do not care

  const double waited = now > entry.visited_s ? (now - entry.visited_s) / kDay : 0;
  double& effective = judged.effective = waited;
  const GroupCache::Entry* signal = signals_->Find(keys.url);
  const bool signalled = signal != nullptr && signal->number() > entry.visited_s;
  if (signalled && trust.weight > 1) {
    PageValue unsignalled = page;
    unsignalled.silence = 1;
    const double fresh = FreshAfter(unsignalled, waited);
    const double still = fresh / (fresh + (1 - fresh) * trust.weight);
    effective = std::max(waited, DaysUntilFresh(page, still));
    judged.signalled = trust.weight;
  } else if (page.silence < 1) {
    // Silence is evidence up to the time when the signals were read; from then on changes come at their full rate.
    const double unheard = (now - std::min(now, std::max(trust.heard_s, entry.visited_s))) / kDay;
    effective = waited - unheard + unheard / page.silence;
  }
  const double longest = options_.threshold.longest_days;
  const double days = DaysUntilValue(page, threshold_.value(), longest);
  // If no more signals are read, from now on as well. A page that is never worth the price is not worth it after a
  // signal either.
  const double left = days < longest ? (days - effective) * page.silence : longest;
  const double wait = std::clamp(waited + left, options_.threshold.shortest_days, longest);
  judged.due_s = static_cast<uint32_t>(std::min(entry.visited_s + wait * kDay, 4294967295.0));
  return judged;
}

RefreshSchedule::Judgement RefreshSchedule::JudgeAndSample(const PageEntry& entry, const Keys& keys) {
  Judgement judged = JudgeAt(entry, keys);
  threshold_.Put(keys.url, judged.value);
  ++since_solve_;
  return judged;
}

Status RefreshSchedule::File(const PageEntry& entry, uint32_t due_s) {
  EncodePageEntry(entry, bytes_);
  return calendar_->File(due_s, bytes_);
}

uint32_t RefreshSchedule::DueAgain(uint32_t due_s, std::string_view bytes) {
  // What cannot be read keeps its time; Take reports it.
  const std::optional<PageEntry> entry = DecodePageEntry(bytes);
  if (!entry || entry->strikes > 0) return due_s;
  const std::optional<Keys> keys = KeysOf(*entry);
  if (!keys) return due_s;
  // Brought forward, it is due from now on: it is not late.
  const uint32_t judged = JudgeAndSample(*entry, *keys).due_s;
  return judged < due_s ? std::min(due_s, std::max(judged, clock_.now())) : judged;
}

// What is said about a page that was visited once is believed in part: an age is an observation of one change, a
// promise not to change that of an interval.
void RefreshSchedule::Believe(const NewPage& page, const Keys& keys, ChangeEstimate& change) const {
  const double unit_s = static_cast<double>(UnitNs()) * 1e-9;
  const auto days = [&](int64_t seconds) {
    return std::clamp(static_cast<double>(seconds) / unit_s / kDay, options_.threshold.shortest_days,
                      options_.threshold.longest_days);
  };
  std::optional<double> age;
  if (page.age_s) age = days(*page.age_s);
  if (const GroupCache::Entry* signal = signals_->Find(keys.url); !age && signal != nullptr) {
    age = std::max((clock_.now() - std::min(signal->number(), clock_.now())) / kDay, options_.threshold.shortest_days);
  }
  if (age) {
    change.shape += static_cast<float>(kAgeWeight);
    change.rate += static_cast<float>(kAgeWeight * *age);
  }
  const auto promise = [&](double for_days) {
    if (!(for_days > options_.threshold.shortest_days)) return;
    change.shape += static_cast<float>(kFreshForWeight);
    change.rate += static_cast<float>(kFreshForWeight * for_days);
  };
  if (page.fresh_for_s) promise(days(*page.fresh_for_s));
  if (const GroupCache::Entry* every = signals_->Find(PromiseKey(keys.url))) promise(days(every->number()));
}

Status RefreshSchedule::Add(const NewPage& page) {
  PageEntry entry;
  entry.visited_s = clock_.now();
  entry.hub = page.hub;
  entry.importance = page.importance;
  entry.last = page.last;
  entry.record = page.record;
  const std::optional<Keys> keys = KeysOf(entry);
  if (!keys) return Fail(ErrorCode::kInvalidArgument, options_.name + ": not a URL record");
  if (page.failed) {
    entry.visited_s = 0;
    entry.strikes = 1;
    RETURN_IF_ERROR(File(entry, clock_.now() + static_cast<uint32_t>(WaitAfter(entry) * kDay)));
  } else {
    Believe(page, *keys, entry.change);
    RETURN_IF_ERROR(File(entry, JudgeAndSample(entry, *keys).due_s));
  }
  ++counts_.added;
  return {};
}

Result<std::vector<DueVisit>> RefreshSchedule::Take(size_t max, const Hold& hold, size_t max_looks) {
  std::vector<DueVisit> due;
  size_t looks = 0;
  const uint32_t now = clock_.now();
  while (due.size() < max && RoomOut() > 0) {
    if (looks++ == max_looks) return due;
    auto popped = calendar_->Pop();
    if (!popped) {
      // Pages that are taken already must reach the caller; the next call returns the error again.
      if (!due.empty()) return due;
      return std::unexpected(popped.error());
    }
    if (!*popped) break;
    const Calendar::Entry& found = **popped;
    const std::optional<PageEntry> entry = DecodePageEntry(found.bytes);
    const std::optional<Keys> keys = entry ? KeysOf(*entry) : std::nullopt;
    if (!keys) return Fail(ErrorCode::kCorrupt, options_.name + ": an entry of the calendar cannot be read");
    if (IsOut(keys->url)) continue;  // a full disk has left the entry twice
    double late = 0;
    if (entry->strikes == 0) {
      const Judgement judged = JudgeAndSample(*entry, *keys);
      if (judged.due_s / options_.calendar.tick_s > now / options_.calendar.tick_s) {
        RETURN_IF_ERROR(calendar_->File(judged.due_s, found.bytes));
        ++counts_.postponed;
        continue;
      }
      const double interval =
          std::max<double>(judged.due_s - entry->visited_s, kDay * options_.threshold.shortest_days);
      if (now > judged.due_s) late = (now - judged.due_s) / interval;
    }
    if (hold && hold(*DecodeUrlRecord(entry->record))) {
      RETURN_IF_ERROR(calendar_->File(now + options_.calendar.tick_s, found.bytes));
      ++counts_.held;
      continue;
    }
    if (late > 0) threshold_.Late(late, calendar_->size());
    ++counts_.taken;
    LastVisit last = entry->last;
    if (last.validators.usable() && !conditions_->MayAsk(keys->rates.host, keys->url, entry->visits)) {
      last.validators = {};
    }
    due.push_back(
        {.key = keys->url, .record = entry->record, .last = std::make_shared<const LastVisit>(std::move(last))});
    out_bytes_ += found.bytes.size();
    out_[keys->url] = found.bytes;
  }
  if (due.size() < max && RoomOut() > 0 && !calendar_->working()) {
    threshold_.Idle(static_cast<double>(max - due.size()), calendar_->size());
  }
  return due;
}

void RefreshSchedule::ForEachOut(const std::function<void(const UrlRecord& record)>& each) const {
  for (const auto& [key, bytes] : out_) {
    const std::optional<PageEntry> entry = DecodePageEntry(bytes);
    if (const auto record = DecodeUrlRecord(entry->record)) each(*record);
  }
}

void RefreshSchedule::Learn(PageEntry& entry, const Keys& keys, bool changed, double news) {
  const uint32_t now = clock_.now();
  if (entry.visited_s == 0) {  // the first visit that was answered
    entry.visited_s = now;
    entry.strikes = 0;
    return;
  }
  const double days = now > entry.visited_s ? (now - entry.visited_s) / kDay : 0;
  const Gamma prior = rates_->Prior(keys.rates);
  const GroupCache::Entry* signal = signals_->Find(keys.url);
  const bool signalled = signal != nullptr && signal->number() > entry.visited_s;
  entry.change.Observe(prior, days, changed);
  trust_->Observe(keys.rates.host, signalled, changed);
  entry.visits = static_cast<uint16_t>(std::min(entry.visits + 1, 65535));
  if (changed) entry.changes = static_cast<uint16_t>(std::min(entry.changes + 1, 65535));
  rates_->Learn(keys.rates, entry.change.Posterior(prior), entry.visits);

  LinkRate& rate = link_rates_[entry.hub ? 1 : 0];
  rate.links += news;
  rate.days += days;
  if (rate.days > kMostLinkDays) {
    rate.links /= 2;
    rate.days /= 2;
  }
  if (entry.hub || news > 0 || entry.links.shape > 0) {
    entry.links.shape += static_cast<float>(std::min(news, 1e6));
    entry.links.rate += static_cast<float>(days);
    if (entry.links.rate > 60 || entry.links.shape > 1e5F) {  // two months: then old visits fade
      entry.links.shape *= 0.75F;
      entry.links.rate *= 0.75F;
    }
  } else {
    entry.links.rate += static_cast<float>(days);
  }
  entry.visited_s = now;
  entry.strikes = 0;
  entry.gone = false;
}

Result<bool> RefreshSchedule::Report(uint64_t key, const VisitReport& report) {
  const auto found = out_.find(key);
  CHECK(found != out_.end(), "{}: a report about a page that is not out", options_.name);
  std::optional<PageEntry> entry = DecodePageEntry(found->second);
  const std::optional<Keys> keys = entry ? KeysOf(*entry) : std::nullopt;
  CHECK(keys.has_value(), "{}: an entry that was read is broken", options_.name);
  if (report.importance) entry->importance = *report.importance;
  const bool had_validators = entry->last.validators.usable();
  if (report.last) entry->last = *report.last;
  uint32_t due_s = 0;
  bool stays = true;
  uint64_t RefreshCounts::* counted = &RefreshCounts::failed;
  switch (report.end) {
    case VisitEnd::kChanged:
    case VisitEnd::kSame: {
      const bool changed = report.end == VisitEnd::kChanged;
      counted = changed ? &RefreshCounts::changed : &RefreshCounts::same;
      break;
    }
    case VisitEnd::kGone:
    case VisitEnd::kMoved:
      if (!entry->gone) entry->strikes = 0;
      entry->gone = true;
      ++entry->strikes;
      stays = entry->strikes < (report.end == VisitEnd::kGone ? kGoneStrikes : kMovedStrikes);
      break;
    case VisitEnd::kFailed:
      if (entry->gone) entry->strikes = 0;
      entry->gone = false;
      entry->strikes = static_cast<uint8_t>(std::min(entry->strikes + 1, 100));
      stays = entry->visited_s != 0 || entry->strikes < kNeverHadStrikes;
      break;
    case VisitEnd::kDropped:
      stays = false;
      break;
  }
  if (!stays) {
    threshold_.Remove(key);
    out_bytes_ -= found->second.size();
    out_.erase(found);
    ++counts_.ended;
    return false;
  }
  if (counted == &RefreshCounts::failed) {
    due_s = clock_.now() + static_cast<uint32_t>(WaitAfter(*entry) * kDay);
    RETURN_IF_ERROR(File(*entry, due_s));
  } else {
    if (had_validators) {
      conditions_->Observe(keys->rates.host, report.conditional, counted == &RefreshCounts::changed);
    }
    PageEntry learnt = *entry;
    const GroupCache::Entry* const brought = news_->Find(keys->url);
    const double links = brought == nullptr || brought->number() == 0 ? 0 : brought->number() - 1.0;
    Learn(learnt, *keys, counted == &RefreshCounts::changed, report.news + links);
    RETURN_IF_ERROR(File(learnt, JudgeAndSample(learnt, *keys).due_s));
  }
  if (counted != &RefreshCounts::failed) news_->Touch(keys->url).set_number(1);
  ++(counts_.*counted);
  out_bytes_ -= found->second.size();
  out_.erase(found);
  return true;
}

void RefreshSchedule::Brought(std::string_view url) {
  const uint64_t key = KeyOf(url);
  if (news_->Find(key) == nullptr) return;
  GroupCache::Entry& news = news_->Touch(key);
  if (news.number() > 0 && news.number() < UINT32_MAX) news.set_number(news.number() + 1);
}

double RefreshSchedule::Signal(std::string_view url, int64_t modified_unix_s) {
  const uint64_t host = Mix64(HostKey(url, options_.key) ^ kHostKeySeed);
  const uint64_t key = KeyOf(url);
  trust_->Heard(host, clock_.now());
  const Trust trust = trust_->Of(host);
  // Signals of a host that is known to lie are only sampled, to notice if it stops: they must not push out others'.
  if (trust.weight < 1.2 && key % 16 != 0) return 0;
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max() / 1'000'000'000;
  const uint32_t modified = clock_.Of(std::clamp<int64_t>(modified_unix_s, 0, kLast) * 1'000'000'000 / UnitNs());
  GroupCache::Entry& signal = signals_->Touch(key);
  const uint32_t before = signal.number();
  if (before >= modified) return 0;
  signal.set_number(modified);
  ++counts_.signals;
  ++signals_waiting_;
  // Of a URL of which no signal is known, it is news if it is from after the last reading, or what that should have
  // been.
  if (before == 0 && clock_.now() - modified > trust.every_days * kDay) return 0;
  trust_->Given(host);
  return kSignalWorth * trust.worth() * trust.used;
}

void RefreshSchedule::Promise(std::string_view url, uint32_t every_s) {
  if (every_s != 0) signals_->Touch(PromiseKey(KeyOf(url))).set_number(every_s);
}

void RefreshSchedule::SolveIfDue() {
  const uint64_t pages = calendar_->size();
  if (since_solve_ < 16) return;
  const bool moved = std::abs(capacity_ - solved_capacity_) > 0.05 * solved_capacity_ || pages > solved_pages_ * 5 / 4;
  if (!moved && (since_solve_ < pages / 8 || clock_.now() - solved_s_ < kSolveSeconds)) return;
  threshold_.Solve(capacity_, pages);
  solved_capacity_ = capacity_;
  solved_pages_ = pages;
  solved_s_ = clock_.now();
  since_solve_ = 0;
}

void RefreshSchedule::SweepIfDue() {
  if (signals_waiting_ == 0 || calendar_->working()) return;
  const uint32_t waited = clock_.now() - swept_s_;
  if (signals_waiting_ < calendar_->size() / 4 && waited < kSweepSeconds) return;
  calendar_->Sweep();
  signals_waiting_ = 0;
  swept_s_ = clock_.now();
  ++counts_.sweeps;
}

Result<bool> RefreshSchedule::Work(uint64_t max) {
  SolveIfDue();
  SweepIfDue();
  ASSIGN_OR_RETURN(const uint64_t done, calendar_->Work(max, [this](uint32_t due_s, std::string_view bytes) {
    return DueAgain(due_s, bytes);
  }));
  static_cast<void>(done);
  return calendar_->working();
}

std::optional<RefreshSchedule::Outlook> RefreshSchedule::OutlookOf(const PageEntry& entry, uint32_t due_s) const {
  const std::optional<Keys> keys = KeysOf(entry);
  if (!keys) return std::nullopt;
  const Judgement judged = JudgeAt(entry, *keys);
  Outlook outlook;
  outlook.day_ns = days_to_ns();
  outlook.prior = rates_->Prior(keys->rates);
  outlook.change = judged.value.change;
  outlook.price = threshold_.value();
  outlook.links = entry.links.Posterior(LinkPrior(entry.hub)).mean();
  outlook.signalled = judged.signalled;
  outlook.due_unix_ns = UnixNs(entry.strikes > 0 ? due_s : judged.due_s);
  if (entry.visited_s == 0) return outlook;
  outlook.visited_unix_ns = UnixNs(entry.visited_s);
  outlook.waited = std::max<double>(clock_.now() - std::min(clock_.now(), entry.visited_s), 0) / kDay;
  outlook.worth = CrawlValue(judged.value, judged.effective);
  if (entry.gone) {
    outlook.age = outlook.waited;
    return outlook;
  }
  outlook.fresh = FreshAfter(judged.value, judged.effective);
  PageValue plain = judged.value;
  plain.silence = 1;
  plain.signals = 0;
  if (outlook.waited > 0) outlook.age = outlook.waited * (1 - MeanFreshness(plain, outlook.waited));
  return outlook;
}

RefreshCounts RefreshSchedule::counts() const {
  RefreshCounts counts = counts_;
  counts.pages = calendar_->size();
  counts.out = out_.size();
  counts.ready = calendar_->ready();
  return counts;
}

}  // namespace portolan
