// LinkSender: what one shard sends to the others, through their streams. Batches are published without waiting and
// kept until the server says that they are stored; a sender's checkpoint waits for AllStored.
//
//   full      the stream takes no more: the batch is tried again every full_wait_ns, the window fills, HasRoom says no
//   away      the server is away: the same, until it is back; batches may then arrive twice and are dropped, by the
//             server (Nats-Msg-Id) or by the receiver (BatchLedger)
//   fenced    the shard is no longer this process's (may_send): nothing is sent any more. What left before that moment
//             carries its epoch, and receivers refuse it once the new holder has begun
//   lost      the stream was deleted, or made anew, or went back: an Error that says which batches may be lost, and
//             nothing is sent any more
//
// The first batch to every receiver is empty: it says that the epoch has begun (batch_ledger.h).
//
// Thread: one owner. Acknowledgements come on a thread of libnats into a Mailbox; Pump takes them. Pump waits for the
// socket if the server does not read (at most the connection's request_ns), and asks for the state of streams when
// something looks wrong.
// Memory bound: per receiver window_bytes, the links of one page and one batch being written, and as much again inside
// libnats.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/link_batch.h"
#include "cluster/link_stream.h"
#include "cluster/nats_connection.h"
#include "cluster/send_window.h"

namespace portolan {

struct LinkSenderOptions {
  std::string cluster;
  uint64_t cluster_id = 0;
  uint32_t shards = 1;
  uint32_t sender = 0;  // this shard
  uint64_t epoch = 0;   // of the claim to it
  uint64_t window_bytes = uint64_t{4} << 20;
  int64_t ack_wait_ns = 5 * kSecond;  // without an answer for so long, a batch is sent again
  int64_t full_wait_ns = 200 * kMillisecond;
  std::function<bool()> may_send;  // is the shard still ours? None: always
};

enum class LinkFlow : uint8_t { kGoing, kFull, kAway };

class LinkSender {
 public:
  // kNotFound: a receiver's stream is missing.
  static Result<std::unique_ptr<LinkSender>> Create(NatsConnection& connection, const LinkSenderOptions& options);
  ~LinkSender();
  LinkSender(const LinkSender&) = delete;
  LinkSender& operator=(const LinkSender&) = delete;

  bool HasRoom(uint32_t to) const { return lanes_[to]->window.HasRoom(); }
  // HasRoom is asked once per page. Only kInvalidArgument, for a message that fits no batch.
  Status Send(uint32_t to, std::string_view message);
  // Closes the batch that is being written, full or not.
  void Flush(uint32_t to);
  // Takes acknowledgements and publishes. An Error stays: kClosed, the shard is not ours any more; kCorrupt, links may
  // be lost.
  Status Pump();

  bool AllStored() const;
  // Numbers of batches: up to `stored` the stream has everything; `sent` was handed to Pump last.
  uint64_t stored(uint32_t to) const { return lanes_[to]->window.stored(); }
  uint64_t sent(uint32_t to) const { return lanes_[to]->window.sent(); }
  LinkFlow flow(uint32_t to) const { return lanes_[to]->flow; }
  uint64_t bytes_published() const { return bytes_published_; }

 private:
  struct Inbox;
  struct Lane {
    explicit Lane(uint64_t bytes) : window(bytes) {}
    LinkBatchWriter writer;
    SendWindow window;
    LinkFlow flow = LinkFlow::kGoing;
    int64_t not_before_ns = 0;
    int64_t created_ns = 0;
    uint64_t newest = 0;   // sequence number that the stream gave last
    bool suspect = false;  // look at the stream before going on
  };
  LinkSender(NatsConnection& connection, const LinkSenderOptions& options);
  Status Open();
  Status Look(uint32_t to);
  Status TakeAcks();
  void Publish(uint32_t to);
  void Add(uint32_t to);

  NatsConnection& connection_;
  const LinkSenderOptions options_;
  std::shared_ptr<Inbox> inbox_;
  uint64_t callback_ = 0;
  __jsCtx* jetstream_ = nullptr;
  std::vector<std::unique_ptr<Lane>> lanes_;  // by receiver
  uint64_t reconnects_ = 0;
  uint64_t bytes_published_ = 0;
  Status failed_;
};

}  // namespace portolan
