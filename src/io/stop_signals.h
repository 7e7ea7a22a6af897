// StopSignals: requests to stop the program: Ctrl-C, kill, a service manager, or a terminal that is closed.
//
// SIGINT, SIGTERM and SIGHUP all mean the same, and are taken by a thread that only waits for them. Signals that come
// within kRepeat of the one that counted last are the same request again: `timeout` and terminals signal a process and
// its group, and people press keys twice. The first request calls `on_request(1)`, the next one `on_request(2)`, the
// third ends the process at once with the exit code 128 + signal.
//
// SIGHUP that is ignored when this begins (nohup) stays ignored.
//
// Thread: `on_request` runs on this object's thread. Threads that are made while this exists inherit the blocked
// signals, so they do not receive them; threads made before must block them themselves (BlockedStopSignals).

#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

namespace portolan {

// While it lives, these signals are blocked in the thread that made it and in threads started by that thread.
class BlockedStopSignals {
 public:
  BlockedStopSignals();
  ~BlockedStopSignals();
  BlockedStopSignals(const BlockedStopSignals&) = delete;
  BlockedStopSignals& operator=(const BlockedStopSignals&) = delete;

 private:
  sigset_t before_;
};

class StopSignals {
 public:
  static constexpr std::chrono::seconds kRepeat{2};

  explicit StopSignals(std::function<void(int request)> on_request);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void Wait();

  const std::function<void(int)> on_request_;
  const BlockedStopSignals blocked_;  // before the thread
  std::thread thread_;
};

// From now on a write to a closed pipe or terminal, or beyond the allowed size of a file, is an error of that write
// (EPIPE, EFBIG) and does not kill the process.
void MakeWritesFailQuietly();

}  // namespace portolan
