// A web graph, one core: compressed after Boldi and Vigna, read as a whole and at random, beside lists of varints.
//
// The graph is cnr-2000 (325,557 pages, 3.2 million links) if the shared data is there, with its own parameters, and
// the file that WebGraph wrote is what is read. Otherwise it is a synthetic one: hosts whose pages share their
// navigation. Every answer is compared with the adjacency before it is timed. Sums of all successors are taken in each
// run.

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/graph/varint_lists.h"
#include "graph/testing/cnr2000.h"
#include "graph/testing/round_trip.h"
#include "io/clock.h"

namespace portolan::bench {
namespace {

using graph::Adjacency;
using graph::BvGraph;
using graph::GraphScan;
using graph::GraphWriter;
using graph::NodeId;

constexpr int kRounds = 7;

struct Workload {
  std::string name;
  Adjacency truth;
  GraphWriter::End reference;  // the graph that is read
};

// Hosts of pages in URL order: each page has its host's navigation, its neighbours, and a few links elsewhere.
Adjacency SyntheticCrawl() {
  constexpr NodeId kNodes = 300'000;
  std::mt19937_64 random(2004);
  Adjacency made;
  for (NodeId begin = 0; begin < kNodes;) {
    const auto pages = std::min<NodeId>(kNodes - begin, static_cast<NodeId>(5 + random() % 2000 / (1 + random() % 50)));
    std::vector<NodeId> menu;
    for (size_t i = 0; i < 3 + random() % 12; ++i) menu.push_back(begin + static_cast<NodeId>(random() % pages));
    for (NodeId page = begin; page < begin + pages; ++page) {
      std::vector<NodeId> list = menu;
      for (NodeId next = page + 1; next < std::min(begin + pages, page + 1 + page % 7); ++next) list.push_back(next);
      for (uint64_t i = random() % 4; i > 0; --i) list.push_back(static_cast<NodeId>(random() % kNodes));
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      made.Add(list);
    }
    begin += pages;
  }
  return made;
}

Result<Workload> MakeWorkload(Report& report) {
  Workload work;
  if (graph::Cnr2000::Available()) {
    ASSIGN_OR_RETURN(graph::Cnr2000 cnr, graph::Cnr2000::Read());
    work.name = "cnr-2000";
    work.truth = std::move(cnr.truth);
    work.reference.graph = std::move(cnr.graph);
    work.reference.offsets = std::move(cnr.offsets);
    ASSIGN_OR_RETURN(work.reference.properties, graph::GraphProperties::Parse(cnr.properties));
    return work;
  }
  report.Line("{}: not there, so a synthetic crawl is used", graph::Cnr2000::Base());
  work.name = "synthetic";
  work.truth = SyntheticCrawl();
  ASSIGN_OR_RETURN(work.reference, graph::Compress(work.truth, {}));
  return work;
}

// Nanoseconds per link of the best of some rounds.
template <typename Run>
double BestNs(uint64_t links, Run run) {
  int64_t best = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t start = Clock::Real().NowNs();
    run();
    best = std::min(best, Clock::Real().NowNs() - start);
  }
  return static_cast<double>(best) / static_cast<double>(links);
}

uint64_t Sum(std::span<const NodeId> list) { return std::accumulate(list.begin(), list.end(), uint64_t{0}); }

struct Figures {
  double bits = 0;  // per link
  double scan_ns = 0;
  double random_ns = 0;
  double compress_ns = 0;
};

Status CheckGraph(const GraphWriter::End& written, const Adjacency& truth) {
  ASSIGN_OR_RETURN(const Adjacency scanned, graph::ScanAll(written.properties, written.graph));
  if (scanned != truth) return Fail(ErrorCode::kCorrupt, "the scan is not the adjacency");
  ASSIGN_OR_RETURN(const BvGraph opened, BvGraph::Open(written.properties, written.graph, written.offsets));
  return graph::CompareAtRandom(opened, truth);
}

Result<Figures> MeasureGraph(const Workload& work, const std::vector<NodeId>& order, uint64_t sum) {
  const auto& parameters = work.reference.properties.parameters;
  ASSIGN_OR_RETURN(const GraphWriter::End ours, graph::Compress(work.truth, parameters));
  RETURN_IF_ERROR(CheckGraph(work.reference, work.truth));
  RETURN_IF_ERROR(CheckGraph(ours, work.truth));
  const uint64_t links = work.truth.arcs();
  Figures figures;
  figures.bits = static_cast<double>(ours.properties.statistics.bits) / static_cast<double>(links);
  bool right = true;
  figures.scan_ns = BestNs(links, [&] {
    uint64_t got = 0;
    GraphScan scan(ours.properties, ours.graph);
    while (scan.Next()) got += Sum(scan.successors());
    right &= got == sum;
  });
  ASSIGN_OR_RETURN(const BvGraph opened, BvGraph::Open(ours.properties, ours.graph, ours.offsets));
  BvGraph::Cursor cursor(opened);
  figures.random_ns = BestNs(links, [&] {
    uint64_t got = 0;
    for (const NodeId node : order) {
      const auto list = opened.Successors(node, cursor);
      if (list) got += Sum(*list);
    }
    right &= got == sum;
  });
  figures.compress_ns = BestNs(links, [&] {
    const auto again = graph::Compress(work.truth, parameters);
    right &= again && again->graph.size() == ours.graph.size();
  });
  if (!right) return Fail(ErrorCode::kCorrupt, "a timed run gave another answer");
  return figures;
}

Result<Figures> MeasureVarints(const Adjacency& truth, const std::vector<NodeId>& order, uint64_t sum) {
  const auto compress = [&truth] {
    VarintLists lists;
    for (uint64_t node = 0; node < truth.nodes(); ++node) lists.Add(truth[node]);
    return lists;
  };
  const VarintLists lists = compress();
  Figures figures;
  figures.bits = static_cast<double>(lists.bits()) / static_cast<double>(truth.arcs());
  std::vector<NodeId> list;
  uint64_t at = 0;
  for (uint64_t node = 0; node < truth.nodes(); ++node) {
    lists.Decode(node, at, list);
    const auto expected = truth[node];
    if (!std::equal(expected.begin(), expected.end(), list.begin(), list.begin() + static_cast<long>(lists.size()))) {
      return Fail(ErrorCode::kCorrupt, "the varints are not the adjacency");
    }
  }
  bool right = true;
  figures.scan_ns = BestNs(truth.arcs(), [&] {
    uint64_t got = 0;
    uint64_t from = 0;
    for (uint64_t node = 0; node < truth.nodes(); ++node) {
      lists.Decode(node, from, list);
      got += Sum({list.data(), lists.size()});
    }
    right &= got == sum;
  });
  figures.random_ns = BestNs(truth.arcs(), [&] {
    uint64_t got = 0;
    for (const NodeId node : order) {
      uint64_t from = lists.begin(node);
      lists.Decode(node, from, list);
      got += Sum({list.data(), lists.size()});
    }
    right &= got == sum;
  });
  figures.compress_ns = BestNs(truth.arcs(), [&] { right &= compress().bits() == lists.bits(); });
  if (!right) return Fail(ErrorCode::kCorrupt, "a timed run of the varints gave another answer");
  return figures;
}

Result<nlohmann::ordered_json> RunGraphBench(int, char**, Report& report) {
  ASSIGN_OR_RETURN(const Workload work, MakeWorkload(report));
  const uint64_t nodes = work.truth.nodes();
  const auto links = static_cast<double>(work.truth.arcs());
  std::vector<NodeId> order(nodes);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  uint64_t sum = 0;
  for (uint64_t node = 0; node < nodes; ++node) sum += Sum(work.truth[node]);

  ASSIGN_OR_RETURN(const Figures ours, MeasureGraph(work, order, sum));
  ASSIGN_OR_RETURN(const Figures varints, MeasureVarints(work.truth, order, sum));
  const Adjacency turned = work.truth.Transpose();
  ASSIGN_OR_RETURN(const GraphWriter::End transpose, graph::Compress(turned, work.reference.properties.parameters));
  RETURN_IF_ERROR(CheckGraph(transpose, turned));
  const double transpose_bits = static_cast<double>(transpose.properties.statistics.bits) / links;
  const double reference_bits = static_cast<double>(work.reference.graph.size() * 8) / links;
  ASSIGN_OR_RETURN(const BvGraph opened,
                   BvGraph::Open(work.reference.properties, work.reference.graph, work.reference.offsets));
  const double offset_bits = static_cast<double>(opened.offsets().bits()) / static_cast<double>(nodes);

  report.Line("{}: {} nodes, {} links; times per link", work.name, nodes, work.truth.arcs());
  report.Line("{:<16} {:>10} {:>10} {:>10} {:>10}", "", "bits", "scan", "random", "compress");
  const auto row = [&report](std::string_view name, const Figures& f) {
    report.Line("{:<16} {:>10.2f} {:>7.1f} ns {:>7.1f} ns {:>7.1f} ns", name, f.bits, f.scan_ns, f.random_ns,
                f.compress_ns);
  };
  row("portolan", ours);
  row("varints", varints);
  report.Line("the file that is there: {:.2f} bits per link; transpose: {:.2f}; offsets in memory: {:.1f} per node",
              reference_bits, transpose_bits, offset_bits);
  return nlohmann::ordered_json{{"graph", work.name},
                                {"nodes", nodes},
                                {"links", work.truth.arcs()},
                                {"bits_per_link", ours.bits},
                                {"reference_bits_per_link", reference_bits},
                                {"transpose_bits_per_link", transpose_bits},
                                {"offset_bits_per_node", offset_bits},
                                {"seq_ns_per_link", ours.scan_ns},
                                {"random_ns_per_link", ours.random_ns},
                                {"compress_ns_per_link", ours.compress_ns},
                                {"varint_bits_per_link", varints.bits},
                                {"varint_seq_ns_per_link", varints.scan_ns},
                                {"varint_random_ns_per_link", varints.random_ns},
                                {"varint_compress_ns_per_link", varints.compress_ns}};
}

}  // namespace

PORTOLAN_BENCHMARK("graph", "compressed web graph: bits and nanoseconds per link; beside varints", RunGraphBench);

}  // namespace portolan::bench
