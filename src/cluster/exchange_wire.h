// ExchangeWire: the worker of a shard's exchange (cluster_exchange.h): empties the boxes into the streams of the other
// shards, fills them from the own stream, writes reports and reads those of others; and the parts of the checkpoint.
//
// Batches hold the shard's messages (docs/formats/crossing.md) and, as messages whose first byte is kRaises, the
// raises.
//
// A flush runs on the driver's thread, so it waits until the worker is not in the middle of something: if the server
// takes questions and does not answer, a few times LinkTransport's longest wait. Then it takes what is in the box,
// closes all batches, and writes what is not known to be stored. The queues on disk are flushed at the same moment,
// since batches move from there to the windows.
//
// Thread: Work one; the parts of Checkpointables the driver's. One lock, held by Work while it waits for the server.
// Memory bound, durability: cluster_exchange.h.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_exchange_options.h"
#include "cluster/committed_cuts.h"
#include "cluster/end_detector.h"
#include "cluster/exchange_boxes.h"
#include "cluster/link_receiver.h"
#include "cluster/link_sender.h"
#include "cluster/link_transport.h"
#include "cluster/notice_mail.h"
#include "cluster/phase_clock.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/env.h"

namespace portolan {

// The first byte of a message that holds raises: 8 bytes each, little-endian, after it. Kinds of crossings are less.
inline constexpr char kRaises = '\xff';

class ExchangeWire : private Checkpointable {
 public:
  ExchangeWire(Env& env, std::string dir, LinkTransport& transport, ExchangeBoxes& boxes,
               const ClusterExchangeOptions& options);
  ~ExchangeWire() override;

  // See ClusterExchange::Open.
  Status Open(const Manifest& manifest);
  int64_t Work();
  std::vector<Checkpointable*> Checkpointables();

  static constexpr std::string_view kSection = "exchange";

 private:
  class SpillPart;

  // Checkpointable: the file with position and outbox. It flushes the queues, too.
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override;

  Status Step(bool* busy);
  Status Trim();
  Status TakeOut();
  void Tell(uint32_t to, std::vector<AddressNotice> notices);
  void FlushLate(int64_t now_ns, bool all);
  void TakeTold();
  Status Receive(bool* busy);
  Status Report(int64_t now_ns);
  void ReadReports();
  void AskTime();
  void ShowState();
  std::optional<CopiedCheckpoint> Copied() const { return options_.copied ? options_.copied() : std::nullopt; }

  Env& env_;
  const std::string dir_;
  LinkTransport& transport_;
  ExchangeBoxes& boxes_;
  const ClusterExchangeOptions options_;

  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<DiskQueue>> spill_;  // by receiver; null for the own one
  std::vector<std::unique_ptr<SpillPart>> parts_;
  std::unique_ptr<LinkSender> sender_;
  std::unique_ptr<LinkReceiver> receiver_;
  NoticeFilter filter_;
  std::vector<int64_t> open_since_ns_;  // by receiver: when its batch was begun; 0: it is empty
  EndDetector detector_;
  ShardReport report_;                           // as it was written last, or will be
  bool done_told_ = false;                       // the report that says so is stored
  int64_t report_at_ns_ = 0;                     // when the next one is due
  std::optional<PhaseClock> clock_;              // with phases
  PhaseTime phase_time_ = PhaseTime::Unknown();  // as the boxes have it
  int64_t ask_at_ns_ = 0;                        // when the server is asked for its time
  CommittedCuts cuts_;                           // of this process
  LinkPosition trim_to_;                         // of the committed checkpoint
  bool trim_wanted_ = false;
  Status failed_;

  // The driver's:
  uint64_t serial_ = 0;  // of the newest file
  ManifestSection described_;
  ShardReport::Kept flushed_;  // what the flush found, until it is committed
  LinkPosition flushed_position_;
  std::vector<std::string> retired_;
};

}  // namespace portolan
