#include "cluster/node_exchange.h"

#include "cluster/exchange_thread.h"
#include "cluster/nats_transport.h"

namespace portolan {
namespace {

struct Whole {
  std::unique_ptr<NatsConnection> connection;
  std::unique_ptr<NatsTransport> transport;
  ExchangeThread thread;  // has ended before any of this goes; the exchange wakes it until then
  std::unique_ptr<ClusterExchange> exchange;
};

}  // namespace

Result<NodeExchange> OpenNodeExchange(Env& env, const Manifest& manifest, const NodeExchangeOptions& options,
                                      const ExchangeWakes& wakes) {
  auto whole = std::make_shared<Whole>();
  ASSIGN_OR_RETURN(whole->connection, NatsConnection::Connect(options.nats, Clock::Real()));
  ASSIGN_OR_RETURN(whole->transport, NatsTransport::Open(*whole->connection, {.cluster = options.exchange.cluster,
                                                                              .shards = options.exchange.shards,
                                                                              .shard = options.exchange.shard}));
  ClusterExchangeOptions exchange = options.exchange;
  exchange.wake_shard = wakes.shard;
  exchange.wake_driver = wakes.driver;
  exchange.wake_worker = [thread = &whole->thread] { thread->Wake(); };
  ASSIGN_OR_RETURN(whole->exchange, ClusterExchange::Open(env, manifest, *whole->transport, exchange));
  whole->thread.Start(*whole->exchange);
  NodeExchange opened;
  opened.view = std::shared_ptr<ClusterExchange>(whole, whole->exchange.get());
  opened.engine =
      std::shared_ptr<ShardExchange>(whole->exchange.get(), [whole](ShardExchange*) { whole->thread.Stop(); });
  return opened;
}

}  // namespace portolan
