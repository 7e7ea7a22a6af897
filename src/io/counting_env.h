// CountingEnv: wraps any Env and counts the bytes read and written. The measured α of the disk structures comes from
// here.
//
// Thread: all members may be called from any thread; counters are atomic.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "io/env.h"

namespace portolan {

class CountingEnv : public Env {
 public:
  struct Counters {
    std::atomic<uint64_t> bytes_read{0};
    std::atomic<uint64_t> bytes_written{0};
    std::atomic<uint64_t> reads{0};
    std::atomic<uint64_t> writes{0};
    std::atomic<uint64_t> syncs{0};
    std::atomic<uint64_t> hints{0};  // WillNeed
  };

  // REQUIRES: `base` outlives this. Files may outlive this, not `base`.
  explicit CountingEnv(Env& base) : base_(base), counters_(std::make_shared<Counters>()) {}

  using Env::Open;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) override;
  bool Exists(const std::string& path) override { return base_.Exists(path); }
  Result<std::vector<std::string>> List(const std::string& dir) override { return base_.List(dir); }
  Status CreateDirs(const std::string& dir) override { return base_.CreateDirs(dir); }
  Status Remove(const std::string& path) override { return base_.Remove(path); }
  Status Rename(const std::string& from, const std::string& to) override { return base_.Rename(from, to); }
  Status SyncDir(const std::string& dir) override { return base_.SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override { return base_.Lock(path); }
  Result<uint64_t> FreeSpace(const std::string& dir) override { return base_.FreeSpace(dir); }
  Result<std::string> Identity(const std::string& dir) override { return base_.Identity(dir); }

  const Counters& counters() const { return *counters_; }
  uint64_t traffic() const { return counters_->bytes_read + counters_->bytes_written; }

 private:
  Env& base_;
  const std::shared_ptr<Counters> counters_;
};

}  // namespace portolan
