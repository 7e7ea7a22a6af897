// ShardRefresh: how a shard's pages are visited again (docs/freshness.md).

#pragma once

#include <algorithm>
#include <cstdint>

#include "fresh/refresh_schedule.h"

namespace portolan {

struct ShardRefresh {
  bool enabled = false;       // the crawl comes back
  double share = 0.5;         // of what is fetched, while first visits wait
  double visits_per_day = 0;  // at most; 0: what the crawl can do
  RefreshOptions schedule;
};

// The share of one of so many shards.
inline ShardRefresh ShareOf(const ShardRefresh& whole, uint32_t shards) {
  ShardRefresh share = whole;
  share.visits_per_day /= shards;
  share.schedule.memory /= shards;
  share.schedule.max_out_bytes /= shards;
  share.schedule.max_out = std::max<size_t>(whole.schedule.max_out / shards, 1);
  return share;
}

}  // namespace portolan
