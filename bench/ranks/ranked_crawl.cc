#include "bench/ranks/ranked_crawl.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/ranks/rank_agreement.h"
#include "disk/manifest.h"
#include "follow/graph_build.h"
#include "follow/graph_files.h"
#include "follow/node_key.h"
#include "graph/hyper_ball.h"
#include "graph/page_rank.h"
#include "io/env.h"
#include "reputation/domain_list.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::bench {
namespace {

constexpr int64_t kRankBegin = 1'780'000'000'000'000'000;
constexpr size_t kFirst = 100;

Status CrawlWithLinks(const sim::World& world, const RankedCrawlOptions& options) {
  sim::VirtualTime time(kRankBegin);
  sim::Judge::Options rules;
  rules.rules.fetches_per_url = 1;
  sim::Judge judge(world, rules);
  sim::VirtualCrawl::Options crawl_options;
  crawl_options.state_dir = JoinPath(options.dir, "state");
  crawl_options.links_dir = JoinPath(options.dir, "links");
  crawl_options.log_dir = JoinPath(options.dir, "log");
  ShardOptions& shard = crawl_options.shard;
  shard.scope.mode = ScopeMode::kAny;
  shard.connections = options.connections;
  shard.sitemaps = false;
  shard.max_pages = options.pages;
  shard.frontier.memory = size_t{32} << 20;
  shard.frontier.back_queues = 3 * options.connections;
  shard.frontier.politeness.host_delay_ns = kSecond / 10;
  shard.frontier.politeness.ip_delay_ns = kSecond / 1000;
  shard.frontier.politeness.delay_factor = 0;
  shard.seen.memory = size_t{32} << 20;
  shard.gate.memory = size_t{16} << 20;
  // Rounds cost real time and no virtual time: so that there are not too many of them.
  shard.seen.pace.bytes_per_second = 500'000;
  shard.gate.pace.bytes_per_second = 500'000;
  shard.admission.enabled = true;
  shard.admission.star.memory = size_t{16} << 20;
  shard.admission.star.budget_function = options.budget_function;
  ASSIGN_OR_RETURN(const auto crawl, sim::VirtualCrawl::Open(Env::Posix(), world, time, judge, crawl_options));
  RETURN_IF_ERROR(crawl->Seed());
  RETURN_IF_ERROR(crawl->Run());
  return crawl->Finish();
}

// By name. STAR's are those of the last checkpoint.
Result<std::map<std::string, double>> StarInDegrees(const std::string& state_dir) {
  std::map<std::string, double> found;
  ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(Env::Posix(), state_dir));
  DomainListOptions options;
  options.count = DomainListOptions::kMaxRowDomains;
  options.rows = true;
  RETURN_IF_ERROR(ForEachDomain(Env::Posix(), manifest, options,
                                [&](const DomainLine& line) { found[line.name] = line.record.in_degree; }));
  return found;
}

struct DomainNode {
  uint32_t number = 0;  // of the world's; popularity falls with it
  bool farm = false;
};

// Which of the world's domains each node is; nothing for names that it does not have.
Result<std::vector<std::optional<DomainNode>>> DomainsOfNodes(const sim::World& world,
                                                              const graph::UrlDictionary& names) {
  std::map<std::string, DomainNode, std::less<>> known;
  for (uint32_t domain = 0; domain < world.AllDomains(); ++domain) {
    // Hosts of a wildcard farm have no numbers; their domain's name is that of host 0, too.
    const std::string host = world.HostName({domain, 0});
    const std::string_view name = host;
    const size_t last = name.rfind('.');
    const size_t dot = last == std::string_view::npos || last == 0 ? last : name.rfind('.', last - 1);
    known.emplace(name.substr(dot == std::string_view::npos ? 0 : dot + 1), DomainNode{domain, world.IsSpam(domain)});
  }
  std::vector<std::optional<DomainNode>> nodes(names.size());
  graph::UrlDictionary::Scan scan(names);
  while (scan.Next()) {
    if (const auto found = known.find(HostNameOfKey(scan.key())); found != known.end()) {
      nodes[scan.number()] = found->second;
    }
  }
  RETURN_IF_ERROR(scan.status());
  return nodes;
}

uint64_t FarmsInFirst(const std::vector<double>& scores, const std::vector<std::optional<DomainNode>>& nodes) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(std::min(order.size(), kFirst));
  return static_cast<uint64_t>(
      std::ranges::count_if(order, [&](size_t node) { return nodes[node] && nodes[node]->farm; }));
}

}  // namespace

Result<RankedCrawlOutcome> RunRankedCrawl(const sim::World& world, const RankedCrawlOptions& options) {
  for (const char* const dir : {"state", "links", "log"}) {
    RETURN_IF_ERROR(Env::Posix().CreateDirs(JoinPath(options.dir, dir)));
  }
  RETURN_IF_ERROR(CrawlWithLinks(world, options));
  const std::string state_dir = JoinPath(options.dir, "state");
  const std::string graph_dir = JoinPath(options.dir, "graph");
  ASSIGN_OR_RETURN(const GraphBuildResult built,
                   BuildGraph(Env::Posix(), LinkLogSource(state_dir, JoinPath(options.dir, "links")), graph_dir));
  ASSIGN_OR_RETURN(const auto files, GraphFiles::Open(Env::Posix(), graph_dir));
  RankedCrawlOutcome outcome;
  outcome.fetched = built.new_records;
  ASSIGN_OR_RETURN(const graph::GraphProperties pages, files->Properties(GraphLevel::kPages, GraphDirection::kForward));
  outcome.pages = pages.nodes;
  outcome.links = pages.arcs;
  ASSIGN_OR_RETURN(const graph::BvGraph forward, files->Graph(GraphLevel::kDomains, GraphDirection::kForward));
  ASSIGN_OR_RETURN(const graph::BvGraph turned, files->Graph(GraphLevel::kDomains, GraphDirection::kTransposed));
  ASSIGN_OR_RETURN(const graph::UrlDictionary names, files->Names(GraphLevel::kDomains));
  outcome.domains = forward.nodes();
  outcome.domain_links = forward.arcs();

  std::array<std::vector<double>, kRankings.size()> scores;
  ASSIGN_OR_RETURN(graph::PageRankResult ranks, graph::PageRank(forward, {.tolerance = 1e-10}));
  scores[0] = std::move(ranks.ranks);
  ASSIGN_OR_RETURN(const graph::HyperBallResult balls, graph::HyperBall(turned, {.log2m = options.log2m}));
  scores[1].assign(balls.harmonic.begin(), balls.harmonic.end());
  graph::GraphScan scan = turned.Scan();
  while (scan.Next()) scores[2].push_back(static_cast<double>(scan.successors().size()));
  RETURN_IF_ERROR(scan.status());
  ASSIGN_OR_RETURN(const auto star, StarInDegrees(state_dir));
  graph::UrlDictionary::Scan keys(names);
  while (keys.Next()) {
    const auto found = star.find(HostNameOfKey(keys.key()));
    scores[3].push_back(found == star.end() ? 0 : found->second);
  }
  RETURN_IF_ERROR(keys.status());

  ASSIGN_OR_RETURN(const auto nodes, DomainsOfNodes(world, names));
  std::vector<size_t> ordinary;
  std::vector<double> popularity;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (!nodes[node] || nodes[node]->farm) continue;
    ordinary.push_back(node);
    popularity.push_back(-static_cast<double>(nodes[node]->number));
  }
  outcome.compared = ordinary.size();
  std::array<std::vector<double>, kRankings.size()> compared;
  for (size_t i = 0; i < kRankings.size(); ++i) {
    for (const size_t node : ordinary) compared[i].push_back(scores[i][node]);
    outcome.of.push_back({.ranking = kRankings[i],
                          .spearman = SpearmanRho(popularity, compared[i]),
                          .kendall = KendallTau(popularity, compared[i]),
                          .farms_in_first = FarmsInFirst(scores[i], nodes)});
  }
  outcome.star_agrees = SpearmanRho(compared[2], compared[3]);
  return outcome;
}

}  // namespace portolan::bench
