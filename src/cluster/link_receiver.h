// LinkReceiver: the batches that came for one shard, each once, in the order of its stream.
//
// How far it has read is a LinkPosition, a value for the receiver's manifest. After a crash it opens with the one from
// its last checkpoint and reads the rest again. Trim, after a checkpoint, removes from the stream what that checkpoint
// holds.
//
// Losses end it, loudly, with an Error (kCorrupt) that says which batches of which senders may be lost: the stream was
// deleted or made anew (another time of creation), went back (its newest number is below the position), was purged or
// had messages removed (a gap in the numbers), or a sender's numbers have a gap (BatchLedger).
//
// What is in the stream and is no batch of this cluster for this shard is skipped and counted.
//
// Thread: one owner, who waits in Take. Memory bound: one batch here, the ledger, and what the transport fetches.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/batch_ledger.h"
#include "cluster/link_batch.h"
#include "cluster/link_transport.h"

namespace portolan {

struct LinkPosition {
  int64_t created_ns = 0;  // of the stream; 0: not opened before
  uint64_t sequence = 0;   // of the last message that was taken
  BatchLedger ledger;

  std::string Encode() const;
  static Result<LinkPosition> Decode(std::string_view bytes);
};

struct LinkReceiverOptions {
  std::string cluster;
  uint64_t cluster_id = 0;
  uint32_t shard = 0;
  int64_t look_ns = 500 * kMillisecond;  // between two looks at a stream that gives nothing
};

class LinkReceiver {
 public:
  static Result<std::unique_ptr<LinkReceiver>> Open(LinkTransport& transport, const LinkReceiverOptions& options,
                                                    LinkPosition position);

  // Hands over each new batch that has come: the header and views of the messages, valid during the call. Returns how
  // many; 0 also while the server is away and when reading begins anew.
  using Sink = std::function<void(const LinkBatchReader&)>;
  Result<uint32_t> Take(const Sink& sink);

  // When Take is to be called again, even if nothing comes.
  int64_t NextLook() const { return looked_ns_ + options_.look_ns; }

  const LinkPosition& position() const { return position_; }
  // REQUIRES: a durable checkpoint has `kept`.
  Status Trim(uint64_t kept);

  uint64_t duplicates() const { return duplicates_; }
  uint64_t old_epochs() const { return old_epochs_; }  // refused: sent by who had lost its shard
  uint64_t foreign() const { return foreign_; }
  const std::string& last_foreign() const { return last_foreign_; }

 private:
  LinkReceiver(LinkTransport& transport, const LinkReceiverOptions& options, LinkPosition position);
  Status Look();
  // False: not the next message; read again from the position.
  Result<bool> TakeOne(uint64_t sequence, std::string_view bytes, const Sink& sink, uint32_t& taken);
  std::unexpected<Error> Loss(const std::string& why);

  LinkTransport& transport_;
  const LinkReceiverOptions options_;
  const std::string stream_;
  LinkPosition position_;
  LinkBatchReader reader_;
  bool look_ = false;         // before the next fetch
  uint64_t stream_last_ = 0;  // its newest message when it was looked at
  int64_t looked_ns_ = 0;
  bool came_ = false;  // something, since the last look
  uint64_t reconnects_ = 0;
  uint64_t trimmed_ = 0;
  uint64_t duplicates_ = 0;
  uint64_t old_epochs_ = 0;
  uint64_t foreign_ = 0;
  std::string last_foreign_;
  Status failed_;
};

}  // namespace portolan
