#include "sim/drive/trap_crawl.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "io/clock.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/world/reach.h"

namespace portolan::sim {
namespace {

constexpr int64_t kTrapCrawlBegin = 1'780'000'000'000'000'000;
constexpr int64_t kGapNs = kSecond;
constexpr int64_t kIpGapNs = kSecond / 10;

ShardOptions OptionsOf(const TrapCrawlOptions& wanted) {
  ShardOptions shard;
  shard.scope.mode = ScopeMode::kAny;
  shard.connections = wanted.connections;
  shard.sitemaps = false;
  shard.frontier.memory = wanted.memory / 4;
  shard.frontier.back_queues = 3 * wanted.connections;
  shard.frontier.politeness.host_delay_ns = kGapNs;
  shard.frontier.politeness.ip_delay_ns = kIpGapNs;
  shard.frontier.politeness.delay_factor = 0;
  shard.seen.memory = wanted.memory / 4;
  shard.gate.memory = wanted.memory / 8;
  shard.seen.pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.gate.pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.admission.enabled = wanted.budgets;
  shard.admission.star.memory = wanted.memory / 8;
  shard.admission.star.domains_pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.admission.star.edges_pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.traps.enabled = wanted.traps;
  shard.traps.table.memory = wanted.memory / 32;
  shard.traps.idle.memory = wanted.memory / 64;
  return shard;
}

// What each request was for.
class TrapLedger {
 public:
  TrapLedger(const World& world, Reach reach) : world_(world), reach_(std::move(reach)) {
    fetched_.resize(world.TotalPages());
    outcome_.reachable = reach_.count;
  }

  void OnHit(const Hit& hit) {
    const Place place = world_.Find(hit.host, hit.path_and_query);
    if (place.place_class == PlaceClass::kRobots && world_.IsSpam(place.host.domain)) {
      // One for each farm is no loss.
      ++outcome_.fetches;
      if (!farm_pages_.insert(Mix64(place.host.domain) ^ ~uint64_t{0}).second) ++outcome_.wildcard;
      return;
    }
    if (place.place_class == PlaceClass::kRobots) return;
    ++outcome_.fetches;
    if (place.place_class == PlaceClass::kMaze) {
      ++outcome_.mazes[static_cast<size_t>(MazeKindOf(place.number))];
    } else if (place.place_class == PlaceClass::kSpam) {
      // Of the farm's pages each is worth one fetch, under whatever name.
      if (!farm_pages_.insert(Mix64(place.host.domain) ^ place.number).second) ++outcome_.wildcard;
    } else if (place.place_class == PlaceClass::kPage) {
      const uint64_t dense = world_.DenseNumber(place.host, place.number);
      if (reach_.Has(dense) && !fetched_[dense]) {
        fetched_[dense] = true;
        ++outcome_.pages;
      }
    }
  }

  const TrapCrawlOutcome& now() const { return outcome_; }
  TrapCrawlOutcome Take() {
    for (uint64_t dense = 0; dense < fetched_.size(); ++dense) {
      if (!reach_.Has(dense) || fetched_[dense]) continue;
      if (outcome_.missed.size() < 20) outcome_.missed.push_back(world_.UrlOf(world_.FromDense(dense)));
    }
    return std::move(outcome_);
  }

 private:
  const World& world_;
  const Reach reach_;
  std::vector<bool> fetched_;
  std::unordered_set<uint64_t> farm_pages_;
  TrapCrawlOutcome outcome_;
};

}  // namespace

Result<TrapCrawlOutcome> RunTrapCrawl(Env& env, const World& world, const TrapCrawlOptions& options) {
  VirtualTime time(kTrapCrawlBegin);
  Judge::Options rules;
  rules.rules.host_gap_ns = kGapNs;
  rules.rules.ip_gap_ns = kIpGapNs;
  rules.rules.slack_ns = 0;
  rules.rules.connections = 1;
  rules.rules.crawl_delay = true;
  rules.rules.fetches_per_url = options.restart_after > 0 ? 0 : 1;  // what was in flight is fetched again
  Judge judge(world, rules);
  ReachOptions reach;
  reach.unix_ns = kTrapCrawlBegin;
  TrapLedger ledger(world, Enumerate(world, reach));
  uint64_t told = 0;
  VirtualCrawl::Options crawl_options;
  crawl_options.state_dir = options.dir;
  crawl_options.shard = OptionsOf(options);
  crawl_options.on_hit = [&](const Hit& hit) {
    ledger.OnHit(hit);
    if (!options.on_progress || ledger.now().fetches < told + 20'000) return;
    told = ledger.now().fetches;
    options.on_progress(told, ledger.now().traps());
  };
  ASSIGN_OR_RETURN(auto crawl, VirtualCrawl::Open(env, world, time, judge, crawl_options));
  RETURN_IF_ERROR(crawl->Seed());
  const uint64_t step = options.restart_after > 0 ? options.restart_after : 2000;
  while (!crawl->over() && ledger.now().fetches < options.max_fetches) {
    RETURN_IF_ERROR(crawl->Run(step));
    if (options.restart_after == 0 || crawl->over()) continue;
    RETURN_IF_ERROR(crawl->Checkpoint());
    crawl.reset();
    ASSIGN_OR_RETURN(crawl, VirtualCrawl::Open(env, world, time, judge, crawl_options));
  }
  const Shard& shard = crawl->shard();
  const bool done = crawl->over();
  const uint64_t parked = shard.TakeCensus().parked;
  const uint64_t shortened = shard.counts().shortened;
  std::vector<ParkedForm> forms;
  if (shard.traps() != nullptr) forms = shard.traps()->Forms(10);
  TrapCrawlOutcome outcome = ledger.Take();
  outcome.done = done;
  outcome.parked = parked;
  outcome.shortened = shortened;
  outcome.forms = std::move(forms);
  outcome.held_pages = outcome.reachable - outcome.pages;
  outcome.violations = judge.Finish(time.UnixNs()).TotalViolations();
  outcome.virtual_hours = static_cast<double>(time.NowNs()) / 3600e9;
  outcome.order_hash = crawl->OrderHash();
  return outcome;
}

WorldParams TrapWorld(uint64_t pages, uint64_t domains, double share) {
  WorldParams params = LoadProfile("web2007").value();
  params.pages = pages;
  params.domains = domains;
  params.max_hosts = 100;
  params.max_pages_per_host = std::max<uint64_t>(1000, pages / 50);
  params.links_mean = 30;
  params.addresses = std::max<uint64_t>(64, domains);
  params.shared_addresses = std::max<uint64_t>(2, domains / 100);
  params.redirect_loop = 0.002;
  params.soft404 = 0.002;
  params.change_days = 0;  // what is reachable stays so
  params.maze_repeat = params.maze_calendar = params.maze_session_path = params.maze_session_query = share;
  params.maze_growing = params.maze_facets = params.maze_soft404 = params.maze_redirect = share;
  // Wildcard hosts: one site each, its pages the same under every name.
  params.spam_domains = static_cast<uint64_t>(static_cast<double>(domains) * share + 0.5);
  params.spam_wildcard = 1;
  params.spam_alone = 1;
  params.spam_pages = 50;
  params.spam_links = 30;
  params.spam_entry = params.spam_domains > 0 ? 0.002 : 0;
  return params;
}

}  // namespace portolan::sim
