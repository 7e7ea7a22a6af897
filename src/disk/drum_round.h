// DrumRound: merges a sealed batch of DRUM with Z, bucket by bucket, and writes the answers to a file.
//
// It is a self-contained job for another thread: it reads the batch and the old Z, and writes a new Z and a file of
// answers. So it can be dropped at any time and started again with the same result.
//
// Answers are in the order of arrival within each bucket: one bit per row (unique), a second bit where operations are
// mixed (wants no answer), and the values that duplicates found. On disk they cost a quarter of a byte per row, so they
// do not limit the size of a round. DrumResults (drum_results.h) reads them beside the tuple log.
//
// Thread: Run on any one thread; done, Wait and Stop from the owner; the rest after done() by the owner.
// Memory bound: DrumMemoryPlan's shares for sorting and buffers.

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
#include "disk/z_file.h"
#include "io/env.h"

namespace portolan {

class DrumRound {
 public:
  // REQUIRES: env, options, plan and batch live, and the batch does not change, until done. Owner and job share this
  // object: the owner may see done() while the job is still reporting.
  DrumRound(Env& env, std::string dir, const DrumOptions& options, const DrumMemoryPlan& plan, const DrumBatch& batch,
            const ZState& z, std::string new_z_name, std::string answers_name);

  void Run();
  bool done() const { return done_.load(std::memory_order_acquire); }
  void Wait();
  // Asks a running merge to stop at the next bucket. Its result is then kClosed.
  void Stop() { stop_ = true; }

  // REQUIRES: done().
  const Status& status() const { return status_; }
  const ZState& new_z() const { return new_z_; }
  const std::string& answers_name() const { return answers_name_; }
  // Offset of the first block of each bucket's answers.
  const std::vector<uint64_t>& answers_start() const { return answers_start_; }

 private:
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
  // One key's tuples in their order. `value_` is the key's value in Z if `stored`; afterwards the value to be stored.
  bool Apply(size_t begin, size_t end, bool stored);
  // Copies Z up to, not including, `key`.
  Status CopyBelow(uint64_t key);
  // Copies what Z still has of the bucket.
  Status CopyRest(uint32_t bucket);
  Status WriteAnswers(uint32_t bucket);
  static void SetBit(std::string& bits, size_t index) {
    bits[index / 8] = static_cast<char>(bits[index / 8] | (1 << (index % 8)));
  }
  static bool Bit(const std::string& bits, size_t index) { return ((bits[index / 8] >> (index % 8)) & 1) != 0; }
  // Writes an entry to the new Z.
  Status Keep(uint64_t key, std::string_view value) {
    if (options_.visit) options_.visit(key, value);
    writer_->Push(key, value);
    return writer_->full() ? writer_->WriteBlock() : Status();
  }
  bool Expunged() const { return options_.expunge && options_.expunge(z_->key(), z_->value()); }
  const char* Row(uint32_t index) const { return rows_.data() + size_t{index} * format_.size(); }

  Env& env_;
  const std::string dir_;
  const DrumOptions& options_;
  const DrumMemoryPlan& plan_;
  const DrumBatch& batch_;
  const ZState old_z_;
  const std::string new_z_name_;
  const std::string answers_name_;
  const RowFormat format_;

  std::optional<ZReader> z_;
  std::optional<ZWriter> writer_;
  std::optional<BlockFileWriter> answers_;
  std::vector<RunCursor> cursors_;
  // Of the bucket being merged:
  std::string rows_;              // in arrival order
  std::vector<Pair> pairs_;       // sorted by key, equal keys in arrival order
  std::vector<uint32_t> starts_;  // of the sorting groups
  std::string found_;             // value that each row found, by index
  std::string value_;             // of the key being applied
  std::string unique_;            // bits by row index
  std::string silent_;            // likewise: rows that want no answer; only with mixed operations
  std::string answer_block_;

  std::vector<uint64_t> answers_start_;
  ZState new_z_;
  Status status_;

  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace portolan
