// WarcOutput: where archived answers go: WARC files in one or more directories, each a lane of the output (output.h).
//
// Answers come as finished gzip members (made by parse/) with their index entries. They are appended, the index line is
// written, and both become durable with the rest of a checkpoint. Items go to the directory that was given the least so
// far; a lane that is stalled or has fallen behind gets none while others are better. Directories are compared by
// identity, not by name: if one were given twice, each lane would remove the other's files.
//
// Thread: one owner. Memory bound, per directory: what waits (bounded by the owner), AppendFile's buffers,
// index_memory.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/page_result.h"
#include "io/clock.h"
#include "io/env.h"
#include "outputs/output.h"
#include "outputs/warc_directory.h"

namespace portolan {

class WarcOutput : public Output {
 public:
  struct Options {
    std::vector<std::string> directories;        // at least one
    WarcDirectoryOptions files = {};             // of each; its dir is not used
    uint64_t behind_bytes = uint64_t{32} << 20;  // a lane with this much waiting has fallen behind
    OutputWriting writing = {};
  };
  static constexpr std::string_view kName = "warc";

  // Restores the state in the manifest's section. REQUIRES: env and clock outlive this.
  static Result<std::unique_ptr<WarcOutput>> Open(Env& env, const Clock& clock, const Manifest& manifest,
                                                  const Options& options);
  // What was not flushed is lost: it is in no checkpoint. Call Finish and commit before.
  ~WarcOutput() override;

  // An item without bytes is ignored.
  void Write(ArchiveItem&& item);

  Status Committed() override;

  // Closes all files that grow and sorts their indexes; a flush and a commit make that the state. Writing may continue,
  // with new files.
  void CloseFiles();
  // CloseFiles and Flush: the end of a crawl, before the last commit.
  Status Finish();

  struct Totals {
    uint64_t items = 0;
    uint64_t bytes = 0;
    uint64_t files = 0;  // begun since Open
  };
  Totals totals() const;

 private:
  WarcOutput(Env& env, const Options& options, const std::optional<CommittedOutput>& known, bool whole)
      : Output(std::string(kName), known, whole, options.directories.size()),
        env_(env),
        behind_bytes_(options.behind_bytes),
        given_(options.directories.size()) {}
  static Status TellApart(Env& env, const std::vector<std::string>& directories);
  WarcDirectory& directory(size_t lane) { return static_cast<WarcDirectory&>(files(lane)); }
  size_t ChooseLane() const;
  Status CloseLane(size_t lane);

  Env& env_;
  const uint64_t behind_bytes_;
  std::vector<uint64_t> given_;  // bytes per lane; the owner's
  std::atomic<uint64_t> next_serial_{1};
  uint64_t first_serial_ = 1;
  std::atomic<uint64_t> items_{0};
  std::atomic<uint64_t> bytes_{0};

  struct Retired {
    size_t lane;
    WarcDirectory::ClosedPart part;
  };
  std::mutex mutex_;
  std::vector<Retired> retired_;  // guarded by mutex_; parts of finished files that the last manifest may still need
};

// Whether, according to the manifest, the archive has WARC files and none of them grows: the end of a crawl, when the
// index of the whole archive is complete.
Result<bool> ArchiveIsFinished(const Manifest& manifest);

// One index of the whole archive: the sorted .cdxj files of the directories, merged into `output`.
Status MergeArchiveIndex(Env& env, const std::vector<std::string>& directories, const std::string& output);

}  // namespace portolan
