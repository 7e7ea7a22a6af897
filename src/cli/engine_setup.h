// From a crawl's settings to an engine on this machine: what the machine allows (memory, open files), the rules, the
// reserve of its disks, and what to do when a disk is full all the same.
//
// Thread: SetUpEngine and WaitForMoreRoom one; Stopper any.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/engine.h"

namespace portolan {

// The crawl's memory on this machine: if there is less, a default is reduced, but an explicit value is refused.
Result<uint64_t> MemoryFor(const Config& config);

// `engines`: how many share this process's open files. Warns where the machine allows less than the settings ask for.
Result<EngineOptions> SetUpEngine(const Config& config, const std::string& dir, const std::string& version,
                                  uint64_t engines = 1);

// Passes requests to stop and to pause to the engine that runs. Thread: any.
class Stopper {
 public:
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->RequestStop();
    changed_.notify_all();
  }
  void Pause(bool paused) {
    const std::lock_guard lock(mutex_);
    if (paused_ == paused) return;
    paused_ = paused;
    if (running_ != nullptr) running_->RequestPause(paused);
  }
  // Ends the engine as after a crash.
  void Abandon(const Error& why) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->Abandon(why);
    changed_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void SetRunning(Engine* engine) {
    const std::lock_guard lock(mutex_);
    running_ = engine;
    if (engine == nullptr) return;
    if (paused_) engine->RequestPause(true);
    if (stopped_) engine->RequestStop();
  }
  // True when stopped.
  bool WaitFor(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return stopped_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;       // guarded by mutex_
  bool paused_ = false;        // guarded by mutex_
  Engine* running_ = nullptr;  // guarded by mutex_
};

// A structure filled the disk in the middle of its work, although more than the reserve was free: a merge needs as much
// space as its table. The crawl is back at its last checkpoint and would fail in the same way, after fetching the same
// pages again. So it waits for more free space than there is now. False: a stop was requested.
bool WaitForMoreRoom(const EngineOptions& options, Stopper& stopper, const std::function<void(std::string)>& tell);

// Finished WARC files never change again, so nothing else checks them, and damage by a disk or a copy would be found
// too late. The crawl does not need them and continues: each is a warning.
void LookAtArchive(const EngineOptions& options);

// Adds to an error that ended a crawl what the user can do.
Error AtCheckpoint(const Error& error, const std::string& dir);

}  // namespace portolan
