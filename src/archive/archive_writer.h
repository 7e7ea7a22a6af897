// ArchiveWriter: where archived answers go: WARC files in one or more directories, a writing thread for each.
//
// The shard hands over gzip members that are ready (parse/ made them); here they are appended, counted into the index
// of their file, and made durable together with everything else of a checkpoint. Items go to the directory that was
// given the least so far.
//
// Checkpoint: StartFlush lets each thread sync what it was given before and note its lengths; the shard goes on
// meanwhile. Describe is that state: three numbers a directory, whatever the number of files (warc_directory.h). Files
// live outside of the manifest's directory, so they are not in the manifest's list but in its numbers, and recovery of
// them is Open's. The owner commits a checkpoint before its first Write to a directory that no manifest knows
// (needs_commit): without one Open takes any file with its prefix for somebody else's and refuses. Directories are told
// apart by what they are, not by their names: in one that was given twice each would remove the other's files.
//
// Errors: the thread that failed stands still with what it has, on_error tells the owner, other directories go on.
// After kNoSpace the owner may make room and call Resume; after anything else Resume does nothing, and it should stop
// the crawl: the last checkpoint stands. A sync never says kNoSpace (SyncOnce). A flush that meets an error, or a
// thread that stands still, ends with that error, and Resume does not revive it.
//
// Thread: one owner; on_error and StartFlush's callback run on writing threads, with no lock held.
// Memory bound, a directory: options.queue_bytes waiting, as much being written, AppendFile's buffers, index_memory.
// At the bound: TryWrite says false and the item is untouched.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "archive/stubborn_thread.h"
#include "archive/warc_directory.h"
#include "base/result.h"
#include "disk/manifest.h"
#include "flow/page_result.h"
#include "io/clock.h"
#include "io/env.h"

namespace portolan {

class ArchiveWriter : public Checkpointable {
 public:
  struct Options {
    std::vector<std::string> directories;  // at least one
    WarcDirectoryOptions files = {};       // of each; its dir is not used
    uint64_t queue_bytes = uint64_t{32} << 20;
    bool threads = true;  // false: everything happens inside the calls
    std::function<void(const Error&)> on_error = {};
  };

  // As the manifest's section says. REQUIRES: env and clock outlive this.
  static Result<std::unique_ptr<ArchiveWriter>> Open(Env& env, const Clock& clock, const Manifest& manifest,
                                                     const Options& options);
  // What was not flushed is gone: no checkpoint knows of it. Finish and a commit come before.
  ~ArchiveWriter() override;

  // False when there is no room, or all directories stand still. An item without bytes is taken and nothing happens.
  bool TryWrite(ArchiveItem&& item);

  // `done` comes once, from a writing thread, or from inside this call where there are no threads.
  // REQUIRES: no other flush is going on.
  void StartFlush(std::function<void(Status)> done) override;
  Status Flush() override;
  ManifestSection Describe() const override;
  Status Committed() override;

  // Closes all files that grow and sorts their indexes; a flush and a commit make that the state. Writing may go on,
  // with new files.
  void CloseFiles();
  // CloseFiles and Flush: the end of a crawl, before the last commit.
  Status Finish();

  bool stalled() const;
  void Resume();

  // A directory is new to the manifest: a commit must come before the first Write. From Open to Committed.
  bool needs_commit() const { return needs_commit_; }

  struct Totals {
    uint64_t items = 0;
    uint64_t bytes = 0;
    uint64_t files = 0;  // begun since Open
  };
  Totals totals() const;

  static constexpr std::string_view kName = "archive";
  static constexpr std::string_view kKind = "archive";

 private:
  struct Barrier;
  struct Lane {
    explicit Lane(WarcDirectory opened) : directory(std::move(opened)) {}
    WarcDirectory directory;  // the writing thread's
    uint64_t given = 0;       // bytes; the owner's
    std::unique_ptr<StubbornThread> thread;
  };

  ArchiveWriter(Env& env, const Options& options) : env_(env), options_(options) {}
  static Status TellApart(Env& env, const std::vector<std::string>& directories);
  Status CloseLane(Lane& lane);
  void FailFlush(const Error& error);
  void Reach(const std::shared_ptr<Barrier>& barrier, size_t lane, const WarcDirectory::Mark& mark);

  Env& env_;
  const Options options_;
  std::atomic<uint64_t> next_serial_{1};
  uint64_t first_serial_ = 1;
  bool needs_commit_ = true;  // the owner's
  std::atomic<uint64_t> items_{0};
  std::atomic<uint64_t> bytes_{0};

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<Barrier> barrier_;            // of the flush that is going on
  std::vector<WarcDirectory::Mark> described_;  // as of the last flush
  struct Retired {
    size_t lane;
    WarcDirectory::ClosedPart part;
  };
  std::vector<Retired> retired_;  // parts of finished files that the last manifest may still need

  std::vector<std::unique_ptr<Lane>> lanes_;  // last: its threads use all of the above
};

// Whether, by the manifest, no WARC file of the archive grows, and there are any: the end of a crawl, when the index of
// the whole archive stands.
Result<bool> ArchiveIsFinished(const Manifest& manifest);

// One index of the whole archive: the sorted .cdxj files of the directories, merged into `output`.
Status MergeArchiveIndex(Env& env, const std::vector<std::string>& directories, const std::string& output);

}  // namespace portolan
