// SpawnProgram: starts another program. The one place that does; ChildProcess and ChildProgram watch over what it
// starts.
//
// The child gets a process group of its own, no signals blocked or ignored, the three descriptors that are named (or
// /dev/null) and no other open file, the given environment and no other, and a signal when the thread that started it
// ends. The parent's memory is not copied, so it takes as long in a process of 100 GB as in a small one.
//
// Thread: any; it waits until the program is loaded.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace portolan {

struct SpawnOptions {
  std::vector<std::string> words;        // the program's path and its arguments
  std::vector<std::string> environment;  // NAME=value
  // Descriptors of this process for standard input, output and error; -1: /dev/null.
  int input = -1;
  int output = -1;
  int messages = -1;
  int death_signal = SIGKILL;  // when the thread that called ends
};

// The child's process id: it must be waited for. The Error says why the program could not be loaded.
Result<pid_t> SpawnProgram(const SpawnOptions& options);

// This process's environment, as SpawnOptions wants it.
std::vector<std::string> OwnEnvironment();

}  // namespace portolan
