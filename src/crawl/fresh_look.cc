#include "crawl/fresh_look.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>

#include "crawl/hash_key_store.h"
#include "crawl/partition.h"
#include "crawl/pay_level.h"
#include "crawl/refresh.h"
#include "crawl/shard.h"
#include "flow/url_record.h"
#include "frontier/frontier.h"

namespace portolan {
namespace {

constexpr double kDayNs = 86'400e9;

// The schedule of one shard as it was committed, at `unix_ns`. Opening it writes nothing.
Result<std::unique_ptr<RefreshSchedule>> OpenCommitted(Env& env, const Manifest& manifest, const ShardRefresh& whole,
                                                       const HashKey& key, uint32_t shards, uint32_t shard,
                                                       int64_t unix_ns) {
  RefreshOptions options = ShareOf(whole, shards).schedule;
  options.name = ShardName(shard, options.name);
  options.key = key;
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, RefreshSchedule::kKind));
  if (section == nullptr) {
    return Fail(ErrorCode::kNotFound,
                "this crawl does not come back: there is no schedule (it needs crawl.continuous, or --continuous)");
  }
  ASSIGN_OR_RETURN(auto schedule, RefreshSchedule::Open(env, manifest, options));
  schedule->Advance(unix_ns);
  return schedule;
}

void Add(const ScheduledPage& page, const RefreshSchedule::Outlook& outlook, int64_t unix_ns, double day_ns,
         FreshSums& sums) {
  const bool due = page.at != ScheduledAt::kCalendar || outlook.due_unix_ns <= unix_ns;
  if (due) ++sums.due;
  if (page.at == ScheduledAt::kOut) ++sums.under_way;
  if (!due && (sums.next_due_unix_ns == 0 || outlook.due_unix_ns < sums.next_due_unix_ns)) {
    sums.next_due_unix_ns = outlook.due_unix_ns;
  }
  if (outlook.visited_unix_ns == 0) {
    ++sums.never_had;
    return;
  }
  const double in_days = day_ns / kDayNs;
  ++sums.pages;
  if (page.entry.gone) ++sums.gone;
  sums.fresh += outlook.fresh;
  sums.age_days += outlook.age * in_days;
  sums.importance += page.entry.importance;
  sums.fresh_importance += page.entry.importance * outlook.fresh;
  sums.changes_per_day += outlook.change.mean() / in_days;
  sums.links_per_day += outlook.links / in_days;
}

void KeepLargest(FreshLook& look, size_t domains) {
  std::ranges::stable_sort(look.domains, [](const FreshDomain& a, const FreshDomain& b) {
    return a.sums.pages + a.sums.never_had > b.sums.pages + b.sums.never_had;
  });
  if (look.domains.size() <= domains) return;
  look.more_domains += look.domains.size() - domains;
  look.domains.resize(domains);
}

}  // namespace

FreshSums& FreshSums::operator+=(const FreshSums& other) {
  pages += other.pages;
  never_had += other.never_had;
  due += other.due;
  under_way += other.under_way;
  gone += other.gone;
  fresh += other.fresh;
  age_days += other.age_days;
  importance += other.importance;
  fresh_importance += other.fresh_importance;
  changes_per_day += other.changes_per_day;
  links_per_day += other.links_per_day;
  if (other.next_due_unix_ns != 0 && (next_due_unix_ns == 0 || other.next_due_unix_ns < next_due_unix_ns)) {
    next_due_unix_ns = other.next_due_unix_ns;
  }
  return *this;
}

Result<FreshLook> LookAtFreshness(Env& env, const Manifest& manifest, const ShardRefresh& whole, int64_t unix_ns,
                                  size_t domains) {
  FreshLook look;
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::Read(manifest));
  ASSIGN_OR_RETURN(PayLevelDomains names, PayLevelDomains::Create(key));
  ASSIGN_OR_RETURN(const uint32_t had, Shard::CountIn(manifest));
  const uint32_t shards = std::max(1U, had);
  if (const auto frontier = manifest.Find(FrontierOptions().name, Frontier::kKind); frontier && *frontier != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t committed_ns, (*frontier)->Number("unix_ns"));
    look.checkpoint_unix_ns = static_cast<int64_t>(committed_ns);
  }
  std::map<std::string, FreshSums, std::less<>> sums;
  FreshSums others;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    ASSIGN_OR_RETURN(const auto schedule, OpenCommitted(env, manifest, whole, key, shards, shard, unix_ns));
    const std::string name = ShardName(shard, whole.schedule.name);
    ASSIGN_OR_RETURN(const double per_day, Refresh::CommittedVisitsPerDay(manifest, name, ShareOf(whole, shards)));
    look.visits_per_day += per_day;
    look.price_hours += schedule->threshold().value() * schedule->days_to_ns() / 3600e9 / shards;
    const RefreshCounts counts = schedule->counts();
    look.changed += counts.changed;
    look.same += counts.same;
    look.failed += counts.failed;
    look.ended += counts.ended;
    RETURN_IF_ERROR(ForEachScheduled(env, manifest, name, [&](const ScheduledPage& page) {
      const auto record = DecodeUrlRecord(page.entry.record);
      const auto outlook = schedule->OutlookOf(page.entry, page.due_s);
      if (!record || !outlook) return true;
      const std::string_view domain = names.Name(HostOf(record->url));
      auto found = sums.find(domain);
      if (found == sums.end() && sums.size() < kMostDomains) found = sums.try_emplace(std::string(domain)).first;
      Add(page, *outlook, unix_ns, schedule->days_to_ns(), found == sums.end() ? others : found->second);
      return true;
    }));
  }
  for (auto& [name, one] : sums) {
    look.all += one;
    look.domains.push_back({name, one});
  }
  look.all += others;
  KeepLargest(look, domains);
  return look;
}

void AddLook(FreshLook& look, size_t shards, FreshLook other, size_t domains) {
  const auto count = static_cast<double>(shards);
  look.checkpoint_unix_ns =
      shards == 0 ? other.checkpoint_unix_ns : std::min(look.checkpoint_unix_ns, other.checkpoint_unix_ns);
  look.all += other.all;
  // A domain belongs to one shard.
  std::ranges::move(other.domains, std::back_inserter(look.domains));
  look.more_domains += other.more_domains;
  look.visits_per_day += other.visits_per_day;
  look.price_hours = (look.price_hours * count + other.price_hours) / (count + 1);
  look.changed += other.changed;
  look.same += other.same;
  look.failed += other.failed;
  look.ended += other.ended;
  KeepLargest(look, domains);
}

Result<std::optional<PageSchedule>> FindScheduled(Env& env, const Manifest& manifest, const ShardRefresh& whole,
                                                  uint32_t shards, uint32_t shard, std::string_view url,
                                                  int64_t unix_ns) {
  const std::string name = ShardName(shard, whole.schedule.name);
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name, RefreshSchedule::kKind));
  if (section == nullptr) return std::nullopt;
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::Read(manifest));
  ASSIGN_OR_RETURN(const auto schedule, OpenCommitted(env, manifest, whole, key, shards, shard, unix_ns));
  std::optional<PageSchedule> found;
  RETURN_IF_ERROR(ForEachScheduled(env, manifest, name, [&](const ScheduledPage& page) {
    const auto record = DecodeUrlRecord(page.entry.record);
    if (!record || record->url != url) return true;
    const auto outlook = schedule->OutlookOf(page.entry, page.due_s);
    if (!outlook) return true;
    found = PageSchedule{.at = page.at,
                         .outlook = *outlook,
                         .visits = page.entry.visits,
                         .changes = page.entry.changes,
                         .strikes = page.entry.strikes,
                         .gone = page.entry.gone,
                         .hub = page.entry.hub,
                         .importance = page.entry.importance,
                         .validators = page.entry.last.validators.usable()};
    return false;
  }));
  return found;
}

}  // namespace portolan
