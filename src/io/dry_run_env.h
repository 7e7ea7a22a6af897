// DryRunEnv: what a program would do to a file system, without doing it.
//
// Reading sees the files of `base` with all changes made so far; changes stay in memory: cuts, removals, new names, and
// up to `memory` appended bytes, beyond which appends return kNoSpace. So the real recovery can be run on a directory
// that must not be touched, and Cuts and Removals say what it would have done.
//
// Thread: any; one lock inside. Memory bound: `memory`, and a node for each file that was opened for writing.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "io/env.h"

namespace portolan {

class DryRunEnv : public Env {
 public:
  // REQUIRES: `base` outlives this and every file opened through it.
  explicit DryRunEnv(Env& base, uint64_t memory = uint64_t{1} << 20);
  ~DryRunEnv() override;

  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override;
  bool Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& dir) override;
  Status CreateDirs(const std::string& dir) override;
  Status Remove(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status SyncDir(const std::string& /*dir*/) override { return {}; }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Result<uint64_t> FreeSpace(const std::string& dir) override { return base_.FreeSpace(dir); }
  Result<std::string> Identity(const std::string& dir) override;

  struct Cut {
    std::string path;
    uint64_t bytes = 0;
  };
  // Files of the base that would be shorter, and those that would be gone, by path.
  std::vector<Cut> Cuts() const;
  std::vector<Cut> Removals() const;

 private:
  struct Node;
  struct State;
  class DryFile;

  Env& base_;
  const std::shared_ptr<State> state_;
};

}  // namespace portolan
