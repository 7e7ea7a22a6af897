// A node of its own process, for tests that stop it: claims shard 1 of the cluster "web", sends one link after the
// other to shard 0, and exits with 7 when it learns that the shard is no longer its own.
//
// usage: cluster_stalled_node URL heeding|blind       blind: it never asks whether it still holds the shard, as one
//                                                     that was stopped between the question and the sending
//
// It ends by itself after 20 seconds.

#include <fmt/core.h>
#include <poll.h>

#include <chrono>
#include <string>

#include "cluster/link_sender.h"
#include "cluster/nats_transport.h"
#include "cluster/shard_leases.h"

int main(int argc, char** argv) {
  using namespace portolan;
  using namespace std::chrono_literals;
  if (argc != 3) return 1;
  const bool blind = std::string(argv[2]) == "blind";
  const auto connect = [&] { return NatsConnection::Connect({.url = argv[1], .request_ns = kSecond}, Clock::Real()); };
  auto connection = connect();
  auto lease_connection = connect();
  if (!connection || !lease_connection) return 2;
  auto store = ClusterStore::Open(**lease_connection, "web");
  if (!store) return 3;
  const uint64_t id = (*store)->id();
  ShardLeases leases({.shards = 2,
                      .capacity = 2,
                      .node = "stalled",
                      .holder = 99,
                      .hold_ns = 600 * kMillisecond,
                      .renew_ns = 100 * kMillisecond,
                      .look_ns = 80 * kMillisecond,
                      .unchanged = 12},
                     std::move(*store), Clock::Real());
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!leases.Held(1) && std::chrono::steady_clock::now() < end) poll(nullptr, 0, 5);
  const auto epoch = leases.Held(1);
  if (!epoch) return 4;
  LinkSenderOptions options{.cluster = "web",
                            .cluster_id = id,
                            .shards = 2,
                            .sender = 1,
                            .epoch = *epoch,
                            .ack_wait_ns = 300 * kMillisecond,
                            .may_send = {}};
  if (!blind) options.may_send = [&] { return leases.Held(1) == epoch; };
  auto transport = NatsTransport::Open(**connection, {.cluster = "web", .shards = 2, .shard = 1});
  if (!transport) return 5;
  auto sender = LinkSender::Create(**transport, options);
  if (!sender) return 5;
  for (uint64_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
    if ((*sender)->HasRoom(0)) {
      if (!(*sender)->Send(0, fmt::format("old {}", i))) return 6;
      (*sender)->Flush(0);
    }
    if (const Status pumped = (*sender)->Pump(); !pumped) return pumped.error().code() == ErrorCode::kClosed ? 7 : 8;
    poll(nullptr, 0, 2);
  }
  return 0;
}
