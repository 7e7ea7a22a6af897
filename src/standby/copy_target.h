// CopyTarget: a copy of a crawl's committed files on another machine, brought from checkpoint to checkpoint.
//
// One pass: ask for the newest checkpoint's list, append what the files here lack, sync, put that checkpoint's manifest
// in place, remove what it does not name, tell the source. So at any moment the directory is what a crash of a crawl
// leaves behind, and recovery makes a crawl of it: that of the newest manifest. Files are immutable or only grow, so a
// pass moves only what is new.
//
// Bytes that are here count as equal if they are of the same history (copy_mark.h) and were synced before a manifest.
// Otherwise hashes of pieces of 1 MiB are compared, and files are cut before the first difference: a machine that comes
// back keeps what it has in common with its successor and loses what it had never given away.
//
//   the source moves on   kBusy: a file of the listed checkpoint is gone. What was copied stays; run again
//   no answer             the error of `ask`; run again
//   the disk here failed  any other error: open again
//
// Thread: one owner, who waits in Run for the source and the disk. Memory bound: the list of one checkpoint, a piece.
// Durability: when Run returns a pass, a crawl can go on from that checkpoint after any crash.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "io/env.h"
#include "standby/checkpoint_files.h"
#include "standby/copy_mark.h"
#include "standby/copy_message.h"

namespace portolan {

struct CopyTargetOptions {
  std::string dir;  // of the file `copy`
  CrawlPlaces places;
  // A crawl worked in this directory. Without this it is left alone; with it, what another crawl has not got is cut.
  bool replace_own = false;
};

struct CopyPass {
  uint64_t sequence = 0;  // of the checkpoint that the copy has now
  uint64_t bytes = 0;     // received for files
  uint64_t compared = 0;  // bytes here that were compared by hashes
  uint64_t files = 0;     // of the checkpoint
};

class CopyTarget {
 public:
  // Sends an encoded request and returns the encoded answer.
  using Ask = std::function<Result<std::string>(const std::string& request)>;

  // Cuts what no checkpoint here holds. kInvalidArgument: a crawl worked here (replace_own).
  static Result<std::unique_ptr<CopyTarget>> Open(Env& env, const CopyTargetOptions& options, Ask ask);

  Result<CopyPass> Run();
  // The newest checkpoint of the copy; 0: it is not whole.
  uint64_t sequence() const { return sequence_; }

 private:
  CopyTarget(Env& env, const CopyTargetOptions& options, Ask ask)
      : env_(env), options_(options), ask_(std::move(ask)) {}
  Status CutToCheckpoint();
  Status BeginPartial(uint64_t history);
  Result<CopyAnswer> AskFor(const CopyRequest& request, CopyAnswer::Kind wanted);
  Result<std::string> ReadBytes(uint64_t index, uint64_t offset, uint64_t count);
  Result<uint64_t> List(CheckpointFiles& list);  // returns the history
  Status ReadManifest(uint64_t length, CheckpointFiles& list);
  Status CopyFile(const CheckpointFiles& list, uint64_t index, CopyPass& pass);
  // How many of the first `size` bytes here are the source's.
  Result<uint64_t> EqualBytes(const CheckpointFile& file, uint64_t index, File& mine, CopyPass& pass);
  Status RemoveOthers(const CheckpointFiles& list);
  std::string PathOf(const CheckpointFile& file) const { return JoinPath(*options_.places.Dir(file.place), file.name); }

  Env& env_;
  const CopyTargetOptions options_;
  const Ask ask_;
  std::optional<CopyMark> mark_;
  uint64_t asked_ = 0;          // sequence of the list in use
  uint64_t asked_history_ = 0;  // and its history
  uint64_t sequence_ = 0;
};

}  // namespace portolan
