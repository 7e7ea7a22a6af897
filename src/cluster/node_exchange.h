// The exchange of a shard with everything under it: its own connection to NATS, the transport, the thread that works
// for it.
//
// Thread: Open one owner; the exchange as cluster_exchange.h says.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "cluster/cluster_exchange.h"
#include "cluster/nats_connection.h"

namespace portolan {

// `options` without its wake_… . kClosed: NATS does not answer; try again later.
struct NodeExchangeOptions {
  NatsOptions nats;
  ClusterExchangeOptions exchange;
};
struct ExchangeWakes {
  std::function<void()> shard;
  std::function<void()> driver;
};
struct NodeExchange {
  // The engine's. With it the thread ends, which calls the engine through the wakes, whoever still looks at the
  // exchange.
  std::shared_ptr<ShardExchange> engine;
  // For who looks at its counters; it may be the last one that holds the rest.
  std::weak_ptr<ClusterExchange> view;
};
Result<NodeExchange> OpenNodeExchange(Env& env, const Manifest& manifest, const NodeExchangeOptions& options,
                                      const ExchangeWakes& wakes);

}  // namespace portolan
