#include "cli/node_share.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/cluster_work.h"
#include "cli/engine_setup.h"
#include "crawl/wiring.h"

namespace portolan {
namespace {

constexpr uint64_t kLeastMemory = uint64_t{128} << 20;  // of an engine

}  // namespace

Result<NodeShare> ShareOfNode(const NodeSessionOptions& options, const ClusterSettings& settings) {
  ASSIGN_OR_RETURN(Config config, ConfigOfCluster(settings));
  for (const auto& [name, value] :
       {std::pair("memory.total", &options.memory), std::pair("fetch.connections", &options.connections),
        std::pair("fetch.loops", &options.loops)}) {
    if (*value) RETURN_IF_ERROR(SetConfig(config, name, **value));
  }
  RETURN_IF_ERROR(CheckRulesFile(settings, config));
  const uint32_t nodes = std::max(1U, settings.nodes);
  const uint32_t share = (settings.shards + nodes - 1) / nodes;
  const uint32_t capacity = std::min(options.capacity > 0 ? options.capacity : share, settings.shards);
  ASSIGN_OR_RETURN(const uint64_t memory, MemoryFor(config));
  if (memory / capacity < kLeastMemory) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("this node may hold {} shards, which need {}M of memory each: give it more --memory, or a "
                            "smaller --capacity",
                            capacity, kLeastMemory >> 20));
  }
  config.memory.total.bytes = memory / capacity;
  config.fetch.connections = std::max<uint64_t>(1, config.fetch.connections / capacity);
  config.fetch.loops = std::max<uint64_t>(1, LoopsOf(config) / capacity);
  return NodeShare{.capacity = capacity, .config = std::move(config)};
}

}  // namespace portolan
