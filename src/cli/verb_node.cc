// portolan node: a machine's part of a crawl on several machines.

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/nats_flags.h"
#include "cli/node_session.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"

namespace portolan {

int RunNode(int argc, char** argv) {
  VerbApp app(
      "node",
      "Works for a cluster that 'portolan cluster init' has made: claims shards of its crawl, crawls each into\n"
      "a directory of its own, and ends when the whole crawl is done. Start one on each machine.");
  NodeSessionOptions options;
  NatsFlags nats;
  bool json = false;
  app->add_option("--cluster", options.cluster, "The cluster's name")->required()->type_name("NAME");
  AddNatsFlags(app, nats);
  app->add_option("--dir", options.dir, "Where this node keeps its shards (DIR/shard-00 …)")
      ->required()
      ->type_name("DIR");
  app->add_option("--name", options.name, "This node's name, which no other may have (default: the machine's)")
      ->type_name("NAME");
  app->add_option("--capacity", options.capacity,
                  "Shards that it holds at most; memory, connections and threads are divided by this\n"
                  "(default: the cluster's shards divided by its nodes)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  app->add_option("--copies", options.copies,
                  "Shards of other nodes of which it keeps a copy, so that it can take them over (default 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 256));
  app->add_option("--memory", options.memory, "memory.total of this machine, all shards together")
      ->type_name("SIZE")
      ->check(Checked(ParseBytes, "SIZE"));
  app->add_option("--connections", options.connections, "fetch.connections of this machine")->type_name("N");
  app->add_option("--loops", options.loops, "fetch.loops of this machine")->type_name("N");
  app->add_flag("--json", json, "The summary as one JSON object on standard output");
  app.Footer(
      "Example:\n"
      "  portolan node --cluster web --nats nats://10.0.0.1:4222 --dir /srv/node\n"
      "Ctrl-C (or SIGTERM, SIGHUP) stops its shards cleanly and gives them back; the same command goes on.\n"
      "Everything else is in the cluster's settings. docs/cluster.md says what happens when machines fail.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  options.nats = nats.Options(options.name.empty() ? "portolan node" : options.name);
  options.version = PORTOLAN_VERSION;
  options.quiet = app.quiet();
  const auto end = RunNodeSession(options);
  if (!end) return ComplainOfNats(end.error());
  const uint64_t pages = end->progress.counts.pages();
  if (json) {
    auto object = nlohmann::ordered_json::parse(ProgressToJson(end->progress));
    object["why"] = end->why;
    fmt::print("{}\n", object.dump(2));
  } else {
    fmt::print("{}: {} of this node's shards{}\n", end->done ? "done" : "stopped", Counted(pages, "page"),
               end->why.empty() ? "" : fmt::format(" ({})", end->why));
  }
  return kExitOk;
}

}  // namespace portolan
