// UrlSeen: is this URL new? (thesis ch. IV: URLseen, DRUM's first user.)
//
// Links stream in as hash and record; the records of those never offered before come out, in arrival order. Recent ones
// are dropped in RAM by DRUM's cache of recent keys (the thesis' recent-URL cache, ch. V), the rest wait in DRUM for a
// round. When a round starts:
//   - DRUM's memory is full, or its disk bound is reached: by itself;
//   - the caller is hungry (the frontier runs dry): StartRound, at the pace that RoundPace allows. If Z is small, at
//     once, so that a link of a small crawl is eligible within milliseconds; if Z is large, rarely, since a round
//     rewrites Z.
//
// Thread: one owner; rounds run on the executor. Reads no clock: the time comes with the calls.
// Invariant: offered = recent + unique + duplicates + waiting, always, and after recovery.
// Memory bound: Options::memory.
// Room: the number of links that Add is guaranteed to take. At the disk bound it is 0 until Take has handed out the
// round's records. Take needs no room here, so there will always be room again.
// Durability: Checkpointable, as DRUM is. The cache begins empty, which costs traffic, not answers.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "disk/round_pace.h"
#include "flow/record_bound.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan {

struct UrlSeenOptions {
  std::string name = "urlseen";
  // At least kMinMemory, so that the longest URL (8000 bytes) fits beside its neighbours.
  uint64_t memory = uint64_t{64} << 20;
  // The part of it for the cache of recent URLs (disk/recent_keys.h); chosen by DRUM when absent, 0: no cache.
  std::optional<uint64_t> recent_memory;
  uint64_t disk = uint64_t{16} << 30;
  Codec codec = Codec::kLz4;
  RoundPace::Options pace;
  // On the executor's thread when a round is merged: post an event to the owner.
  std::function<void()> on_round_done;

  static constexpr uint64_t kMinMemory = uint64_t{1} << 20;
};

struct UrlSeenCounts {
  uint64_t offered = 0;                               // links taken by Add
  uint64_t recent = 0;                                // of them turned away by the cache
  uint64_t unique = 0;                                // handed out
  uint64_t duplicates = 0;                            // known to DRUM
  uint64_t sent() const { return offered - recent; }  // to disk
};

class UniqueSink {
 public:
  virtual ~UniqueSink() = default;
  // The bytes are valid only during the call. An error ends Take and is returned by it; the record counts as not taken
  // and comes again.
  virtual Status OnUnique(std::string_view record) = 0;
};

class UrlSeen : public Checkpointable {
 public:
  static constexpr int64_t kNever = RoundPace::kNever;

  static Result<std::unique_ptr<UrlSeen>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                               const UrlSeenOptions& options);

  uint64_t Room() const { return drum_->Room(kMaxUrlRecord); }
  // The room when nothing waits. Room is never less than this for long.
  uint64_t EmptyRoom() const { return drum_->plan().empty_room(); }

  // kBusy: there was no room. kNoSpace, kIo: the disk failed. In all these cases the link was not taken.
  Status Add(uint64_t hash, std::string_view record);

  // Hands out new records of a finished round, looking at up to `max` links; returns how many it looked at. 0: no round
  // is finished, or all its answers are handed out.
  Result<uint64_t> Take(UniqueSink& sink, uint64_t max, int64_t now_ns);

  // Is it time to start a round because the caller is hungry (needs URLs)?
  bool WantsRound(int64_t now_ns, bool hungry) { return pace_.Wants(*drum_, now_ns, hungry); }
  // When that will be if nothing else happens: for a timer. kNever while a round is on or nothing waits.
  int64_t NextRoundTime(int64_t now_ns, bool hungry);
  // Starts a round if WantsRound; returns whether it did.
  Result<bool> StartRound(int64_t now_ns, bool hungry);

  bool ResultsReady() const { return drum_->ResultsReady(); }
  uint64_t waiting() const { return drum_->waiting(); }
  uint64_t keys() const { return drum_->keys(); }
  UrlSeenCounts counts() const;
  const Drum& drum() const { return *drum_; }

  std::vector<Checkpointable*> Checkpointables() { return {this}; }
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return drum_->Committed(); }

 private:
  UrlSeen(const UrlSeenOptions& options, std::unique_ptr<Drum> drum) : drum_(std::move(drum)), pace_(options.pace) {}

  std::unique_ptr<Drum> drum_;
  RoundPace pace_;
  UrlSeenCounts counts_;       // `recent` as it was at Open: DRUM counts on from there
  ManifestSection described_;  // DRUM's, with the counts
};

}  // namespace portolan
