// RemoveLater: removes files elsewhere.
//
// To give back the space of a file of gigabytes takes tens to hundreds of milliseconds, in whichever call takes the
// last of its name and its handles. An owner that must not stand still for that closes its handles, which costs nothing
// as long as the name is there, and leaves the name to a job.
//
// Thread: one owner; the removing is done on the executor's threads.
// Invariants: files go in the order in which they were given, where the executor has one thread. When this is gone no
// job of its own touches the Env or a name any more.
// Memory bound: the names that wait.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/env.h"
#include "io/executor.h"

namespace portolan {

class RemoveLater {
 public:
  // REQUIRES: `env` outlives this. Jobs may outlive both.
  RemoveLater(Env& env, Executor& executor) : executor_(executor), shared_(std::make_shared<Shared>(env)) {}
  // Waits for a job that is at work and removes what still waits.
  ~RemoveLater();
  RemoveLater(const RemoveLater&) = delete;
  RemoveLater& operator=(const RemoveLater&) = delete;

  // REQUIRES: nobody uses these files, and no file has one of these names again while this lives.
  void Remove(std::vector<std::string> paths);

  // Those that could not be removed so far. They are the caller's again.
  std::vector<std::string> TakeFailed();

 private:
  struct Shared {
    explicit Shared(Env& where) : env(where) {}
    void Work();

    Env& env;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex:
    std::vector<std::string> waiting;
    std::vector<std::string> failed;
    size_t working = 0;  // jobs
  };

  Executor& executor_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace portolan
