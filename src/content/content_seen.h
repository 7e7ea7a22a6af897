// ContentSeen: was this payload captured before, and where? (IIR 20.2.1: "content seen"; DRUM as in thesis ch. IV.)
//
//   Look       answers at once from the table in RAM (capture_table.h): the first capture of the payload, with its URL.
//              If the table does not know the payload, this capture becomes its first one.
//   forgetting The table is bounded. The oldest entry leaves for DRUM, except one that was found since it came: that
//              goes round once more, so a payload that is everywhere is not forgotten.
//   late       As soon as something was forgotten, DRUM is asked about each payload that the table does not know. Its
//              answer comes with a round, when the payload is already archived in full: a late finding (TakeLate). So
//              the table's size is the horizon within which each payload has exactly one full capture.
//   Remove     takes a capture back, by payload and URL: the next capture of the payload is a first one again.
//
// Until something was forgotten DRUM holds nothing and costs nothing.
//
// With several shards each has a ContentSeen. The owner of a payload (chosen by the payload's hash) is the one whose
// DRUM hears of it; the others know it only while it is in their table.
//
// Thread: one owner; rounds run on the executor. Deterministic: no clock, the time comes with the calls.
// Memory bound: Options::memory, three quarters for the table, one for DRUM. At the bound payloads are forgotten as
// above. On disk: the table's log, about the size of the table, and 24 + 5 bytes per forgotten payload in DRUM.
// Room: Look needs HasRoom(). DRUM lacks it only while a round is on or its answers are not taken; they can always be
// taken.
// Durability: Checkpointable. The table is made again from its log, so a restart forgets nothing. Opened with less
// memory, the oldest entries are forgotten: as many as DRUM takes at once go there, the others are counted (lost).

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "content/capture_table.h"
#include "content/first_capture.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "disk/round_pace.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan {

struct ContentSeenOptions {
  std::string name = "content";  // of its section; the table's log is NAME.first, DRUM is NAME.old
  uint64_t memory = uint64_t{32} << 20;
  HashKey key;  // of URLs
  uint64_t disk = uint64_t{16} << 30;
  RoundPace::Options pace{.patience_ns = 60'000'000'000};  // nobody waits for late findings
  std::function<void()> on_round_done;

  static constexpr uint64_t kMinMemory = uint64_t{2} << 20;
};

struct ContentCounts {
  uint64_t looked = 0;
  uint64_t copies = 0;     // of them: known to the table
  uint64_t forgotten = 0;  // entries that went from the table to DRUM
  uint64_t late = 0;       // copies that DRUM found
  uint64_t too_long = 0;   // not remembered: the URL is too long
  uint64_t lost = 0;       // forgotten when the memory was reduced, and not in DRUM
};

// A payload that was captured in full although there was an earlier capture.
struct LateFinding {
  std::string_view url;
  int64_t unix_ms = 0;        // of this capture
  int64_t first_unix_ms = 0;  // of the first
};

class LateSink {
 public:
  virtual ~LateSink() = default;
  virtual Status OnLate(const LateFinding& finding) = 0;
};

class ContentSeen : public Checkpointable {
 public:
  static Result<std::unique_ptr<ContentSeen>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                                   const ContentSeenOptions& options);

  // What is known of the first capture of a payload.
  struct Known {
    std::string url;
    int64_t unix_ms = 0;
    uint16_t depth = 0;
    uint8_t type = 0;
  };

  // Room for that many calls of Look or Remove.
  bool HasRoom(uint64_t calls = 1) const { return drum_->Room(kMaxAux) >= calls * kTuples; }
  static constexpr uint64_t kMostCalls = 2;  // an empty DRUM has room for so many
  // nullopt: it is the first. REQUIRES: HasRoom(). Errors are those of the disk.
  Result<std::optional<Known>> Look(const FirstCapture& capture);
  // Takes back the capture of that payload by that URL. Nothing happens if the first capture is another one.
  // REQUIRES: HasRoom().
  Status Remove(const PayloadKey& payload, std::string_view url, bool ours);

  // Hands out late findings of a finished round, looking at up to `max` answers; returns how many it looked at.
  Result<uint64_t> TakeLate(LateSink& sink, uint64_t max, int64_t now_ns);
  bool ResultsReady() const { return drum_->ResultsReady(); }
  uint64_t waiting() const { return drum_->waiting(); }
  // `hungry`: the answers are wanted now, because nothing else is left to do.
  int64_t NextRoundTime(int64_t now_ns, bool hungry);
  Result<bool> StartRound(int64_t now_ns, bool hungry);

  const ContentCounts& counts() const { return counts_; }
  const CaptureTable& table() const { return table_; }
  const Drum& drum() const { return *drum_; }

  std::vector<Checkpointable*> Checkpointables() { return {this, log_.get(), drum_.get()}; }
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "content";

 private:
  // Second chances of entries that leave when one comes: a bound of the work.
  static constexpr int kSecondChances = 8;
  static constexpr size_t kAuxHead = 16;
  static constexpr size_t kMaxAux = kAuxHead + kMaxFirstUrl;
  // DRUM's tuples of one Look or Remove.
  static constexpr uint64_t kTuples = CaptureTable::kMostEvicted + kSecondChances + 1;

  ContentSeen(const ContentSeenOptions& options, std::unique_ptr<DiskQueue> log, std::unique_ptr<Drum> drum);
  Status Restore(Env& env, const Manifest& manifest);
  // Drops the oldest until a capture with a URL of that size fits.
  Status MakeRoom(size_t url_size);
  Status ForgetOldest();
  Status Append(const FirstCapture& capture);
  Status Store(const FirstCapture& capture);  // in DRUM

  const ContentSeenOptions options_;
  CaptureTable table_;
  std::unique_ptr<DiskQueue> log_;  // the entries of table_, in the same order
  std::unique_ptr<Drum> drum_;
  RoundPace pace_;
  ContentCounts counts_;
  std::string record_;  // scratch
  ManifestSection described_;
};

}  // namespace portolan
