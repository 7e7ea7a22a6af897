// A round of DRUM: merges a sealed batch with Z, bucket by bucket, and afterwards reads its answers out in order.
//
// DrumRound is the merge: a closed job for another thread. It reads the batch and the old Z and writes new files, so it
// can be thrown away at any moment and started again with the same outcome.
// DrumResults walks the tuple log beside the answers when the merge is done.
//
// Thread: Run on any one thread; done, Wait and Stop from the owner; the rest after done() by the owner.
// Memory bound: DrumMemoryPlan's shares for sorting, answers and buffers.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/drum_batch.h"
#include "disk/drum_types.h"
#include "disk/record_block.h"
#include "disk/z_file.h"
#include "io/env.h"

namespace portolan {

// Bits by bucket, in the order of arrival within the bucket.
class AnswerBits {
 public:
  AnswerBits() = default;
  explicit AnswerBits(const DrumBatch& batch);

  void Set(uint32_t bucket, uint64_t index) { words_[start_[bucket] + index / 64] |= uint64_t{1} << (index % 64); }
  bool Get(uint32_t bucket, uint64_t index) const {
    return ((words_[start_[bucket] + index / 64] >> (index % 64)) & 1) != 0;
  }
  bool empty() const { return words_.empty(); }

 private:
  std::vector<uint64_t> start_;  // first word of each bucket
  std::vector<uint64_t> words_;
};

class DrumRound {
 public:
  // REQUIRES: env, options, plan and batch outlive this; the batch does not change until done.
  DrumRound(Env& env, std::string dir, const DrumOptions& options, const DrumMemoryPlan& plan, const DrumBatch& batch,
            const ZState& z, std::string new_z_name, std::string values_name);

  void Run();
  bool done() const { return done_.load(std::memory_order_acquire); }
  void Wait();
  // Asks a running merge to end at the next bucket. Its outcome is then kClosed.
  void Stop() { stop_ = true; }

  // REQUIRES: done().
  const Status& status() const { return status_; }
  const ZState& new_z() const { return new_z_; }
  const std::string& values_name() const { return values_name_; }

 private:
  friend class DrumResults;
  struct Pair {
    uint64_t key;
    uint32_t index;  // of the row in its bucket
  };
  struct RunCursor {
    BlockFileReader reader;
    std::optional<Block> block;  // the next to be consumed
  };

  Status Merge();
  Status Gather(uint32_t bucket);
  void Sort();
  // The sorted rows of a set that only checks and updates, beside Z: the hot path of URLseen.
  Status WalkSet(uint32_t bucket);
  // The same for any operations and values.
  Status WalkAny(uint32_t bucket);
  // One key's tuples in their order. `value_` is what Z has for the key, if `stored`; afterwards what is stored.
  bool Apply(uint32_t bucket, size_t begin, size_t end, bool stored);
  // Copies Z up to, not including, `key`.
  Status CopyBelow(uint64_t key);
  // Copies what Z still has of the bucket.
  Status CopyRest(uint32_t bucket);
  Status WriteValues(uint32_t bucket);
  bool Expunged() const { return options_.expunge && options_.expunge(z_->key(), z_->value()); }
  const char* Row(uint32_t index) const { return rows_.data() + size_t{index} * format_.size(); }

  Env& env_;
  const std::string dir_;
  const DrumOptions& options_;
  const DrumMemoryPlan& plan_;
  const DrumBatch& batch_;
  const ZState old_z_;
  const std::string new_z_name_;
  const std::string values_name_;
  const RowFormat format_;

  std::optional<ZReader> z_;
  std::optional<ZWriter> writer_;
  std::optional<BlockFileWriter> values_;
  std::vector<RunCursor> cursors_;
  // Of the bucket being merged:
  std::string rows_;              // in arrival order
  std::vector<Pair> pairs_;       // sorted by key, equal keys in arrival order
  std::vector<uint32_t> starts_;  // of the sorting groups
  std::string found_;             // value that each row found, by index
  std::string value_;             // of the key being applied
  std::string value_block_;

  AnswerBits unique_;
  AnswerBits silent_;                   // rows that want no answer; only with mixed operations
  std::vector<uint64_t> values_start_;  // offset of each bucket's first block of values
  ZState new_z_;
  Status status_;

  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

class DrumResults {
 public:
  // Skips the answers that were taken before. REQUIRES: round.done() without error; round outlives this.
  static Result<std::unique_ptr<DrumResults>> Open(const DrumRound& round);

  // Up to `max` tuples; fewer only at the end.
  Result<uint64_t> Take(DrumSink& sink, uint64_t max);
  uint64_t taken() const { return taken_; }

 private:
  struct ValueCursor {
    std::optional<BlockFileReader> reader;
    std::string block;  // values not yet handed out
    size_t at = 0;
  };

  explicit DrumResults(const DrumRound& round);
  Result<bool> NextRecord();
  Result<std::string_view> NextValue(uint32_t bucket);

  const DrumRound& round_;
  std::optional<BlockFileReader> log_;
  RecordBlockReader records_;
  uint64_t taken_ = 0;
  struct Cursor {
    uint64_t next = 0;  // row of the bucket that the next record of that bucket belongs to
    uint64_t end = 0;   // rows of the bucket
  };
  std::vector<Cursor> rows_;  // by bucket
  std::vector<ValueCursor> cursors_;
};

}  // namespace portolan
