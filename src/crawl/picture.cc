#include "crawl/picture.h"

#include <algorithm>

namespace portolan {
namespace {

constexpr size_t kShownHosts = 5;  // of CrawlProgress
constexpr size_t kShownUrls = 5;   // likewise
constexpr size_t kShownForms = 5;  // likewise

template <typename T>
void Append(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

template <typename T, typename Less>
void Cut(std::vector<T>& list, size_t most, Less less) {
  std::ranges::stable_sort(list, less);
  if (list.size() > most) list.resize(most);
}

}  // namespace

void AddShard(const Shard& shard, Moment now, CrawlProgress& picture) {
  const Shard::Census census = shard.TakeCensus();
  picture.seconds = std::max(picture.seconds, static_cast<double>(shard.running_ns(now)) * 1e-9);
  picture.counts += shard.counts();
  picture.unanswered += census.unanswered;
  picture.urls_seen += shard.seen().keys();
  picture.at_gate += census.gate;
  picture.waiting += census.frontier;
  picture.in_flight += census.in_flight;
  picture.parked += census.parked;
  if (shard.traps() != nullptr) Append(picture.parked_forms, shard.traps()->Forms(kShownForms));
  if (const Refresh* const refresh = shard.refresh(); refresh != nullptr) {
    const RefreshCounts counts = refresh->counts();
    picture.scheduled += counts.pages;
    picture.visiting += counts.out;
    picture.due += counts.ready;
    picture.visits_per_day += refresh->visits_per_day();
    picture.refresh += counts;
    picture.continuous = shard.ComesBack();
  }
  if (const auto phase = shard.Phase(now)) {
    picture.phases.number = phase->phases;
    picture.phases.clock_good = phase->good;
    if (phase->good) picture.phases.groups.push_back(phase->group ? int64_t{*phase->group} : -1);
    picture.phases.next_s = static_cast<double>(phase->next_ns) * 1e-9;
    picture.phases.error_ms = static_cast<double>(phase->error_ns) * 1e-6;
  }
  picture.hosts += shard.frontier().counts().hosts;
  picture.rules_reads += shard.gate().rules_reads();
  picture.rules_reads_at_fetch += shard.gate().rules_reads_at_fetch();
  picture.limits_forgotten += shard.limits_forgotten();
  picture.hosts_crawled += shard.hosts().hosts();
  picture.hosts_counted = picture.hosts_counted && shard.hosts().complete();
  Append(picture.top_hosts, shard.hosts().Top(kShownHosts));
  Frontier::Slowest slowest = shard.SlowestHost();
  const double gap_s = static_cast<double>(slowest.gap_ns) * 1e-9;
  if (gap_s * static_cast<double>(slowest.urls) >
      picture.slowest_gap_s * static_cast<double>(picture.slowest_waiting)) {
    picture.slowest_host = std::move(slowest.host);
    picture.slowest_waiting = slowest.urls;
    picture.slowest_gap_s = gap_s;
  }
  Append(picture.flying, shard.Flying(kShownUrls, now));
  Append(picture.awaited, shard.Awaited(kShownUrls, now));
  picture.unreachable_hosts.insert(picture.unreachable_hosts.end(), shard.given_up().begin(), shard.given_up().end());
}

void AddTurns(const TurnTimes& turns, CrawlProgress& picture) {
  picture.turns = turns.count();
  picture.turn_p50_us = static_cast<double>(turns.Quantile(0.5)) * 1e-3;
  picture.turn_p99_us = static_cast<double>(turns.Quantile(0.99)) * 1e-3;
  picture.turn_max_ms = static_cast<double>(turns.longest()) * 1e-6;
  if (turns.count() > 0) picture.longest_turn_in = kTurnPartNames[static_cast<size_t>(turns.longest_part())];
  picture.turn_histogram = turns.Histogram();
}

void FinishPicture(CrawlProgress& picture) {
  Cut(picture.top_hosts, kShownHosts, [](const HostShare& a, const HostShare& b) {
    return a.answers != b.answers ? a.answers > b.answers : a.host < b.host;
  });
  Cut(picture.parked_forms, kShownForms, [](const ParkedForm& a, const ParkedForm& b) { return a.urls > b.urls; });
  Cut(picture.flying, kShownUrls, [](const FlyingUrl& a, const FlyingUrl& b) { return a.seconds > b.seconds; });
  Cut(picture.awaited, kShownUrls, [](const AwaitedUrl& a, const AwaitedUrl& b) { return a.seconds < b.seconds; });
  if (picture.unreachable_hosts.size() > Shard::kNotes) picture.unreachable_hosts.resize(Shard::kNotes);
}

}  // namespace portolan
