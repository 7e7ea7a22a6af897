// Child: a part of a benchmark in a process and on a core of its own, so that its memory and its CPU time are its own.
//
// The body runs in a fork and gives a JSON value back through a pipe; an Error of it becomes the Error of Wait. The
// parent may close the child's `stay` pipe to tell it to end.
//
// REQUIRES: the parent has one thread when it forks. Thread: one owner.

#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace portolan::bench {

struct ChildEnd {
  nlohmann::ordered_json value;
  double cpu_seconds = 0;  // user and system, with its own children that it waited for
};

class Child {
 public:
  using Json = nlohmann::ordered_json;
  // What the child can do with its parent.
  struct Parent {
    std::function<void()> say_ready;  // Start returns then
    std::function<void()> wait_end;   // until the parent calls Wait
  };
  using Body = std::function<Result<Json>(const Parent& parent)>;

  // Waits until the body is ready, or has failed or ended without saying so. `core` < 0: any.
  static Result<std::unique_ptr<Child>> Start(int core, const Body& body);
  ~Child();  // kills it if it was not waited for

  // Tells it to end and takes what it gives. After `max_seconds` it is killed, and that is the error; 0: never.
  Result<ChildEnd> Wait(double max_seconds = 0);
  pid_t pid() const { return pid_; }

 private:
  Child(pid_t pid, int from_child, int to_child) : pid_(pid), from_child_(from_child), to_child_(to_child) {}

  const pid_t pid_;
  int from_child_;
  int to_child_;
  bool waited_ = false;
};

// The calling thread and all that it starts from now on.
void PinToCore(int core);

// A program without a shell, on a core, its standard streams at /dev/null and its working folder `dir`. After
// `seconds` it is asked to end. kNotFound if there is no such program.
struct ProgramEnd {
  double seconds = 0;
  double cpu_seconds = 0;
  int exit_code = 0;  // -1: ended by a signal
};
Result<ProgramEnd> RunProgram(int core, const std::vector<std::string>& words, const std::string& dir, double seconds);

}  // namespace portolan::bench
