// ChildProgram: another program as a function: bytes in on its standard input, bytes out from its standard output,
// within limits of time and size.
//
// It is for work that must not happen in this process: a library that may crash or never end on hostile bytes. One
// process per call, so nothing of one input is left for the next. It has no environment but PATH and LANG, no open
// files but the two, a group of its own, and its standard error goes nowhere. It is killed, with what it started, when
// a limit is reached, and by the system if this thread ends. Limits of memory and processor time are for the program to
// set before it reads a byte (cli/main/pdf_main.cc).
//
// Thread: the caller waits; any number of threads at once. Memory bound: max_output.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

enum class ChildEnd : uint8_t {
  kExited,         // code: its exit code
  kSignalled,      // code: the signal that ended it, not one of ours
  kTimeout,        // killed after max_wait_ns
  kTooMuchOutput,  // killed
  kStopped,        // killed because `stop` became true
  kNotStarted,     // output: why
};

struct ChildLimits {
  int64_t max_wait_ns = 10'000'000'000;
  uint64_t max_output = uint64_t{1} << 20;
};

struct ChildResult {
  ChildEnd end = ChildEnd::kNotStarted;
  int code = 0;
  std::string output;  // as far as it came
};

// `words`: the program's path and its arguments. `stop` may be null; it is looked at every 50 ms.
ChildResult RunChildProgram(const std::vector<std::string>& words, std::string_view input, const ChildLimits& limits,
                            const std::atomic<bool>* stop = nullptr);

// The path of a program that is installed beside the one that runs.
std::string ProgramBeside(const std::string& name);

}  // namespace portolan
