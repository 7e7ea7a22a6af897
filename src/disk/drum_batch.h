// DrumBatch: the tuples that one round answers, in RAM and on disk. Only Drum and its rounds use it.
//
// Files of batch n of the DRUM "seen" (docs/formats/drum.md):
//   seen-000n.tuples       aux texts with bucket numbers, in arrival order
//   seen-000n-i.rows       rows in arrival order that are also in RAM: read only after a crash
//   seen-000n-i.run        rows bucket by bucket that are no longer in RAM
//   seen-000n.answers      answers of the round, bucket by bucket

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk/block_file.h"
#include "disk/bucket_table.h"
#include "disk/record_block.h"

namespace portolan {

struct DrumRun {
  std::string name;
  uint64_t length = 0;
};

struct DrumBatch {
  uint64_t id = 0;      // 0: there is no batch
  uint64_t tuples = 0;  // taken
  uint64_t taken = 0;   // answers handed out

  std::optional<BlockFileWriter> tuple_log;
  std::optional<BlockFileWriter> row_log;
  RecordBlockBuilder tuple_block;  // not yet in the log
  std::string row_block;           // likewise
  uint32_t next_row_log = 0;
  uint32_t next_run = 0;

  std::unique_ptr<BucketTable> table;  // rows in RAM
  std::vector<DrumRun> runs;           // rows on disk, older than those in RAM
  std::vector<uint64_t> rows_in_runs;  // by bucket
  uint64_t largest_in_runs = 0;        // of rows_in_runs
  uint64_t tuples_in_runs = 0;
  uint64_t bytes_in_runs = 0;

  // No bucket has more rows.
  uint64_t largest_bucket() const { return largest_in_runs + table->largest(); }
  uint64_t rows(uint32_t bucket) const { return rows_in_runs[bucket] + table->rows(bucket); }
};

// A file's name without its directory.
inline std::string NameOf(const BlockFileWriter& file) { return file.path().substr(file.path().rfind('/') + 1); }

// Z as it stands.
struct ZState {
  std::string name;  // empty: no key yet
  uint64_t length = 0;
  uint64_t keys = 0;
};

// The rows' parts.
struct RowFormat {
  size_t value_size;
  bool has_op;

  size_t size() const { return 8 + (has_op ? 1 : 0) + value_size; }
  size_t value_at() const { return has_op ? 9 : 8; }
};

}  // namespace portolan
