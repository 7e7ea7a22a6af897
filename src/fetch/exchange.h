// Exchange: one fetch from task to response, for both engines that move its bytes (CurlTransfer, PlainTransfer).
//
//   kConnecting ──connected──▶ kAsked ──first line──▶ kHead ──empty line──▶ kBody ──▶ TakeResponse
//
// All limits are enforced here and not by the engines, so that each ends in its own outcome and keeps what was received
// so far. Size limits are checked as bytes arrive; time limits at `deadline`, which the owner compares with the clock
// from time to time.
//
// Memory is taken from the loop's ReceiveRoom before bytes are received. When there is none the fetch stalls: nothing
// is read, and time limits do not run, until Resume.
//
// Thread: the loop's. Invariant: *deadline is kNoDeadline unless a fetch runs. Memory bound: its lease, which covers
// what is received and the free part of the body's buffer; in a buffer of kMapped bytes or more the free part uses no
// memory yet. While a buffer grows the old one exists, too: one at a time per loop.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fetch/fetch_options.h"
#include "fetch/head_collector.h"
#include "fetch/receive_room.h"
#include "fetch/request_fields.h"
#include "fetch/transfer_phase.h"
#include "flow/fetch.h"
#include "io/process.h"

namespace portolan {

inline constexpr int64_t kNoDeadline = INT64_MAX;

class Exchange {
 public:
  // `deadline` is where this writes when CheckTime must be called; all must outlive this.
  Exchange(const FetchOptions& options, const RequestFields& fields, ReceiveRoom& room, size_t slot, int64_t* deadline)
      : options_(options), fields_(fields), room_(room), slot_(slot), deadline_(deadline) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  size_t slot() const { return slot_; }
  // If a time limit has passed, the outcome with which the owner must end the fetch.
  std::optional<FetchOutcome> CheckTime(int64_t now_ns);

  // The lease that was taken when it began. REQUIRES: a fetch runs, and has received nothing.
  void Hold(ByteLease&& lease) { response_.lease = std::move(lease); }
  ByteLease& lease() { return response_.lease; }
  const ByteLease& lease() const { return response_.lease; }
  // Of its body, by its Content-Length; 0: it says nothing.
  uint64_t promised_bytes() const { return std::min(head_.content_length().value_or(0), options_.limits.max_body); }
  int64_t begin_ns() const { return response_.times.begin_ns; }
  bool stalled() const { return stalled_ns_ != 0; }
  void Stall();
  void Resume();
  // Bytes that it holds divided by bytes received per second, measured since the last call that found it quick (at most
  // kMaxSluggishness), since it stalled, or since `since_ns`, whichever is last. 0: it is quick, fewer than `least_ns`
  // have passed, or it does not receive a body.
  double Sluggishness(int64_t now_ns, int64_t since_ns, int64_t least_ns);

 protected:
  void Begin(FetchTask&& task);
  void Connected(bool kept);  // the request goes out now
  // One line of a head, with its ending; a piece of the body, transfer coding removed. False: a limit or a rule ended
  // the fetch, see decided_.
  bool HeaderLine(std::string_view line);
  bool Body(std::string_view bytes);
  // How many bytes may be received now, up to `most`; 0: none, it is stalled.
  size_t MayReceive(size_t most);
  // Likewise, all of `bytes` of a body or nothing.
  bool MayTake(size_t bytes);
  // No more bytes are ready: gives back memory that was taken for bytes that did not come.
  void GiveBackUnused();
  // Decides the outcome; always false.
  bool Cut(FetchOutcome outcome, std::string_view detail);
  // Bytes that are neither head nor body, such as chunk sizes. They count as progress.
  void Received(size_t bytes);
  FetchResponse TakeResponse(FetchOutcome outcome);

  const FetchOptions& options_;
  const RequestFields& fields_;

  // Of the fetch that runs:
  FetchResponse response_;
  RequestFields::Conditional conditional_;
  HeadCollector head_;
  TransferPhase phase_ = TransferPhase::kConnecting;
  std::optional<FetchOutcome> decided_;
  bool kept_ = false;  // the connection was there before this fetch

 private:
  static constexpr uint64_t kMapped = kMappedBuffer;

  void SetDeadline();
  size_t BufferFor(size_t size) const;  // the body's capacity when it has grown to `size`
  uint64_t CostOf(size_t body) const;   // of the answer with this much body
  bool Pay(size_t bytes);               // for this much more body
  bool TooSlow(int64_t now_ns);

  ReceiveRoom& room_;
  const size_t slot_;
  int64_t* const deadline_;
  int64_t asked_ns_ = 0;   // when the request went out
  int64_t window_ns_ = 0;  // begin of the window that measures speed
  uint64_t window_bytes_ = 0;
  int64_t stalled_ns_ = 0;   // since when; 0: not
  int64_t not_read_ns_ = 0;  // time lost to our own memory bound; no time limit counts it
  int64_t judged_ns_ = 0;    // of Sluggishness
  uint64_t judged_bytes_ = 0;
};

}  // namespace portolan
