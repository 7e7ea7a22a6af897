// DRUM: Disk Repository with Update Management (thesis ch. IV, paper §4). A set or map of 64-bit keys that outgrows
// memory by any factor, asked in batches at the speed of sequential files.
//
// Tuples <op, key, value, aux> stream in. The answers come back later, in arrival order, each with its aux:
//   check          is the key stored? with which value?
//   update         store the value, or combine it with the one that is there. No answer.
//   check+update   the answer of check, then the update.
// The answers are those of a map that takes the tuples one at a time: of two equal keys that are checked and updated in
// one batch, the first is unique and the second a duplicate.
//
// How (docs/formats/drum.md has the files):
//   Add      The aux goes to one compressed log in arrival order, with the number of the key's bucket, its top bits.
//            The row (key, op, value) goes to that bucket in RAM. When RAM is full, a round starts, or all buckets are
//            written to disk as one run and emptied.
//   round    For each bucket in turn: gather its rows (from the runs and from RAM, so in arrival order), sort them by
//            key, walk them beside the bucket's part of Z, write the new Z and one bit per row. One pass through Z for
//            all buckets. It runs on an Executor while tuples keep arriving.
//   results  Read the log once, in order. The bucket number of a record says which bucket's next bit is its answer.
// Departures from the paper: aux is not scattered (one log in arrival order compresses 2.6 to 3.9 ×, k logs 1.5 ×, and
// one file is open, not k); rows need no pointer to their aux, because the order within a bucket is the order in the
// log; rows stay in RAM while merging them at once costs no more disk traffic than writing them out; Z is gap-coded.
//
// Thread: one owner calls everything; a round runs on the executor and touches only what the owner leaves alone until
// the round is done. Files that a round made superfluous, of any size, are removed on the executor, too.
// Memory bound: Options::memory, however many keys are stored (DrumMemoryPlan says how it is divided). At the bound
// tuples wait on disk, up to Options::disk bytes; at that bound Add returns kBusy until results are taken. Opened with
// less memory than it had before, a DRUM writes out what does not fit; the next round of each of its two batches still
// sorts buckets that were filled under the old bound, which takes up to 3/16 of that.
// Durability: Checkpointable. What was added before a commit is there after a crash; answers taken before it are not
// given again; a round that was running starts again with the same answers.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/bucket_table.h"
#include "disk/drum_batch.h"
#include "disk/drum_results.h"
#include "disk/drum_round.h"
#include "disk/drum_types.h"
#include "disk/manifest.h"
#include "disk/recent_keys.h"
#include "disk/record_block.h"
#include "disk/remove_later.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan {

class Drum : public Checkpointable {
 public:
  // Opens the state that the manifest's section describes, or an empty DRUM when there is no section. `executor` runs
  // the rounds and must outlive this. `memory` may differ from before; if it is too little, kInvalidArgument says how
  // much is enough.
  static Result<std::unique_ptr<Drum>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                            const DrumOptions& options);
  // Waits for a running round to stop at the next bucket, and for files that are being removed.
  ~Drum() override;

  // kBusy at the bound; kNoSpace or kIo when the disk fails. In both cases the tuple was not taken and may be added
  // again.
  Status Add(const DrumTuple& tuple);

  // How many more tuples Add is guaranteed to take, whatever their keys, with aux texts of at most `longest` bytes. It
  // is less than plan().empty_room() only while a round is active (or after one failed), and rises to that again when
  // the answers are taken.
  uint64_t Room(size_t longest) const;

  // Starts a round over what has arrived, for a caller that needs answers now. False when there is nothing to do or not
  // all answers of the last round are taken.
  Result<bool> StartRound();

  // Hands the answers of up to `max` tuples to the sink and returns the number of tuples (including duplicates that are
  // not reported to the sink). 0: no round is done, or all its answers are taken. An error of the round is returned
  // here, once; the tuples are kept and the next round tries again. After an error of the sink or of reading, the
  // answers before it count as taken, and the next call continues with the one that failed. The sink may call Add.
  Result<uint64_t> TakeResults(DrumSink& sink, uint64_t max);

  // Rounds and results until every tuple that was added is answered. Blocks.
  Status Drain(DrumSink& sink);

  // A round is running or its answers are not all taken.
  bool RoundActive() const { return round_ != nullptr; }
  bool ResultsReady() const { return round_ != nullptr && round_->done(); }
  void WaitForRound() {
    if (round_) round_->Wait();
  }

  uint64_t keys() const { return z_.keys; }  // in Z: tuples that wait are not counted
  uint64_t z_bytes() const { return z_.length; }
  uint64_t waiting() const { return open_.tuples + sealed_.tuples - sealed_.taken; }  // tuples without answer
  uint64_t rounds() const { return rounds_; }
  uint64_t known() const { return known_; }  // tuples that needed no round because their key was recent
  uint64_t spilled_rows() const { return spilled_rows_; }
  uint64_t logged_bytes() const { return logged_bytes_; }  // of tuple logs, ever written
  const DrumMemoryPlan& plan() const { return plan_; }

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override;

  static constexpr std::string_view kKind = "drum";

 private:
  Drum(Env& env, std::string dir, Executor& executor, const DrumOptions& options);
  Status Restore(const ManifestSection& section);
  Status RestoreBatch(const ManifestSection& section, uint64_t id, DrumBatch& batch);
  Status CountRun(const ManifestSection::FileEntry& file, DrumBatch& batch);
  // Loads the rows of a row log into RAM, or into runs when they do not fit.
  Status RestoreRows(const ManifestSection::FileEntry& file, DrumBatch& batch);
  Status ForEachRows(const ManifestSection::FileEntry& file, FileKind kind,
                     const std::function<Status(const Block&)>& each);
  void Begin(DrumBatch& batch, uint64_t id);  // an empty one

  // Makes room in RAM for more rows: by a round or a run. kBusy at the bound.
  Status MakeRoom();
  uint64_t OnDisk() const;  // bytes of the open batch
  bool AtLimit() const;
  // Rewriting Z now costs no more bytes than writing the rows out and reading them back.
  bool RoundIsCheap() const;
  Status Spill();
  Status WriteRun(DrumBatch& batch);     // its rows in RAM, which is empty then
  Status WriteTuples(DrumBatch& batch);  // the block of the tuple log that is being filled
  Status WriteRows(DrumBatch& batch);    // likewise of the row log
  Result<bool> BeginRound();
  void EndRound();  // all answers are taken
  // Removes files, on the executor. One that a manifest names or is about to name goes with the next commit.
  // REQUIRES: no handle on them is open here.
  void Retire(const std::vector<std::string>& names);

  Env& env_;
  const std::string dir_;
  Executor& executor_;
  const DrumOptions options_;
  const DrumMemoryPlan plan_;

  ChunkPool pool_;
  RecentKeys recent_;
  ZState z_;
  DrumBatch open_;    // takes tuples
  DrumBatch sealed_;  // in a round, or waiting for one after a crash or a failure; id 0: none
  std::shared_ptr<DrumRound> round_;
  std::unique_ptr<DrumResults> results_;
  uint64_t next_id_ = 1;  // of batches and Z files
  uint64_t rounds_ = 0;
  uint64_t known_ = 0;
  uint64_t spilled_rows_ = 0;
  uint64_t logged_bytes_ = 0;
  std::vector<std::string> retired_;
  RemoveLater removals_;
  ManifestSection described_;  // as of the last Flush, which a commit may be about to make durable
  ManifestSection committed_;
};

}  // namespace portolan
