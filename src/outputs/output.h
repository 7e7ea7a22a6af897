// Output: what all outputs of a crawl have in common. An output is a named set of append-only files in one or more
// directories, each of them a lane with its own writing thread, and is part of every checkpoint.
//
// Files of a lane carry serials that only grow. For each lane the checkpoint holds the highest serial that was used and
// the length of the file that grows (OutputMark). After a crash files with a higher serial are removed, the one that
// grew is cut to its length, and lower ones are finished and durable. So the section in the manifest is a few numbers,
// however many files there are, and a reader of the committed part needs nothing else (follow/):
//
//   section NAME output     lanes = n, 0.serial, 0.length, 0.index, 1.serial, …     whole = 1: since the crawl's begin
//
// Files are outside of the manifest's directory, so the output recovers them itself (LaneFiles). The owner commits a
// checkpoint before it writes to an output that is not in the manifest yet (needs_commit): otherwise files with its
// prefix would be treated as another crawl's and refused.
//
// Checkpoint: StartFlush lets each thread sync what it was given before and record its mark; the owner continues to
// work.
//
// Errors: the thread that failed stops and keeps what it has ("stalled"), on_error tells the owner, other lanes
// continue. After kNoSpace the owner may make room and call Resume; after anything else Resume does nothing, and the
// owner should stop the crawl: the last checkpoint stays valid. A sync never returns kNoSpace (SyncOnce). A flush that
// meets an error, or a stalled thread, ends with that error, and Resume does not continue it.
//
// Thread: one owner; on_error, on_done and StartFlush's callback run on writing threads, with no lock held.
// Memory bound: what was written and is not on disk yet (waiting_bytes), which the owner bounds.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "outputs/retrying_writer.h"

namespace portolan {

// The state of a lane at a checkpoint.
struct OutputMark {
  uint64_t serial = 0;        // the highest that was used; 0: none
  uint64_t length = 0;        // of the file that grows; 0: there is none
  uint64_t index_length = 0;  // of that file's index, where the output has one
  bool operator==(const OutputMark&) const = default;
};

// The manifest's section of an output.
struct CommittedOutput {
  std::vector<OutputMark> lanes;
  bool whole = false;  // it was on from the crawl's begin to this checkpoint
};

inline constexpr std::string_view kOutputKind = "output";
// nullopt: the manifest has no output of that name.
Result<std::optional<CommittedOutput>> FindOutput(const Manifest& manifest, std::string_view name);

// The files of one lane, on its writing thread.
class LaneFiles {
 public:
  virtual ~LaneFiles() = default;
  // Makes everything so far durable; may be called again after kNoSpace.
  virtual Result<OutputMark> Sync() = 0;
};

struct OutputWriting {
  bool threads = true;  // false: everything happens inside the calls
  std::function<void(const Error&)> on_error = {};
  std::function<void()> on_done = {};  // waiting_bytes fell
};

class Output : public Checkpointable {
 public:
  // `done` is called once, on a writing thread, or inside this call if there are no threads.
  // REQUIRES: no other flush is going on.
  void StartFlush(std::function<void(Status)> done) final;
  Status Flush() final;
  ManifestSection Describe() const final;
  Status Committed() override;

  bool stalled() const;
  void Resume();
  uint64_t waiting_bytes() const;
  // Finishes what was given before, unless a lane is stalled, and ends the threads. What is given after it is dropped.
  void StopWriting();

  // A lane is not in the manifest yet: a commit must come before the first write. True from Open to Committed.
  bool needs_commit() const { return needs_commit_; }
  const std::string& name() const { return name_; }

 protected:
  // `known` is this output's section of the manifest; it has at most `lanes` lanes.
  Output(std::string name, const std::optional<CommittedOutput>& known, bool whole, size_t lanes);
  // Does not stop the threads: a derived class calls StopWriting in its destructor, before it destroys what its steps
  // use.
  ~Output() override;

  // Sets the files of all lanes. REQUIRES: called once, with `lanes` of them.
  void Start(std::vector<std::unique_ptr<LaneFiles>> files, const OutputWriting& writing);
  LaneFiles& files(size_t lane) { return *lanes_[lane].files; }
  RetryingWriter& writer(size_t lane) { return *lanes_[lane].writer; }
  const RetryingWriter& writer(size_t lane) const { return *lanes_[lane].writer; }
  size_t lanes() const { return lanes_.size(); }
  OutputMark described(size_t lane) const;
  // A flush is about to begin: hands what the owner's side still holds to the writers.
  virtual void BeforeFlush() {}

 private:
  struct Barrier;
  struct Lane {
    std::unique_ptr<LaneFiles> files;  // the writing thread's
    std::unique_ptr<RetryingWriter> writer;
  };

  void FailFlush(const Error& error);
  void Reach(const std::shared_ptr<Barrier>& barrier, size_t lane, const OutputMark& mark);

  const std::string name_;
  const bool whole_;
  bool needs_commit_;  // the owner's

  mutable std::mutex mutex_;
  std::shared_ptr<Barrier> barrier_;   // guarded by mutex_; of the flush that is going on
  std::vector<OutputMark> described_;  // guarded by mutex_; as of the last flush

  std::vector<Lane> lanes_;  // last: its threads use all of the above
};

}  // namespace portolan
