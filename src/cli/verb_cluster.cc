// portolan cluster: making a crawl on several machines, and directing it.

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/cluster_parts.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"

namespace portolan {
namespace {

struct ClusterPart {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};
constexpr std::array kClusterParts = {
    ClusterPart{"init", "make a cluster: its settings and seeds, and the streams between its shards", &RunClusterInit},
    ClusterPart{"status", "say how a cluster stands: nodes, shards, queues, streams", &RunClusterStatus},
    ClusterPart{"pause", "fetch nothing new on all nodes", &RunClusterPause},
    ClusterPart{"resume", "go on after a pause or a stop", &RunClusterResume},
    ClusterPart{"stop", "stop all nodes cleanly", &RunClusterStop},
    ClusterPart{"move", "move a shard to another node", &RunClusterMove},
    ClusterPart{"takeover", "give the shard of a dead node to the node that copied it", &RunClusterTakeover},
    ClusterPart{"upgrade", "allow this version of portolan to work for the cluster", &RunClusterUpgrade},
    ClusterPart{"remove", "remove a cluster from NATS, with what is on its way", &RunClusterRemove},
};

void PrintClusterPage() {
  std::string page =
      "A crawl on several machines: its shards are divided among nodes ('portolan node'), links travel between them\n"
      "through nats-server with JetStream.\n\n"
      "usage: portolan cluster PART [FLAGS] …\n       portolan cluster PART --help\n\n";
  for (const ClusterPart& part : kClusterParts) page += fmt::format("  {:<9} {}\n", part.name, part.summary);
  page +=
      "\nExamples:\n"
      "  portolan cluster init --nats nats://10.0.0.1:4222 --name web --shards 12 --nodes 3 --seeds seeds.txt\n"
      "  portolan node --nats nats://10.0.0.1:4222 --cluster web --dir /srv/node     (on each machine)\n"
      "  portolan cluster status --nats nats://10.0.0.1:4222 --cluster web\n"
      "\nOn one machine 'portolan crawl --nodes 3' does all of it. docs/cluster.md explains the rest.\n";
  std::fwrite(page.data(), 1, page.size(), stdout);
}

}  // namespace

int RunCluster(int argc, char** argv) {
  if (argc < 2) {
    PrintClusterPage();
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    PrintClusterPage();
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const ClusterPart& part : kClusterParts) {
    if (part.name == name) return part.run(argc - 1, argv + 1);
    names.push_back(part.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty()
                 ? fmt::format("unknown part '{}' of cluster: 'portolan cluster' lists them", Printable(name))
                 : fmt::format("unknown part '{}' of cluster: did you mean '{}'?", Printable(name), nearest));
  return kExitUsage;
}

}  // namespace portolan
