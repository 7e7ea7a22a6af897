// ChildProcess: another program that works beside this one and does not outlive it: the system kills it when the thread
// that started it ends, whatever the reason.
//
// It gets no open files but standard input (empty) and the file that takes its output and its messages, no signals that
// the terminal sends to this process's group, and this process's environment with some variables set.
//
// Thread: one owner, which must be the thread that started it and live as long.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace portolan {

struct ChildEnding {
  bool signalled = false;
  int code = 0;              // exit code, or the signal
  int64_t processor_ns = 0;  // user and system time, with that of its own children that ended
};

class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> words;  // the program's path and its arguments
    std::vector<std::pair<std::string, std::string>> environment = {};
    std::string output;  // path of a file, appended to
  };
  static Result<std::unique_ptr<ChildProcess>> Start(const Options& options);
  // Kills it if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // How it ended; nothing: it runs.
  std::optional<ChildEnding> Ended();
  void Signal(int signal);
  // Waits until it ends, at most so long. False: it still runs.
  bool Wait(int64_t max_wait_ns);

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<ChildEnding> ending_;
};

// The path of this program.
std::string ThisProgram();
// The path of a program by its name: in PATH, or where Debian puts servers. Empty: it is not installed.
std::string FindProgram(const std::string& name);

// A port of 127.0.0.1 that nobody uses at this moment; 0: there is none.
uint16_t FreeLoopbackPort();

}  // namespace portolan
