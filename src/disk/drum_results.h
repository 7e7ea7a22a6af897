// DrumResults: hands out the answers of a finished round, in arrival order.
//
// Reads the tuple log once. A record's bucket number says which bucket's next answer belongs to it. Each bucket has its
// own cursor, which reads that bucket's answers block by block; all cursors share one open file.
//
// Thread: one owner. Memory bound: the log's read-ahead and one block of answers per bucket (DrumMemoryPlan's buffers).

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/drum_batch.h"
#include "disk/drum_round.h"
#include "disk/drum_types.h"
#include "disk/record_block.h"
#include "io/env.h"

namespace portolan {

class DrumResults {
 public:
  // Starts after the answers that were already taken. REQUIRES: round.done() without error; batch and options outlive
  // this.
  static Result<std::unique_ptr<DrumResults>> Open(Env& env, const std::string& dir, const DrumOptions& options,
                                                   const DrumMemoryPlan& plan, const DrumBatch& batch,
                                                   const DrumRound& round);

  // Up to `max` tuples, fewer only at the end or with an error; adds to `taken` how many. After an error of the disk or
  // the sink the next call continues with the tuple that failed.
  Status Take(DrumSink& sink, uint64_t max, uint64_t& taken);

 private:
  struct Cursor {
    uint64_t offset = 0;  // of the bucket's next block
    std::string block;    // unique bits, silent bits, values
    uint32_t rows = 0;    // in the block
    uint32_t next = 0;    // row of the block that the bucket's next record belongs to
    size_t value_at = 0;  // in the block, of the next value
  };

  DrumResults(const DrumOptions& options, const DrumBatch& batch, BlockFileReader log, BlockFileReader answers);
  Result<bool> NextRecord();
  Status NextBlock(uint32_t bucket);

  const DrumOptions& options_;
  const DrumBatch& batch_;
  const bool mixed_;
  BlockFileReader log_;
  BlockFileReader answers_;
  const uint64_t answers_end_;
  RecordBlockReader records_;
  bool at_record_ = false;  // records_ is at a tuple that is not taken yet
  uint64_t taken_ = 0;
  std::vector<Cursor> cursors_;  // by bucket
};

}  // namespace portolan
