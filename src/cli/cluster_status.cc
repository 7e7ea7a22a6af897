// portolan cluster status: how a cluster stands, from its bucket and its streams.

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/cluster_parts.h"
#include "cli/cluster_view.h"
#include "cli/nats_flags.h"
#include "cli/phase_words.h"
#include "cli/verb_app.h"

namespace portolan {
namespace {

void PrintTable(const ClusterView& view, const std::string& name) {
  fmt::print("cluster {}: {}\n", name, view.state);
  fmt::print("  pages      {} ({:.1f}/s), {} received\n", view.pages, view.pages_per_s, FormatBytes(view.wire_bytes));
  fmt::print("  known      {} URLs: {} waiting, {} at robots.txt, {} unchecked, {} in flight\n", view.urls_seen,
             view.waiting, view.at_gate, view.unanswered, view.in_flight);
  for (const ClusterView::Node& node : view.nodes) {
    fmt::print("  node       {}: {}, {} of {} shards, {}\n", node.name, node.alive ? "works" : "ended", node.holds,
               node.capacity, node.machine);
  }
  fmt::print("  {:>5} {:<12} {:<22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "shard", "node", "state", "epoch",
             "pages", "waiting", "unchecked", "in stream", "lag");
  for (const ClusterView::Shard& shard : view.shards) {
    fmt::print("  {:>5} {:<12} {:<22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>8}\n", shard.shard,
               shard.node.empty() ? "-" : shard.node, shard.state, shard.epoch, shard.pages, shard.waiting,
               shard.unanswered, FormatBytes(shard.stream_bytes), shard.lag);
    if (const auto phases = shard.status.find("phases"); phases != shard.status.end() && phases->is_object()) {
      fmt::print("        {}\n", PhaseWords(*phases, !shard.holder.empty()));
    }
    if (!shard.trouble.empty()) fmt::print("        {}\n", shard.trouble);
  }
}

}  // namespace

int RunClusterStatus(int argc, char** argv) {
  VerbApp app("cluster status", "Says how a cluster stands: its nodes, its shards, and what waits between them.");
  std::string name;
  NatsFlags nats;
  bool json = false;
  app->add_option("--cluster", name, "The cluster's name")->required()->type_name("NAME");
  AddNatsFlags(app, nats);
  app->add_flag("--json", json, "As one JSON object");
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto open = OpenClusterOf(nats.Options("portolan cluster status"), name, "");
  if (!open) return ComplainOfNats(open.error());
  const auto view = ViewCluster(*open);
  if (!view) return ComplainOfNats(view.error());
  if (json) {
    fmt::print("{}\n", ClusterViewToJson(*view, name).dump(2));
  } else {
    PrintTable(*view, name);
  }
  return kExitOk;
}

}  // namespace portolan
