// HoldingEnv: an Env whose files of certain paths stay until they are released.
//
// A structure removes a file as soon as no checkpoint needs it. Whoever copies the files of a checkpoint while the
// crawl continues needs them longer. Hold names these files: a removal of one of them is noted, and made when the file
// is no longer held. Until then the file can still be listed and opened. After a crash, recovery removes what no
// manifest names, so the notes need not survive.
//
// REQUIRES: names of removed files are not used again (all structures on disk number their files).
//
// Thread: any; one lock inside, never held while the disk works.
// Memory bound: the held paths, given by the caller. Disk: the files of the checkpoint that is held.

#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "io/env.h"

namespace portolan {

class HoldingEnv : public Env {
 public:
  // REQUIRES: `base` outlives this.
  explicit HoldingEnv(Env& base) : base_(base) {}

  // Holds these paths in place of those that were held before. An error of a removal that was waiting is returned, and
  // the removal is tried again by the next call.
  Status Hold(std::set<std::string> paths);
  size_t waiting() const;  // removals that are noted

  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override {
    return base_.Open(path, mode, options);
  }
  bool Exists(const std::string& path) override { return base_.Exists(path); }
  Result<std::vector<std::string>> List(const std::string& dir) override { return base_.List(dir); }
  Status CreateDirs(const std::string& dir) override { return base_.CreateDirs(dir); }
  Status Remove(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override { return base_.Rename(from, to); }
  Status SyncDir(const std::string& dir) override { return base_.SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override { return base_.Lock(path); }
  Result<uint64_t> FreeSpace(const std::string& dir) override { return base_.FreeSpace(dir); }
  Result<std::string> Identity(const std::string& dir) override { return base_.Identity(dir); }
  Result<std::unique_ptr<FileBytes>> Map(const std::string& path) override { return base_.Map(path); }

 private:
  Env& base_;
  mutable std::mutex mutex_;
  std::set<std::string> held_;     // guarded by mutex_
  std::set<std::string> removed_;  // guarded by mutex_: to be removed; not all of them are held
};

}  // namespace portolan
