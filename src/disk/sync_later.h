// SyncLater: an Env whose files are synced all together, when the next manifest is written, and not one by one where
// their owners ask for it.
//
// A sync takes milliseconds, and seconds when the disk is busy. The shard must not block for that. Its structures only
// need what a manifest names to be durable before the manifest is. So File::Sync only notes the file here, and the
// Checkpointer takes the notes and syncs the files on another thread. A file that is removed before then is never
// synced. Removing takes time as well: files that a commit makes superfluous are also removed on another thread
// (HoldRemovals).
//
// Structures that keep anything outside of the manifest's directory, or rely on a sync without a manifest, must be
// given another Env. Files opened with FileOptions::direct sync at once: their Sync writes data, so it must run on the
// thread that appends.
//
// Thread: any; one lock inside, never held while the disk works, nor while a file is closed.
// Memory bound: a note and an open descriptor for each file that was synced since the last Take and is still there.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

class SyncLater : public Env {
 public:
  // REQUIRES: `base` outlives this. Files may outlive this, not `base`.
  explicit SyncLater(Env& base) : base_(base), notes_(std::make_shared<Notes>()) {}

  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override;
  bool Exists(const std::string& path) override { return base_.Exists(path); }
  Result<std::vector<std::string>> List(const std::string& dir) override { return base_.List(dir); }
  Status CreateDirs(const std::string& dir) override { return base_.CreateDirs(dir); }
  Status Remove(const std::string& path) override;
  // The file is synced first if a sync was noted, so that its bytes are durable under the new name.
  Status Rename(const std::string& from, const std::string& to) override;
  Status SyncDir(const std::string& dir) override { return base_.SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override { return base_.Lock(path); }
  Result<uint64_t> FreeSpace(const std::string& dir) override { return base_.FreeSpace(dir); }
  Result<std::string> Identity(const std::string& dir) override { return base_.Identity(dir); }

  size_t waiting() const;

 private:
  struct Notes {
    mutable std::mutex mutex;
    // Guarded by mutex:
    std::map<std::string, std::shared_ptr<File>> files;  // by path
    std::optional<std::thread::id> holder;               // whose removals are held
    std::vector<std::string> removals;

    // Takes the note of `path`, if there is one. REQUIRES: mutex is held; the caller releases the result after the
    // mutex.
    std::shared_ptr<File> Forget(const std::string& path);
  };
  class LaterFile;

 public:
  // Files to be synced, on any thread and at any time.
  class Batch {
   public:
    Batch() = default;
    // Syncs all. After an error the files that are not durable are noted again, for the next Take. Any error is kIo:
    // bytes may be lost, even if the disk reports only that it is full.
    Status Sync();
    size_t size() const { return files_.size(); }

   private:
    friend class SyncLater;
    std::shared_ptr<Notes> notes_;
    std::vector<std::shared_ptr<File>> files_;
  };
  // Takes all noted files. The batch's Sync makes durable what was appended to them before this call.
  Batch Take();

  // From here to TakeRemovals what this thread removes is only noted. The caller of TakeRemovals must remove it.
  // REQUIRES: none of these names is used again.
  void HoldRemovals();
  std::vector<std::string> TakeRemovals();
  Env& base() { return base_; }

 private:
  Env& base_;
  const std::shared_ptr<Notes> notes_;
};

}  // namespace portolan
