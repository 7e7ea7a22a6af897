// FaultyEnv: wraps any Env and injects faults.
//
// Counts the operations that change something (open for writing, append, truncate, preallocate, sync, rename, remove,
// directory sync), in order from 1, and breaks the n-th as told. A test first runs without faults to learn how many
// there are, then once for each.
//
// Thread: all members may be called from any thread; one lock orders the operations.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "io/env.h"

namespace portolan {

struct FaultPlan {
  // This operation fails with kIo and does nothing; later ones work again.
  std::optional<uint64_t> fail_at;
  // This append writes half of its bytes and then fails with kIo; any other kind of operation just fails.
  std::optional<uint64_t> short_write_at;
  // This operation and everything after it fails; an append leaves half of its bytes behind.
  std::optional<uint64_t> power_cut_at;
  // Once this many bytes are appended, appends fail with kNoSpace after writing what fits. Removing files frees
  // nothing; AddSpace does.
  std::optional<uint64_t> space;
  // That limit applies only to files below this directory; empty: to all files.
  std::string space_below = {};
  // This operation fails with kNoSpace; an append leaves half of its bytes behind. A sync of a file drops what it
  // should have made durable, as NFS and btrfs do: later syncs of that handle report success and do nothing.
  std::optional<uint64_t> full_at = {};
};

class FaultyEnv : public Env {
 public:
  // REQUIRES: `base` outlives this and every file opened through it.
  explicit FaultyEnv(Env& base, const FaultPlan& plan = {});
  ~FaultyEnv() override;

  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override;
  bool Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& dir) override;
  Status CreateDirs(const std::string& dir) override;
  Status Remove(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status SyncDir(const std::string& dir) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override;
  Result<std::string> Identity(const std::string& dir) override;

  uint64_t operations() const;
  bool power_is_cut() const;
  void AddSpace(uint64_t bytes);
  void SetPlan(const FaultPlan& plan);

 private:
  friend class FaultyFile;
  struct Faults;

  Env& base_;
  const std::shared_ptr<Faults> faults_;
};

}  // namespace portolan
