// ShardStatus: what a node tells others of one of its shards, every two seconds, as one JSON object in the bucket (key
// status.K): a picture of its engine and of its exchange. Nothing depends on it.
//
// Thread: any.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cluster/cluster_exchange.h"
#include "crawl/progress.h"

namespace portolan {

struct ShardStatus {
  uint32_t shard = 0;
  std::string node;
  uint64_t epoch = 0;
  int64_t unix_s = 0;  // by the node's clock: only for people
  CrawlProgress progress;
  std::optional<ClusterExchange::Counters> counters;
  std::string trouble;
};

std::string EncodeShardStatus(const ShardStatus& status);
// An empty object if it is none.
nlohmann::ordered_json DecodeShardStatus(const std::string& text);

}  // namespace portolan
