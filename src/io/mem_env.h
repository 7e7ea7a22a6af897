// MemEnv: a file system in memory that knows what a crash would leave of it.
//
// For each file it keeps the bytes as written and the bytes as synced, and for each directory the changes of names that
// no SyncDir has made durable. Crash() throws away what a power cut may throw away:
//   kLoseUnsynced  nothing survives that was not synced: the harshest legal disk
//   kKeepAll       everything written survives: the process died, the machine did not
//   kTorn          in between, by a seed: each file keeps a random part of its unsynced tail, perhaps with zeros at its
//                  end as delayed allocation leaves them, and each directory a random prefix of its changes
//
// Handles opened before a crash are dead: they fail and touch nothing. Directories are durable when made.
// Memory bound: the sum of the files, twice. Thread: one lock around everything.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "io/env.h"

namespace portolan {

enum class CrashMode : uint8_t { kLoseUnsynced, kKeepAll, kTorn };

class MemEnv : public Env {
 public:
  MemEnv();
  ~MemEnv() override;

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

  void Crash(CrashMode mode, uint64_t seed = 0);

  // A deep copy of what a crash in that mode would leave: many outcomes can be tried from one moment.
  std::unique_ptr<MemEnv> CrashedCopy(CrashMode mode, uint64_t seed = 0) const;

  // Changes bytes silently, as a bad disk does. REQUIRES: the file exists.
  void Corrupt(const std::string& path, uint64_t offset, std::string_view bytes);

 private:
  friend class MemFile;
  struct Inode {
    std::string data;    // as a reader sees it
    std::string synced;  // as the last Sync left it
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>>;
  struct NameChange {
    std::string path;
    std::shared_ptr<Inode> inode;  // null: the name is removed
    std::string also_removes;      // the old name of a rename: both happen, or neither
  };
  struct State {
    Names names;                                              // current
    Names synced_names;                                       // as the last SyncDir of each directory left them
    std::map<std::string, std::vector<NameChange>> unsynced;  // by directory, in order
    std::set<std::string> dirs;
    std::set<std::string> locks;
    uint64_t generation = 0;  // counts crashes; older handles are dead
  };

  static State AfterCrash(const State& state, CrashMode mode, uint64_t seed);
  static void Apply(Names& names, const NameChange& change);

  std::shared_ptr<std::mutex> mutex_;  // shared with handles and locks, which may outlive this
  std::shared_ptr<State> state_;       // guarded by *mutex_
};

}  // namespace portolan
