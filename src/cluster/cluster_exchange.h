// ClusterExchange: the exchange of one shard whose other shards are in other processes. The driver's crawl has one
// seat, this shard; the numbers of shards in the interface's calls are ignored where they can only mean it.
//
// Messages and raises go in batches through the receivers' streams (LinkSender); address notices as datagrams, which
// may be lost (frontier/address_book.h knows). What comes is read from the own stream (LinkReceiver), each batch once.
//
//   the shard's side     sends into a box, and takes from a box: never waits for the network
//   the worker's side    Work moves both boxes; it may wait for the server. A thread (ExchangeThread) or, in virtual
//                        time, events call it
//
// Where links wait when they cannot go on, per receiver: the box, the batch being written, the window of LinkSender,
// then a queue on disk (spill). When that has reached its bound HasRoom says no, and results of fetches wait. Raises
// and requests for robots.txt are taken even then: they never wait for room, so no circle of shards can.
//
// Durability. A checkpoint of the shard holds everything that it sent before: what is not known to be stored in the
// receiver's stream is written to an outbox, a file that the manifest names, and sent again by the next holder of the
// shard, in its epoch. The same file has the position in the own stream: of the last batch whose messages were all
// given to the shard. So a kill of any process at any moment loses no link; what came after the checkpoint is read
// again. A link may come twice after a death (URLseen knows it); a raise, too, and then counts twice. Messages are
// removed from the own stream only when a committed checkpoint holds them.
//
// The end. With each checkpoint the shard's report says whether it had anything left, what it had sent and taken
// (end_detector.h); the crawl is over when all reports fit. So the driver is asked for a checkpoint when the shard has
// become idle (WantsCheckpoint).
//
// Fencing. Everything carries the epoch of the claim. When Options::held says no, nothing is sent any more, status() is
// kClosed for good, and the owner must stop the engine. Losses (a stream that was deleted or went back) are kCorrupt.
//
// Phases. With Options::phase_clock the worker asks the server for its time (phase_clock.h), which the driver gives to
// the shard. While it is not known well enough Trouble() says so.
//
// Thread: the interface of ShardExchange as it says; Work one thread; counters and Trouble any.
// Memory bound: per receiver out_bytes, one batch being written and window_bytes; in_bytes and one fetch of what came;
// raises, robots.txt requests and the links of one page beyond these bounds; during a flush the outbox, which is at
// most the sum of the windows.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster_exchange_options.h"
#include "cluster/link_transport.h"
#include "crawl/exchange.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

class ClusterExchange : public ShardExchange {
 public:
  // Continues from the manifest. kClosed: the server does not answer; try again. kCorrupt: links may be lost, or the
  // state is not one. kNotFound: a stream is missing.
  // REQUIRES: env, transport outlive this; `env` is the one that the checkpoint's other parts are opened with.
  static Result<std::unique_ptr<ClusterExchange>> Open(Env& env, const Manifest& manifest, LinkTransport& transport,
                                                       const ClusterExchangeOptions& options);
  ~ClusterExchange() override;

  // ---- ShardExchange
  ExchangePort& port(uint32_t from) override;
  void Deliver(uint32_t from) override;
  Mail TakeMail(uint32_t to) override;
  std::optional<std::string_view> Front(uint32_t to) override;
  void Pop(uint32_t to) override;
  bool Empty() const override;
  std::vector<Checkpointable*> Checkpointables() override;
  void BeginCheckpoint(bool idle) override;
  bool WantsCheckpoint(bool idle) const override;
  void Note(const Here& here) override;
  Elsewhere elsewhere() const override;
  std::optional<PhaseTime> phase_time() const override;
  Status status() const override;

  // ---- the worker
  // Sends, reads, reports what is due; waits for the server only where it asks it something. Returns when it wants to
  // be called again, in nanoseconds from now, if wake_worker does not call before.
  int64_t Work();

  using Counters = ExchangeCounters;
  Counters counters() const;
  // What an operator should know now, in words; empty: all is well. "shard 3 takes no more links: its stream is full"
  std::string Trouble() const;

 private:
  struct Impl;
  explicit ClusterExchange(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace portolan
