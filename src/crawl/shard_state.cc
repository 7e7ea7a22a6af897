// The shard's own part of a checkpoint: its counts. The URLs are in the sections of its structures; those in flight are
// in the frontier's.

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"
#include "crawl/shard.h"

namespace portolan {
namespace {

constexpr const char* kName = "shard";
constexpr const char* kAloneShard = "alone.shard";    // its number in the crawl
constexpr const char* kAloneShards = "alone.shards";  // of the crawl
constexpr const char* kPhases = "phases";
constexpr const char* kPhasePeriod = "phase_period_ns";

// Every count with its name, listed once for writing and reading.
template <typename Counts, typename Each>
void ForEachCount(Counts& counts, Each each) {
  for (int i = 0; i < kCountAs; ++i) {
    each("done." + std::string(CountAsName(static_cast<CountAs>(i))), counts.done[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < kFetchOutcomes; ++i) {
    each("outcome." + std::string(FetchOutcomeName(static_cast<FetchOutcome>(i))),
         counts.outcomes[static_cast<size_t>(i)]);
  }
  for (size_t i = 0; i < counts.statuses.size(); ++i) each("status." + std::to_string(i), counts.statuses[i]);
  each("denied", counts.denied);
  each("unreachable", counts.unreachable);
  each("excluded", counts.excluded);
  each("fetches", counts.fetches);
  each("robots", counts.robots);
  each("retries", counts.retries);
  each("wire_bytes", counts.wire_bytes);
  each("body_bytes", counts.body_bytes);
  each("archived", counts.archived);
  each("links", counts.links);
  each("out_of_scope", counts.out_of_scope);
  each("too_deep", counts.too_deep);
  each("nofollow", counts.nofollow);
  each("sitemaps_off", counts.sitemaps_off);
  each("embeds_off", counts.embeds_off);
  each("url_too_long", counts.url_too_long);
  each("too_many_links", counts.too_many_links);
  each("offered", counts.offered);
  each("too_many_hops", counts.too_many_hops);
  each("seeds", counts.seeds);
  each("mirrored", counts.mirrored);
  each("copied_links", counts.copied_links);
  each("duplicates", counts.duplicates);
  each("late_duplicates", counts.late_duplicates);
  each("near_duplicates", counts.near_duplicates);
  each("outages", counts.outages);
  each("shortages", counts.shortages);
  each("by_rule", counts.by_rule);
  each("blocked", counts.blocked);
  each("over_limit", counts.over_limit);
  each("dropped", counts.dropped);
  each("renamed", counts.renamed);
  each("held", counts.held);
  each("shortened", counts.shortened);
  each("revisits", counts.revisits);
  each("conditional", counts.conditional);
  each("not_modified", counts.not_modified);
  each("unchanged", counts.unchanged);
  each("gone", counts.gone);
}

}  // namespace

ManifestSection Shard::Describe() const {
  ManifestSection section;
  section.name = ShardName(options_.seat(), kName);
  section.kind = kName;
  ForEachCount(counts_, [&](const std::string& name, uint64_t count) {
    if (count > 0) section.numbers[name] = count;  // absent means 0: there are many statuses, mostly unused
  });
  section.numbers["shards"] = options_.alone ? 1 : options_.shards;
  if (options_.alone) {
    section.numbers[kAloneShard] = options_.shard;
    section.numbers[kAloneShards] = options_.shards;
  }
  if (phases_) {  // absent: divided by domains
    section.numbers[kPhases] = phases_->options().phases;
    section.numbers[kPhasePeriod] = static_cast<uint64_t>(phases_->options().period_ns);
  }
  section.numbers["robots_open"] = robots_open_;
  section.numbers["running_ns"] = static_cast<uint64_t>(flushed_running_ns_);
  section.numbers["calendar_ns"] = static_cast<uint64_t>(flushed_calendar_ns_);
  return section;
}

Result<uint32_t> Shard::CountIn(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kName, kName));
  if (section == nullptr) return 0;
  const auto found = section->numbers.find("shards");
  const uint64_t shards = found == section->numbers.end() ? 1 : found->second;  // older crawls: one
  if (shards == 0 || shards > kMaxShards) {
    return Fail(ErrorCode::kCorrupt, fmt::format("section {}: {} shards", section->name, shards));
  }
  return static_cast<uint32_t>(shards);
}

Result<std::optional<Shard::Place>> Shard::AloneIn(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kName, kName));
  if (section == nullptr || !section->numbers.contains(kAloneShards)) return std::optional<Place>();
  ASSIGN_OR_RETURN(const uint64_t shard, section->Number(kAloneShard));
  ASSIGN_OR_RETURN(const uint64_t shards, section->Number(kAloneShards));
  if (shards > kMaxShards || shard >= shards) {
    return Fail(ErrorCode::kCorrupt, fmt::format("section {}: shard {} of {}", section->name, shard, shards));
  }
  return Place{static_cast<uint32_t>(shard), static_cast<uint32_t>(shards)};
}

Result<bool> Shard::HasPhases(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kName, kName));
  return section != nullptr && section->numbers.contains(kPhases);
}

Status Shard::Restore(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(ShardName(options_.seat(), kName), kName));
  if (section == nullptr) return {};
  is_new_ = false;
  const auto number = [&](const std::string& name) {
    const auto found = section->numbers.find(name);
    return found == section->numbers.end() ? 0 : found->second;
  };
  if (const uint64_t had = number(kPhases); had != (phases_ ? phases_->options().phases : 0)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the crawl was begun with {} phases (0: divided by domains), which cannot be changed: "
                            "crawl.partition and crawl.phases must be as they were",
                            had));
  }
  const uint64_t period = number(kPhasePeriod);
  if (phases_ && period != static_cast<uint64_t>(phases_->options().period_ns)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the crawl was begun with phases of {}, which cannot be changed: crawl.phase_period must "
                            "be as it was",
                            FormatDuration(static_cast<double>(period) * 1e-9)));
  }
  ForEachCount(counts_, [&](const std::string& name, uint64_t& count) {
    const auto found = section->numbers.find(name);
    count = found == section->numbers.end() ? 0 : found->second;
  });
  limits_->Add(counts_.pages(), counts_.wire_bytes);
  ASSIGN_OR_RETURN(robots_open_, section->Number("robots_open"));
  ASSIGN_OR_RETURN(const uint64_t ran, section->Number("running_ns"));
  ran_before_ns_ = static_cast<int64_t>(ran);
  // Older crawls have no such number.
  if (const auto found = section->numbers.find("calendar_ns"); found != section->numbers.end()) {
    calendar_ns_ = std::max(calendar_ns_, static_cast<int64_t>(found->second));
  }
  return {};
}

}  // namespace portolan
