// ClusterView: a cluster as its bucket and its streams show it, for `cluster status` and for displays.
//
// Numbers of a shard are those that its holder wrote last. `lag` is how many messages wait in its stream; one that was
// taken stays there, so that the stream's numbers go on.
//
// Thread: one. Memory bound: a few hundred bytes per shard and node.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/nats_flags.h"

namespace portolan {

struct ClusterView {
  struct Shard {
    uint32_t shard = 0;
    std::string node;    // where its files are; empty: nobody has begun it
    std::string holder;  // the node that holds it now
    std::string state;   // "running" …, "not begun", "waits for NODE", "moves to NODE", "done"
    uint64_t epoch = 0;
    uint64_t pages = 0;
    double pages_per_s = 0;
    uint64_t waiting = 0;
    uint64_t unanswered = 0;
    uint64_t stream_bytes = 0;
    uint64_t lag = 0;
    std::string trouble;
    nlohmann::ordered_json status;  // everything that its holder wrote
  };
  struct Node {
    std::string name;
    bool alive = false;  // as far as the bucket knows: it did not say that it ended
    uint32_t capacity = 0;
    uint32_t holds = 0;
    std::string machine;
    std::string version;
  };
  std::string state;  // "running", "paused", "stopped", "done", "a limit is reached: …"
  std::vector<Shard> shards;
  std::vector<Node> nodes;
  uint32_t done = 0;  // shards
  uint64_t pages = 0;
  double pages_per_s = 0;
  uint64_t wire_bytes = 0;
  uint64_t urls_seen = 0;
  uint64_t waiting = 0;
  uint64_t at_gate = 0;
  uint64_t unanswered = 0;
  uint64_t in_flight = 0;
};

// kClosed: NATS does not answer. A stream that is gone is the trouble of its shard.
Result<ClusterView> ViewCluster(OpenCluster& cluster);
nlohmann::ordered_json ClusterViewToJson(const ClusterView& view, const std::string& name);

}  // namespace portolan
