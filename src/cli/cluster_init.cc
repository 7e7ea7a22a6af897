// portolan cluster init, upgrade, remove: the cluster as NATS keeps it.

#include <fmt/core.h>

#include <string>

#include "base/units.h"
#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/cluster_parts.h"
#include "cli/cluster_work.h"
#include "cli/crawl_flags.h"
#include "cli/nats_flags.h"
#include "cli/seeds.h"
#include "cli/verb_app.h"
#include "cluster/node_record.h"

namespace portolan {

int RunClusterInit(int argc, char** argv) {
  VerbApp app(
      "cluster init",
      "Makes a cluster: puts the settings and seeds of a crawl where all nodes find them, and makes the streams\n"
      "between its shards. Nothing is fetched before a node begins. The number of shards is fixed for the\n"
      "crawl's life: more than machines, so that they can be divided anew.");
  NewCluster cluster;
  NatsFlags nats;
  CrawlFlags crawl;
  SeedSource seeds;
  std::string stream_bytes = "1G";
  std::string lease = "10s";
  std::string takeover = "0s";
  AddNatsFlags(app, nats);
  app->add_option("--name", cluster.name, "The cluster's name")->required()->type_name("NAME");
  app->add_option("--shards", cluster.shards, "Into how many shards the crawl is divided (default 16)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  app->add_option("--nodes", cluster.nodes,
                  "How many nodes there will be: each holds its share (default: not known, and\n"
                  "a node holds all that it gets, or --capacity)")
      ->type_name("N")
      ->check(CLI::Range(1, 256));
  app->add_option("--replicas", cluster.replicas, "Copies that NATS keeps of settings and streams (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 5));
  app->add_option("--stream", stream_bytes, "The most that waits in NATS for one shard (default 1G)")
      ->type_name("SIZE")
      ->check(Checked(ParseBytes, "SIZE"));
  app->add_option("--lease", lease, "How long a node works on without news from NATS (default 10s)")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"));
  app->add_option(
         "--takeover", takeover,
         "After so long without a sign of a shard's node, a node that keeps a copy of the shard takes it over\n"
         "(node --copies); at least twice the lease; 0s (default): only 'cluster takeover' does that")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"));
  app->add_option("urls", seeds.urls, "Where to start")->type_name("URL");
  app->add_option("--seeds", seeds.file, "A file of seeds, one URL per line; # begins a comment; -: standard input")
      ->type_name("FILE");
  app->add_flag("--strict", seeds.strict, "Stop at a line of that file that is not a URL, instead of leaving it out");
  AddCrawlFlags(app, crawl);
  app.Footer(
      "Example:\n"
      "  portolan cluster init --nats nats://10.0.0.1:4222 --name web --shards 12 --nodes 3 --profile web \\\n"
      "      --contact https://you.example/bot --seeds seeds.txt");
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto config = ApplyCrawlFlags(crawl, app.config(), app.config_path());
  if (!config) return Complain(config.error());
  const std::vector<std::string>& more = config->crawl.seeds;
  seeds.urls.insert(seeds.urls.end(), more.begin(), more.end());
  auto given = ReadSeeds(seeds, *config);
  if (!given) return Complain(given.error());
  cluster.stream_bytes = *ParseBytes(stream_bytes);
  cluster.lease_ms = static_cast<int64_t>(*ParseSeconds(lease) * 1000);
  cluster.version = PORTOLAN_VERSION;
  if (cluster.lease_ms < kShortestLeaseMs || cluster.lease_ms > kLongestLeaseMs) {
    PrintError(fmt::format("--lease: {} to {}", FormatDuration(kShortestLeaseMs / 1e3),
                           FormatDuration(kLongestLeaseMs / 1e3)));
    return kExitUsage;
  }
  cluster.takeover_ms = static_cast<int64_t>(*ParseSeconds(takeover) * 1000);
  if (cluster.takeover_ms > kLongestTakeoverMs ||
      (cluster.takeover_ms > 0 && cluster.takeover_ms < 2 * cluster.lease_ms)) {
    PrintError(fmt::format("--takeover: 0s, or {} to {}",
                           FormatDuration(2 * static_cast<double>(cluster.lease_ms) / 1e3),
                           FormatDuration(kLongestTakeoverMs / 1e3)));
    return kExitUsage;
  }
  const auto connection = ConnectToNats(nats.Options("portolan cluster init"));
  if (!connection) return ComplainOfNats(connection.error());
  const auto count = MakeCluster(**connection, cluster, *config, *given);
  if (!count) return ComplainOfNats(count.error());
  fmt::print("cluster {}: {} shards, {} seeds. Start a node on each machine: portolan node --cluster {} --dir DIR\n",
             cluster.name, cluster.shards, *count, cluster.name);
  return kExitOk;
}

int RunClusterUpgrade(int argc, char** argv) {
  VerbApp app("cluster upgrade",
              "Says that this version of portolan works for the cluster from now on. Stop all nodes before: nodes of\n"
              "another version are refused from then on. Refused while a node holds a shard.");
  std::string name;
  NatsFlags nats;
  bool force = false;
  app->add_option("--cluster", name, "The cluster's name")->required()->type_name("NAME");
  app->add_flag("--force", force, "Even if a node seems to hold a shard, for example after a power cut");
  AddNatsFlags(app, nats);
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto open = OpenClusterOf(nats.Options("portolan cluster upgrade"), name, "");
  if (!open) return ComplainOfNats(open.error());
  if (!force) {
    if (const Status idle = CheckNobodyWorks(*open->store); !idle) return ComplainOfNats(idle.error());
  }
  if (const Status put = open->store->Put(kVersionKey, PORTOLAN_VERSION); !put) return ComplainOfNats(put.error());
  fmt::print("cluster {}: worked on by portolan {} from now on\n", name, PORTOLAN_VERSION);
  return kExitOk;
}

int RunClusterRemove(int argc, char** argv) {
  VerbApp app("cluster remove",
              "Removes a cluster from NATS: its settings and everything that is on its way between its shards. The\n"
              "directories of its nodes stay, and cannot be continued. Refused while a node holds a shard.");
  std::string name;
  NatsFlags nats;
  bool force = false;
  app->add_option("--cluster", name, "The cluster's name")->required()->type_name("NAME");
  app->add_flag("--force", force, "Even if a node seems to hold a shard, for example after a power cut");
  AddNatsFlags(app, nats);
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto connection = ConnectToNats(nats.Options("portolan cluster remove"));
  if (!connection) return ComplainOfNats(connection.error());
  if (const Status removed = RemoveCluster(**connection, name, force); !removed) return ComplainOfNats(removed.error());
  fmt::print("cluster {}: removed\n", name);
  return kExitOk;
}

}  // namespace portolan
