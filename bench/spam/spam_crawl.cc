#include "bench/spam/spam_crawl.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "io/clock.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::bench {
namespace {

using sim::Account;
using sim::Hit;
using sim::HostId;
using sim::Judge;
using sim::Place;
using sim::PlaceClass;
using sim::Violation;
using sim::VirtualCrawl;
using sim::VirtualTime;
using sim::World;

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
constexpr uint64_t kSamples = 50;

// tau_h and tau_s of the paper. The floors are so low that budgets decide how fast a giant is crawled.
constexpr int64_t kHostDelay = 40 * kSecond;
constexpr int64_t kIpDelay = kSecond;
constexpr int64_t kHostFloor = kSecond / 25;
constexpr int64_t kIpFloor = kSecond / 1000;

ShardOptions OptionsOf(const SpamCrawlOptions& wanted) {
  ShardOptions shard;
  shard.scope.mode = ScopeMode::kAny;
  shard.connections = wanted.connections;
  shard.sitemaps = false;
  shard.frontier.memory = wanted.memory / 4;
  shard.frontier.back_queues = 3 * wanted.connections;
  shard.frontier.politeness.host_delay_ns = kHostDelay;
  shard.frontier.politeness.ip_delay_ns = kIpDelay;
  shard.frontier.politeness.host_delay_floor_ns = kHostFloor;
  shard.frontier.politeness.ip_delay_floor_ns = kIpFloor;
  shard.frontier.politeness.delay_factor = 0;
  shard.seen.memory = wanted.memory / 4;
  shard.gate.memory = wanted.memory / 8;
  // A day of virtual time has as many early rounds as a real one, and each costs real time: let them seem dearer.
  shard.seen.pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.gate.pace.bytes_per_second = wanted.round_bytes_per_second;
  // So do passes through Q_R, where breadth first holds the URLs of a million hosts of farms.
  shard.gate.pace.ratio = 1000;
  shard.gate.pass_answers = 20'000;
  shard.admission.enabled = wanted.budgets;
  shard.admission.star.memory = wanted.memory / 8;
  shard.admission.star.budget_function = wanted.budget_function;
  shard.admission.star.vouch_base = wanted.vouch_base;
  shard.admission.star.domains_pace.bytes_per_second = wanted.round_bytes_per_second;
  shard.admission.star.edges_pace.bytes_per_second = wanted.round_bytes_per_second;
  return shard;
}

// What each request was for, by the world.
class Ledger {
 public:
  explicit Ledger(const World& world) : world_(world), fetched_(world.TotalPages()), domains_(world.Domains()) {
    for (uint32_t domain = 0; domain < world.Domains(); ++domain) {
      for (uint32_t host = 0; host < world.Hosts(domain); ++host) domains_[domain].pages += world.Pages({domain, host});
    }
  }

  // True when a sample was taken.
  bool OnHit(const Hit& hit, uint64_t every) {
    const Place place = world_.Find(hit.host, hit.path_and_query);
    const bool spam = place.host.domain >= world_.Domains() && place.host.domain < world_.AllDomains();
    now_.fetches += 1;
    busy_ns_ += std::max<int64_t>(0, hit.end_ns - hit.unix_ns);
    if (spam) {
      ++now_.spam;
    } else if (place.place_class == PlaceClass::kPage && hit.status == 200) {
      const uint64_t number = world_.DenseNumber(place.host, place.number);
      if (!fetched_[number]) {
        fetched_[number] = true;
        ++now_.useful;
        ++domains_[place.host.domain].fetched;
        world_.Links(place, hit.unix_ns, [&](const sim::OutLink& link) {
          const uint32_t to = link.target.host.domain;
          if (link.nofollow || to == place.host.domain || to >= world_.Domains()) return;
          if (edges_.insert(uint64_t{place.host.domain} << 32 | to).second) ++domains_[to].in_degree;
        });
      }
    }
    if (now_.fetches % every != 0) return false;
    samples_.push_back(now_);
    return true;
  }

  uint64_t fetches() const { return now_.fetches; }
  const SpamSample& now() const { return now_; }
  int64_t busy_ns() const { return busy_ns_; }

  SpamOutcome Take() {
    if (samples_.empty() || samples_.back().fetches != now_.fetches) samples_.push_back(now_);
    outcome_.samples = std::move(samples_);
    outcome_.domains = std::move(domains_);
    return std::move(outcome_);
  }

 private:
  const World& world_;
  std::vector<bool> fetched_;
  SpamOutcome outcome_;
  std::vector<DomainAccount> domains_;
  std::unordered_set<uint64_t> edges_;
  SpamSample now_;
  int64_t busy_ns_ = 0;  // of all connections together
  std::vector<SpamSample> samples_;
};

}  // namespace

Result<SpamOutcome> RunSpamCrawl(const World& world, const SpamCrawlOptions& options) {
  const int64_t start = Clock::Real().NowNs();
  VirtualTime time(kBegin);
  Judge::Options rules;
  rules.rules.host_gap_ns = options.budgets ? kHostFloor : kHostDelay;
  rules.rules.ip_gap_ns = options.budgets ? kIpFloor : kIpDelay;
  rules.rules.slack_ns = 0;
  rules.rules.connections = 1;
  rules.rules.crawl_delay = true;
  rules.rules.fetches_per_url = 1;
  Judge judge(world, rules);
  Ledger ledger(world);
  VirtualCrawl::Options crawl_options;
  crawl_options.state_dir = options.dir;
  crawl_options.shard = OptionsOf(options);
  crawl_options.on_hit = [&, every = std::max<uint64_t>(1, options.fetches / kSamples)](const Hit& hit) {
    if (ledger.OnHit(hit, every) && options.on_progress) options.on_progress(ledger.now());
  };
  std::filesystem::remove_all(options.dir);
  ASSIGN_OR_RETURN(const auto crawl, VirtualCrawl::Open(Env::Posix(), world, time, judge, crawl_options));
  RETURN_IF_ERROR(crawl->Seed());
  while (ledger.fetches() < options.fetches && crawl->shard().state() == Shard::State::kRunning) {
    RETURN_IF_ERROR(crawl->Run(100));
  }
  const Account account = judge.Finish(time.UnixNs());
  SpamOutcome outcome = ledger.Take();
  outcome.busy = static_cast<double>(ledger.busy_ns()) / static_cast<double>(time.NowNs()) / options.connections;
  const Shard& shard = crawl->shard();
  outcome.pending = shard.frontier().counts().waiting() + shard.gate().waiting();
  if (shard.admission() != nullptr) {
    const BeastCounts& beast = shard.admission()->beast().counts();
    outcome.where = fmt::format("{} links at URLseen, {} URLs at STAR, {} in queues, {} in Q_F; {} passes, {} starved",
                                shard.seen().waiting(), shard.admission()->star().waiting(), beast.queued, beast.failed,
                                beast.passes, beast.starved);
    outcome.ticks = shard.admission()->beast().tick();
    outcome.admitted = shard.admission()->beast().counts().popped;
  }
  outcome.violations = account.TotalViolations();
  outcome.virtual_hours = static_cast<double>(time.NowNs()) / 3600e9;
  outcome.seconds = static_cast<double>(Clock::Real().NowNs() - start) * 1e-9;
  std::filesystem::remove_all(options.dir);
  return outcome;
}

}  // namespace portolan::bench
