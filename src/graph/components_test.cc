#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "graph/bow_tie.h"
#include "graph/strong_components.h"
#include "graph/testing/cnr2000.h"
#include "graph/testing/packed_graph.h"

namespace portolan::graph {
namespace {

using Reach = std::vector<std::vector<bool>>;

Reach Closure(const Adjacency& graph) {
  const size_t n = graph.nodes();
  Reach reach(n, std::vector<bool>(n));
  for (size_t node = 0; node < n; ++node) {
    reach[node][node] = true;
    for (const NodeId to : graph[node]) reach[node][to] = true;
  }
  for (size_t via = 0; via < n; ++via) {
    for (size_t from = 0; from < n; ++from) {
      if (!reach[from][via]) continue;
      for (size_t to = 0; to < n; ++to) {
        if (reach[via][to]) reach[from][to] = true;
      }
    }
  }
  return reach;
}

TEST(StrongComponentsTest, AreThoseOfTheReachabilityClosure) {
  for (const Adjacency& adjacency : ManyGraphs(40, 40)) {
    const PackedGraph packed(adjacency);
    const auto found = FindStrongComponents(packed.graph);
    ASSERT_TRUE(found) << found.error().ToString();
    const Reach reach = Closure(adjacency);
    const size_t n = adjacency.nodes();
    ASSERT_EQ(found->component.size(), n);
    std::vector<NodeId> sizes(found->sizes.size());
    for (size_t a = 0; a < n; ++a) {
      ASSERT_LT(found->component[a], sizes.size());
      ++sizes[found->component[a]];
      for (size_t b = 0; b < n; ++b) {
        ASSERT_EQ(found->component[a] == found->component[b], reach[a][b] && reach[b][a]) << a << " " << b;
        // Arcs lead to lower numbers.
        ASSERT_TRUE(!reach[a][b] || found->component[a] >= found->component[b]);
      }
    }
    EXPECT_EQ(sizes, found->sizes);
  }
}

TEST(StrongComponentsTest, AnEmptyGraphHasNone) {
  const PackedGraph packed(FromLists({}));
  const auto found = FindStrongComponents(packed.graph);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->sizes.empty());
}

TEST(StrongComponentsTest, ALongPathNeedsNoRecursion) {
  constexpr NodeId kNodes = 1 << 20;
  uint64_t reported = 0;
  const PackedGraph chain(Chain(kNodes));
  const auto single = FindStrongComponents(chain.graph, [&](uint64_t visited) { reported = visited; });
  ASSERT_TRUE(single);
  EXPECT_EQ(single->sizes.size(), kNodes);
  EXPECT_EQ(reported, kNodes);
  const PackedGraph cycle(Cycle(kNodes));
  const auto whole = FindStrongComponents(cycle.graph);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->sizes.size(), 1U);
  EXPECT_EQ(whole->sizes[0], kNodes);
}

TEST(BowTieTest, PartsAreThoseOfTheReachabilityClosure) {
  for (const Adjacency& adjacency : ManyGraphs(30, 40)) {
    const PackedGraph packed(adjacency);
    const PackedGraph transpose(adjacency.Transpose());
    const auto components = FindStrongComponents(packed.graph);
    ASSERT_TRUE(components);
    const auto tie = FindBowTie(packed.graph, transpose.graph, *components);
    ASSERT_TRUE(tie) << tie.error().ToString();
    const size_t n = adjacency.nodes();
    EXPECT_EQ(tie->core + tie->in + tie->out + tie->tendrils + tie->disconnected, n);
    if (n == 0) continue;
    const Reach reach = Closure(adjacency);
    std::vector<std::vector<NodeId>> both(n);
    for (NodeId from = 0; from < n; ++from) {
      for (const NodeId to : adjacency[from]) {
        both[from].push_back(to);
        both[to].push_back(from);
      }
    }
    const Reach weak = Closure(FromLists(both));
    size_t core = 0;
    while (components->component[core] != components->Largest()) ++core;
    for (size_t node = 0; node < n; ++node) {
      const bool to = reach[node][core];
      const bool from = reach[core][node];
      const BowTiePart expected = to && from         ? BowTiePart::kCore
                                  : to               ? BowTiePart::kIn
                                  : from             ? BowTiePart::kOut
                                  : weak[core][node] ? BowTiePart::kTendrils
                                                     : BowTiePart::kDisconnected;
      ASSERT_EQ(tie->parts[node], expected) << node;
    }
  }
}

TEST(BowTieTest, EachPartIsFound) {
  // 0-1-2 the core; 3 in, 4 out, 5 a tendril of 3, 6 a tube's middle, 7 leads into 4, 8 alone.
  const Adjacency adjacency = FromLists({{1}, {2}, {0, 4}, {0, 5, 6}, {}, {}, {4}, {4}, {8}});
  const PackedGraph packed(adjacency);
  const PackedGraph transpose(adjacency.Transpose());
  const auto tie = FindBowTie(packed.graph, transpose.graph, *FindStrongComponents(packed.graph));
  ASSERT_TRUE(tie);
  EXPECT_EQ(tie->core, 3U);
  EXPECT_EQ(tie->in, 1U);
  EXPECT_EQ(tie->out, 1U);
  EXPECT_EQ(tie->tendrils, 3U);
  EXPECT_EQ(tie->disconnected, 1U);
}

TEST(BowTieTest, GraphsOfDifferentSizesAreRefused) {
  const PackedGraph packed(Chain(3));
  const PackedGraph other(Chain(4));
  const auto tie = FindBowTie(packed.graph, other.graph, *FindStrongComponents(packed.graph));
  ASSERT_FALSE(tie);
  EXPECT_EQ(tie.error().code(), ErrorCode::kInvalidArgument);
}

// Kosaraju's algorithm on the plain adjacency: another algorithm, another order.
std::vector<NodeId> KosarajuSizes(const Adjacency& graph, const Adjacency& transpose) {
  std::vector<NodeId> order;
  std::vector<bool> seen(graph.nodes());
  std::vector<std::pair<NodeId, size_t>> path;
  for (NodeId root = 0; root < graph.nodes(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [node, at] = path.back();
      if (at == graph[node].size()) {
        order.push_back(node);
        path.pop_back();
        continue;
      }
      const NodeId to = graph[node][at++];
      if (seen[to]) continue;
      seen[to] = true;
      path.emplace_back(to, 0);
    }
  }
  std::vector<NodeId> sizes;
  for (size_t i = order.size(); i > 0; --i) {
    if (!seen[order[i - 1]]) continue;  // now: not yet taken
    sizes.push_back(0);
    std::vector<NodeId> todo = {order[i - 1]};
    seen[order[i - 1]] = false;
    while (!todo.empty()) {
      const NodeId node = todo.back();
      todo.pop_back();
      ++sizes.back();
      for (const NodeId to : transpose[node]) {
        if (!seen[to]) continue;
        seen[to] = false;
        todo.push_back(to);
      }
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

TEST(StrongComponentsTest, OfCnr2000AreKosarajus) {
  if (!Cnr2000::Available()) GTEST_SKIP() << "no " << Cnr2000::Base();
  const auto cnr = Cnr2000::Read();
  ASSERT_TRUE(cnr) << cnr.error().ToString();
  const auto properties = GraphProperties::Parse(cnr->properties);
  ASSERT_TRUE(properties);
  const auto graph = BvGraph::Open(*properties, cnr->graph, cnr->offsets);
  ASSERT_TRUE(graph);
  auto found = FindStrongComponents(*graph);
  ASSERT_TRUE(found) << found.error().ToString();
  const PackedGraph transpose(cnr->truth.Transpose());
  const auto tie = FindBowTie(*graph, transpose.graph, *found);
  ASSERT_TRUE(tie);
  const std::vector<NodeId> expected = KosarajuSizes(cnr->truth, transpose.truth);
  EXPECT_EQ(tie->core, expected.back());
  EXPECT_EQ(tie->core + tie->in + tie->out + tie->tendrils + tie->disconnected, graph->nodes());
  std::sort(found->sizes.begin(), found->sizes.end());
  EXPECT_TRUE(found->sizes == expected);
}

}  // namespace
}  // namespace portolan::graph
