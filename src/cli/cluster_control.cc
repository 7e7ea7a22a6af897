// portolan cluster pause, resume, stop, move: orders to the nodes, through keys of the bucket that they look at.

#include <fmt/core.h>

#include <string>

#include "cli/cli.h"
#include "cli/cluster_parts.h"
#include "cli/nats_flags.h"
#include "cli/verb_app.h"
#include "cluster/node_record.h"

namespace portolan {
namespace {

int GiveOrder(int argc, char** argv, const std::string& part, const std::string& what, ClusterOrder order,
              const std::string& said) {
  VerbApp app("cluster " + part, what);
  std::string name;
  NatsFlags nats;
  app->add_option("--cluster", name, "The cluster's name")->required()->type_name("NAME");
  AddNatsFlags(app, nats);
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto open = OpenClusterOf(nats.Options("portolan cluster " + part), name, "");
  if (!open) return ComplainOfNats(open.error());
  const Status put = open->store->Put(kControlKey, EncodeControl({.order = order, .limit = {}}));
  if (!put) return ComplainOfNats(put.error());
  fmt::print("cluster {}: {}\n", name, said);
  return kExitOk;
}

}  // namespace

int RunClusterPause(int argc, char** argv) {
  return GiveOrder(argc, argv, "pause",
                   "All nodes fetch nothing new, within a second or two, and keep their shards. 'resume' goes on.",
                   ClusterOrder::kPause, "paused; 'portolan cluster resume' goes on");
}

int RunClusterResume(int argc, char** argv) {
  return GiveOrder(argc, argv, "resume", "All nodes go on. After a stop, start the nodes again.", ClusterOrder::kRun,
                   "runs");
}

int RunClusterStop(int argc, char** argv) {
  return GiveOrder(
      argc, argv, "stop",
      "All nodes stop their shards cleanly, give them back and end. Nodes that are started later end, too,\n"
      "until 'resume'.",
      ClusterOrder::kStop, "the nodes stop; 'portolan cluster resume' lets them begin again");
}

int RunClusterMove(int argc, char** argv) {
  VerbApp app(
      "cluster move",
      "Moves a shard to another node. The node that has it stops it and gives it back; then copy its directory\n"
      "(shard-KK, as it is) into the other node's directory, and that node takes it. If its node is dead, copy\n"
      "the directory from its disk. To call it back, move the shard to the node that has it.");
  uint32_t shard = 0;
  std::string node;
  std::string name;
  NatsFlags nats;
  app->add_option("shard", shard, "The shard's number")->required()->type_name("SHARD");
  app->add_option("node", node, "The name of the node that is to have it")->required()->type_name("NODE");
  app->add_option("--cluster", name, "The cluster's name")->required()->type_name("NAME");
  AddNatsFlags(app, nats);
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto open = OpenClusterOf(nats.Options("portolan cluster move"), name, "");
  if (!open) return ComplainOfNats(open.error());
  const auto refuse = [&](const std::string& why) {
    PrintError(fmt::format("cluster {}: {}", name, why));
    return kExitUsage;
  };
  if (shard >= open->settings.shards) return refuse(fmt::format("its shards are 0 to {}", open->settings.shards - 1));
  const auto known = open->store->Read(NodeKey(node));
  if (!known) return refuse(fmt::format("there never was a node named {}", node));
  constexpr int kTries = 10;  // its holder may write at the same time
  for (int i = 0; i < kTries; ++i) {
    const auto entry = open->store->Read(PlaceKey(shard));
    if (!entry) return refuse(fmt::format("shard {} is not begun: any node may claim it", shard));
    auto place = DecodePlace(entry->value);
    if (!place) return refuse(fmt::format("where shard {} is cannot be read", shard));
    if (place->done) return refuse(fmt::format("shard {} is done", shard));
    place->to = place->node == node ? "" : node;
    const StoreWrite write = open->store->CompareAndSet(PlaceKey(shard), EncodePlace(*place), entry->revision);
    if (write.outcome == WriteOutcome::kUnknown) return ComplainOfNats(Error(ErrorCode::kClosed, write.reason));
    if (write.outcome != WriteOutcome::kTaken) continue;
    if (place->to.empty()) {
      fmt::print("cluster {}: shard {} stays on node {}\n", name, shard, node);
    } else {
      fmt::print(
          "cluster {}: shard {} moves from node {} to node {}. When 'portolan cluster status' shows it stopped, "
          "copy its directory\n",
          name, shard, place->node, node);
    }
    return kExitOk;
  }
  return ComplainOfNats(Error(ErrorCode::kBusy, fmt::format("shard {}: others write its place all the time", shard)));
}

}  // namespace portolan
