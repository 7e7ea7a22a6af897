// LinkSender: what one shard sends to the others, through their streams. Batches are published without waiting and
// kept until the server says that they are stored.
//
//   full      the stream takes no more: the batch is tried again every full_wait_ns, and the window fills
//   away      the server is away: the same, until it is back; batches may then arrive twice and are dropped, by the
//             server (by their id) or by the receiver (BatchLedger)
//   spill     further batches go to a queue on disk, if there is one, until all queues hold spill_bytes; HasRoom says
//   no
//             then, or without a queue when the window is full. What is sent all the same is taken
//   fenced    the shard is no longer this process's (may_send): nothing is sent any more. What left before that moment
//             carries its epoch, and receivers refuse it once the new holder has begun
//   lost      the stream was deleted, or made anew, or went back: an Error that says which batches may be lost, and
//             nothing is sent any more
//
// The first batch to every receiver is empty: it says that the epoch has begun (batch_ledger.h).
//
// Thread: one owner. Pump may wait for the server (LinkTransport), and asks for the state of streams when something
// looks wrong.
// Memory bound: per receiver window_bytes, what is sent though there is no room, and one batch being written; and as
// much again in the transport.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/link_batch.h"
#include "cluster/link_transport.h"
#include "cluster/send_window.h"
#include "disk/queue.h"

namespace portolan {

struct LinkSenderOptions {
  std::string cluster;
  uint64_t cluster_id = 0;
  uint32_t shards = 1;
  uint32_t sender = 0;  // this shard
  uint64_t epoch = 0;   // of the claim to it
  uint64_t window_bytes = uint64_t{4} << 20;
  uint64_t spill_bytes = 0;            // of all queues
  std::vector<DiskQueue*> spill = {};  // by receiver, null for the own one; empty: none. They outlive the sender
  int64_t ack_wait_ns = 5 * kSecond;   // without an answer for so long, a batch is sent again
  int64_t full_wait_ns = 200 * kMillisecond;
  std::function<bool()> may_send = {};  // is the shard still ours? None: always
};

enum class LinkFlow : uint8_t { kGoing, kFull, kAway };

class LinkSender {
 public:
  // What the queues hold is sent after what Resend is given. kNotFound: a receiver's stream is missing.
  static Result<std::unique_ptr<LinkSender>> Create(LinkTransport& transport, const LinkSenderOptions& options);

  bool HasRoom(uint32_t to) const {
    const Lane& lane = *lanes_[to];
    return lane.spill == nullptr ? lane.window.HasRoom() : lane.may_spill && spilled_bytes_ < options_.spill_bytes;
  }
  // HasRoom is asked once per page. Only kInvalidArgument, for a message that fits no batch.
  Status Send(uint32_t to, std::string_view message);
  // Closes the batch that is being written, full or not.
  void Flush(uint32_t to);
  // A batch that this shard made in an earlier epoch. To be called before anything else is sent.
  void Resend(uint32_t to, std::string batch);
  // Takes acknowledgements and publishes. An Error stays: kClosed, the shard is not ours any more; kCorrupt, links may
  // be lost; or of a disk.
  Status Pump();

  bool AllStored() const;
  // Numbers of batches: up to `stored` the stream has everything; `sent` will be the last one's when the queue is
  // empty.
  uint64_t stored(uint32_t to) const { return lanes_[to]->window.stored(); }
  uint64_t sent(uint32_t to) const {
    const Lane& lane = *lanes_[to];
    return lane.window.sent() + (lane.spill == nullptr ? 0 : lane.spill->size());
  }
  // The batches of the window that are not known to be stored.
  template <typename Visit>
  void ForEachUnstored(uint32_t to, Visit&& visit) const {
    lanes_[to]->window.ForEachUnstored(visit);
  }
  LinkFlow flow(uint32_t to) const { return lanes_[to]->flow; }
  uint64_t bytes_published() const { return bytes_published_; }
  uint64_t batches() const { return batches_; }
  uint64_t spilled() const { return spilled_; }  // batches, ever
  uint64_t spilled_bytes() const { return spilled_bytes_; }
  // When Pump wants to be called, if nothing happens before; kNever: not at all.
  int64_t NextPump() const;
  static constexpr int64_t kNever = INT64_MAX;

 private:
  struct Lane {
    explicit Lane(uint64_t bytes) : window(bytes) {}
    LinkBatchWriter writer;
    SendWindow window;
    DiskQueue* spill = nullptr;
    bool may_spill = true;  // the last batch for the disk could be written
    LinkFlow flow = LinkFlow::kGoing;
    int64_t not_before_ns = 0;
    int64_t created_ns = 0;
    uint64_t newest = 0;   // sequence number that the stream gave last
    bool suspect = false;  // look at the stream before going on
  };
  LinkSender(LinkTransport& transport, const LinkSenderOptions& options);
  Status Open();
  Status Look(uint32_t to);
  void TakeAcks();
  Status Refill(uint32_t to);
  void Publish(uint32_t to);
  void Close(uint32_t to);

  LinkTransport& transport_;
  const LinkSenderOptions options_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // by receiver
  uint64_t reconnects_ = 0;
  uint64_t bytes_published_ = 0;
  uint64_t batches_ = 0;
  uint64_t spilled_ = 0;
  uint64_t spilled_bytes_ = 0;
  Status failed_;
};

}  // namespace portolan
