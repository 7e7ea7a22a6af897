// Exchange: one fetch from task to response, whoever moves its bytes (CurlTransfer, PlainTransfer).
//
//   kConnecting ──connected──▶ kAsked ──first line──▶ kHead ──empty line──▶ kBody ──▶ TakeResponse
//
// All limits are kept here and not by the engines, so that each ends in its own outcome with what was received so far.
// Size limits are checked as bytes come; time limits at `deadline`, which the owner compares with the clock now and
// then.
//
// Thread: the loop's. Invariant: *deadline is kNoDeadline unless a fetch runs. Memory bound: the limits of head and
// body.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fetch/fetch_options.h"
#include "fetch/head_collector.h"
#include "fetch/request_fields.h"
#include "fetch/transfer_phase.h"
#include "flow/fetch.h"

namespace portolan {

inline constexpr int64_t kNoDeadline = INT64_MAX;

class Exchange {
 public:
  // `deadline` is where this writes when it wants CheckTime to be called; all outlive this.
  Exchange(const FetchOptions& options, const RequestFields& fields, size_t slot, int64_t* deadline)
      : options_(options), fields_(fields), slot_(slot), deadline_(deadline) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  size_t slot() const { return slot_; }
  // Has a time limit passed? Then the owner ends it with this outcome.
  std::optional<FetchOutcome> CheckTime(int64_t now_ns);

 protected:
  void Begin(FetchTask&& task);
  void Connected(bool kept);  // the request goes out now
  // One line of a head, with its ending; a piece of the body, transfer coding removed. False: a limit or a rule ended
  // the fetch, see decided_.
  bool HeaderLine(std::string_view line);
  bool Body(std::string_view bytes);
  // Decides the outcome; always false.
  bool Cut(FetchOutcome outcome, std::string_view detail);
  // Bytes that are neither head nor body, chunk sizes say. They count as life.
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
  void SetDeadline();
  bool TooSlow(int64_t now_ns);

  const size_t slot_;
  int64_t* const deadline_;
  int64_t asked_ns_ = 0;   // when the request went out
  int64_t window_ns_ = 0;  // begin of the window that measures speed
  uint64_t window_bytes_ = 0;
};

}  // namespace portolan
