// NatsTransport: LinkTransport on a nats-server with JetStream. Batches are published without waiting, the own stream
// is read by a NatsReader that is made anew after each reconnection, datagrams are messages of core NATS, reports are
// keys of the cluster's bucket.
//
//   portolan.NAME.shard.K   the subject of shard K's stream
//   portolan.NAME.mail.K    datagrams to shard K
//   report.K                a key of the bucket
//
// Thread: see LinkTransport. Answers and datagrams come on threads of libnats, into mailboxes.
// Memory bound: LinkTransport's; inside libnats as much as is published and fetched.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/link_transport.h"
#include "cluster/nats_connection.h"
#include "cluster/nats_reader.h"

struct __natsSubscription;
struct __kvStore;

namespace portolan {

struct NatsTransportOptions {
  std::string cluster;
  uint32_t shards = 1;
  uint32_t shard = 0;  // of this process
};

class NatsTransport : public LinkTransport {
 public:
  // REQUIRES: the connection outlives this.
  static Result<std::unique_ptr<NatsTransport>> Open(NatsConnection& connection, const NatsTransportOptions& options);
  ~NatsTransport() override;
  NatsTransport(const NatsTransport&) = delete;
  NatsTransport& operator=(const NatsTransport&) = delete;

  TransportStatus status() const override;
  int64_t NowNs() const override { return connection_.clock().NowNs(); }
  Result<LinkStreamInfo> ReadStream(uint32_t shard) override;
  bool Publish(uint32_t to, std::string_view id, std::string_view batch, int64_t ack_wait_ns) override;
  std::vector<LinkAck> TakeAcks() override;
  Result<LinkFetch> Fetch(uint64_t from, const MessageSink& sink) override;
  void FetchAnew() override { reader_.reset(); }
  bool HasNot(uint64_t sequence) override;
  Status Trim(uint64_t sequence) override;
  void Tell(uint32_t to, std::string_view datagram) override;
  std::vector<std::string> TakeTold() override;
  Result<ServerTime> AskTime() override;
  Status PutReport(std::string_view report) override;
  Result<std::string> ReadReport(uint32_t shard) override;
  void SetWake(std::function<void()> wake) override;

 private:
  struct Inbox;
  NatsTransport(NatsConnection& connection, const NatsTransportOptions& options);
  Status Start();
  Status OpenBucket();

  NatsConnection& connection_;
  const NatsTransportOptions options_;
  const std::string stream_;
  std::shared_ptr<Inbox> inbox_;
  uint64_t callback_ = 0;
  __jsCtx* jetstream_ = nullptr;
  __natsSubscription* mail_ = nullptr;
  std::unique_ptr<NatsReader> reader_;  // of the own stream
  __kvStore* store_ = nullptr;
  uint64_t next_ = 0;  // the number of the message that the reader gives next
  uint64_t reconnects_ = 0;
};

}  // namespace portolan
