// The types that DRUM's callers use: operations, tuples, answers, options, and how memory is divided.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/block_format.h"

namespace portolan {

// On disk: never renumber.
enum class DrumOp : uint8_t { kCheck = 0, kUpdate = 1, kCheckUpdate = 2 };

struct DrumTuple {
  DrumOp op = DrumOp::kCheckUpdate;
  uint64_t key = 0;
  std::string_view value;  // of the size given in the options; looked at only by updates
  std::string_view aux;    // comes back with the answer
};

struct DrumAnswer {
  bool unique = false;     // the key was not stored
  std::string_view value;  // as stored before this tuple; empty when unique
  std::string_view aux;    // both views are valid only during OnAnswer
};

class DrumSink {
 public:
  virtual ~DrumSink() = default;
  // An error ends the call that hands out answers and is returned by it. This answer then counts as not taken and is
  // the first to come again.
  virtual Status OnAnswer(const DrumAnswer& answer) = 0;
};

struct DrumOptions {
  std::string name;       // of the manifest's section and the beginning of the files' names
  size_t value_size = 0;  // bytes of a value; 0 makes a set of keys

  // R: the most that this DRUM allocates, apart from a fixed few hundred kilobytes for file handles and compression
  // contexts.
  uint64_t memory = uint64_t{64} << 20;
  // D: the most that waiting tuples may take on disk.
  uint64_t disk = uint64_t{16} << 30;

  // When set, every tuple has this operation, and rows spend no byte on it.
  std::optional<DrumOp> only_op;
  // Report duplicates to the sink, too. URLseen does not need them.
  bool emit_duplicates = true;
  // What an update does to a stored value: overwrite is the default; adding and merging are the caller's functions.
  // `stored` has value_size bytes and becomes the new value.
  std::function<void(char* stored, std::string_view incoming)> combine;
  // Stored entries for which this is true are dropped when a round meets them, before the round's own tuples: old
  // entries leave as Z is rewritten.
  std::function<bool(uint64_t key, std::string_view value)> expunge;
  // For a caller that wants to see every entry while Z is rewritten (ranks, totals). `visit` is called for every entry
  // of the new Z, once each, in rising key order; `on_round_begin` is called before the first entry, even if there are
  // none. Both are called on the executor's thread. A round that fails or is stopped has visited some entries and is
  // followed by another on_round_begin. So use what was collected only when all answers of the round are taken, which
  // is when rounds() rises.
  std::function<void()> on_round_begin;
  std::function<void(uint64_t key, std::string_view value)> visit;

  // Bytes of memory for RecentKeys: tuples whose key was seen recently are known to be duplicates and are dropped at
  // once. Used only where that changes no answer: every tuple is check+update without value, duplicates are not
  // emitted, nothing is expunged. Chosen from memory when absent; 0 turns it off.
  std::optional<uint64_t> recent_bytes;

  Codec codec = Codec::kLz4;  // of the aux log; kZstd is the compact setting
  // k = 2^bucket_bits; chosen from memory when absent. At most 8: more would not help, see MemoryPlan.
  std::optional<unsigned> bucket_bits;
  // This DRUM is in no manifest: nothing is kept for recovery, and no row log is written.
  bool durable = true;
  // Called on the executor's thread when a round is done: post an event to the owner there.
  std::function<void()> on_round_done;
};

// How R is divided (Theorem 2 divides it between k file buffers and one bucket; runs need no file buffers, so more is
// left).
//   1/32  of all that follows: the recent keys, where they may be used
//   3/4   rows in RAM, in chunks, of the open and the sealed batch together
//   3/16  the largest bucket of a round: its rows, their sorting pairs and their answers
//   1/16  buffers of the logs, of Z, of the runs and of the answers
struct DrumMemoryPlan {
  static constexpr unsigned kMostBucketBits = 8;
  unsigned bucket_bits = 0;
  uint64_t recent_bytes = 0;
  size_t row_size = 0;
  size_t chunk_bytes = 0;
  size_t chunks = 0;         // in the pool
  uint64_t rows_in_ram = 0;  // of the open batch, before a round or a run
  uint64_t sure_in_ram = 0;  // of them guaranteed, whatever their buckets: the last chunk of a bucket may be half empty
  uint64_t rows_per_bucket = 0;  // what a round can sort
  size_t block_size = 0;         // raw bytes of a block of a log
  size_t read_ahead = 0;
  uint32_t answers_per_block = 0;  // a multiple of 8
  size_t runs = 0;                 // read side by side in a round
  size_t max_aux = 0;              // bytes of one aux

  uint64_t rows_per_chunk() const { return chunk_bytes / row_size; }
  // Tuples that an empty batch takes, whatever their keys and texts.
  uint64_t empty_room() const;

  static constexpr uint64_t kMinMemory = uint64_t{256} << 10;
  static Result<DrumMemoryPlan> Make(const DrumOptions& options);
};

}  // namespace portolan
