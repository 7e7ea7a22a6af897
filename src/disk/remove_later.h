// RemoveLater: removes files on another thread.
//
// Freeing the space of a file of gigabytes takes tens to hundreds of milliseconds, in the call that removes the last of
// its name and its handles. An owner that must not block for that closes its handles, which costs nothing while the
// name exists, and lets a job remove the name.
//
// Thread: one owner; the removing is done on the executor's threads.
// Invariants: files are removed in the order in which they were given, if the executor has one thread. After
// destruction none of its jobs touches the Env or a file any more.
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
  // Waits for a running job and removes what still waits.
  ~RemoveLater();
  RemoveLater(const RemoveLater&) = delete;
  RemoveLater& operator=(const RemoveLater&) = delete;

  // REQUIRES: these files are not in use, and none of these names is used again while this lives.
  void Remove(std::vector<std::string> paths);

  // The files that could not be removed so far. The caller is responsible for them again.
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
