// UrlSeen: is this URL new? (thesis ch. IV: URLseen, DRUM's first user.)
//
// Links stream in as hash and record; the records of those never offered before come out, in arrival order. Recent ones
// are turned away in RAM by DRUM's cache of recent keys (the thesis' recent-URL cache, ch. V), the rest wait in DRUM
// for a round. When a round starts:
//   - DRUM's memory is full, or its disk bound is reached: by itself;
//   - the caller is hungry (the frontier runs dry): StartRound, at the pace that RoundPace allows. Z small: at once, so
//     that a link of a small crawl is eligible within milliseconds; Z large: rarely, since a round rewrites Z.
//
// Thread: one owner; rounds run on the executor. Reads no clock: the time comes with the calls.
// Invariant: offered = recent + unique + duplicates + waiting, always, and after recovery.
// Memory bound: Options::memory.
// Room: so many links are taken for sure. At the bound of the disk there is none until Take has handed out the round's
// records; since Take needs no room here, there always is some again.
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
  // Of it for the cache of recent URLs (disk/recent_keys.h); DRUM's choice when absent, 0: none.
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
  // The bytes die when this returns. An error ends Take, which returns it; the record was not taken and comes again.
  virtual Status OnUnique(std::string_view record) = 0;
};

class UrlSeen : public Checkpointable {
 public:
  static constexpr int64_t kNever = RoundPace::kNever;

  static Result<std::unique_ptr<UrlSeen>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                               const UrlSeenOptions& options);

  uint64_t Room() const { return drum_->Room(kMaxUrlRecord); }
  // When nothing waits: never less for long.
  uint64_t EmptyRoom() const { return drum_->plan().empty_room(); }

  // kBusy: there was no room. kNoSpace, kIo: the disk refuses. The link was not taken then.
  Status Add(uint64_t hash, std::string_view record);

  // Hands out new records of a finished round while it has answers, looking at up to `max` links; returns at how many
  // it looked. 0: no round is finished, or all of it is handed out.
  Result<uint64_t> Take(UniqueSink& sink, uint64_t max, int64_t now_ns);

  // Is it time to start a round on the caller's hunger?
  bool WantsRound(int64_t now_ns, bool hungry) { return pace_.Wants(*drum_, now_ns, hungry); }
  // When it will be if nothing else happens: for a timer. kNever while a round is on or nothing waits.
  int64_t NextRoundTime(int64_t now_ns, bool hungry);
  // Starts one if it wants one; says whether.
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
