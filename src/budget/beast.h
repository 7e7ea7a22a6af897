// Beast: budget enforcement with anti-spam tactics (IRLbot thesis, ch. VII.2 and Theorem 7).
//
// A URL beyond its domain's budget is delayed, never dropped. The reputation stage gives each unique URL its place: how
// many budgets of its domain are queued before it. Queues Q on disk are numbered by ticks; tick t is the current queue,
// which is read, and those up to t + j - 1 are written: place 0 goes to t + 1, place 1 to t + 2, and so on. What does
// not fit before the horizon waits in Q_F. Files are reused in a ring: queue n is slot n mod max_queues.
//
// When the current queue is empty the tick moves on, past empty queues at once. After a pass, j queues emptied, j
// doubles and Q_F is read once, in the order in which URLs came, while the crawl continues: each URL in it is handed
// back to be judged again, with the budget that its domain has by now, and returns to a queue or to Q_F's end. Since
// passes get twice as long each time, Q_F, which grows with the crawl, costs the same per page: at most 2b(2L - 1)
// bytes, whatever the size of the crawl.
//
// Where this departs from the thesis:
//   - at max_queues, which the thesis calls a limit of the system, j stays but passes continue to double up to
//     longest_pass, so the bound holds there too;
//   - when all queues are empty and Q_F is not (a crawl of few domains), the oldest `starved_scan` URLs of Q_F are
//     handed back at once instead of all: a small crawl does not wait, and a giant domain does not make every few
//     pages cost a reading of all its URLs. The rest stay in order, so every URL gets its turn;
//   - Q_F with nothing in it ends a pass without doubling j.
//
// Thread: one owner. Reads no clock and no randomness.
// Invariants (CheckInvariants): a URL is in one queue, in Q_F, or handed back and not yet returned; queues lie between
// the tick and the horizon; a re-scan covers no more than Q_F holds; 2 <= j <= max_queues.
// Memory bound: 1 KiB for each queue that was never used, 64 KiB of the compressor for each with an unfinished file,
// and for each that is being filled or read three times block_size more: 128 queues in use take less than 20 MiB. A
// queue with an unfinished file holds it open.
// When the disk is full: a failed Place has changed nothing and may be tried again.
// Durability: Checkpointables. URLs that were handed back and not returned belong to the stage that got them: they must
// be in that stage's checkpoint of the same commit.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/counting_env.h"
#include "io/env.h"

namespace portolan {

struct BeastOptions {
  std::string name = "beast";
  uint32_t initial_queues = 2;  // j of the first pass, 2 … max_queues
  // The ring of files. Fixed when a crawl begins: a store that exists keeps the number it was made with.
  uint32_t max_queues = 128;
  uint64_t longest_pass = uint64_t{1} << 20;   // in queues; values below max_queues count as max_queues
  uint64_t starved_scan = uint64_t{16} << 10;  // URLs of Q_F that are handed back at a time in an idle crawl
  size_t block_size = size_t{16} << 10;        // raw bytes of a block, for each queue
  // Of Q_F's files and of the queues'. A queue's file is reused until it is full, so each queue of the ring may keep up
  // to this much already-read data on disk.
  uint64_t failed_segment_size = uint64_t{64} << 20;
  uint64_t queue_segment_size = uint64_t{16} << 20;
  Codec codec = Codec::kLz4;
  bool durable = true;  // false when no manifest is ever committed: consumed files are removed at once
};

// What the reputation stage decided about a URL.
struct BudgetVerdict {
  uint32_t judged_tick = 0;  // tick() when it was judged
  uint32_t place = 0;        // budgets of its domain that are queued before it
  bool later = false;        // place is beyond the horizon of that time
  bool fresh = true;         // false: it comes back from PopFailed
};

struct BeastCounts {
  uint64_t queued = 0;       // URLs in queues now
  uint64_t failed = 0;       // … in Q_F now
  uint64_t out = 0;          // … handed back by PopFailed and not returned
  uint64_t placed = 0;       // fresh URLs ever taken
  uint64_t popped = 0;       // URLs ever given out by Pop
  uint64_t rebudgeted = 0;   // … by PopFailed
  uint64_t passes = 0;       // re-scans of all of Q_F
  uint64_t starved = 0;      // re-scans because there was nothing else
  uint64_t raw_written = 0;  // bytes of records, as the theorems count
  uint64_t raw_read = 0;
};

class Beast {
 public:
  static Result<std::unique_ptr<Beast>> Open(Env& env, const Manifest& manifest, const BeastOptions& options);
  ~Beast();

  // Takes a URL. Each that PopFailed gave must come here once with fresh = false.
  Status Place(std::string_view record, const BudgetVerdict& verdict);

  // Up to `max` of the current queue's oldest records; first moves to the next queue that has some. Empty: everything
  // is empty, or all that is left is being judged again. A batch never mixes queues: tick() is its queue.
  Result<std::vector<std::string>> Pop(size_t max);

  // A re-scan is running: PopFailed has something.
  bool WantsRebudget() const { return rescan_left_ > 0; }
  // How many PopFailed should give now, so that the re-scan takes 15/16 of its pass, a steady load; when there is
  // nothing else to crawl, as many as keep `starved_scan` handed out. Asking for more is allowed, but makes the disk
  // load uneven.
  uint64_t RebudgetDue() const;
  Result<std::vector<std::string>> PopFailed(size_t max);

  uint32_t tick() const { return static_cast<uint32_t>(tick_); }
  uint32_t queues() const { return static_cast<uint32_t>(queues_); }       // j
  uint32_t horizon() const { return static_cast<uint32_t>(queues_ - 1); }  // places that fit: below it
  uint64_t pass_length() const { return pass_length_; }                    // queues from one re-scan to the next
  uint64_t emptied() const { return emptied_; }                            // … of them that are done
  uint64_t rescan_left() const { return rescan_left_; }
  bool empty() const { return counts_.queued + counts_.failed + counts_.out == 0; }
  const BeastCounts& counts() const { return counts_; }
  // Bytes of files, compressed, since Open.
  uint64_t disk_bytes_written() const { return env_.counters().bytes_written; }
  uint64_t disk_bytes_read() const { return env_.counters().bytes_read; }

  // All of them must be in every commit. Valid as long as this.
  std::vector<Checkpointable*> Checkpointables();
  Status CheckInvariants() const;

  static constexpr std::string_view kKind = "beast";

 private:
  // The numbers, as a section without files.
  class State : public Checkpointable {
   public:
    State(const Beast& beast, std::string name) : beast_(beast), name_(std::move(name)) {}
    Status Flush() override;
    ManifestSection Describe() const override { return described_; }
    Status Committed() override { return {}; }

   private:
    const Beast& beast_;
    const std::string name_;
    ManifestSection described_;
  };

  Beast(Env& env, const BeastOptions& options);
  Status Restore(const ManifestSection& section);
  DiskQueue& slot(uint64_t number) const { return *ring_[number % ring_.size()]; }
  // Moves to the next queue that has something; false when there is none.
  bool Advance();
  void EndPass();
  void StartRescan(uint64_t urls) { rescan_left_ = rescan_size_ = urls; }
  void ScanStarved();
  void Double() { queues_ = std::min<uint64_t>(2 * queues_, ring_.size()); }
  bool rescanning() const { return rescan_left_ > 0 || counts_.out > 0; }

  CountingEnv env_;
  const BeastOptions options_;
  std::vector<std::unique_ptr<DiskQueue>> ring_;
  std::unique_ptr<DiskQueue> failed_;  // Q_F
  State state_;

  uint64_t tick_ = 0;  // the number of the current queue; 32 bits of it are used
  uint64_t queues_;    // j
  uint64_t pass_length_;
  uint64_t emptied_ = 0;
  uint64_t rescan_left_ = 0;  // URLs at the front of Q_F that the re-scan has not read
  uint64_t rescan_size_ = 0;  // … when it began
  uint64_t queue_size_ = 0;   // URLs of the current queue when it became the current one
  BeastCounts counts_;
};

}  // namespace portolan
