// portolan bench: hands over to portolan-bench, a program of its own so that rivals are never linked into the crawler.

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"
#include "io/env.h"

namespace portolan {

int RunBench(int argc, char** argv) {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return PrintError("cannot find my own path"), kExitSystem;
  const std::string program = JoinPath(DirName(std::string_view(self, static_cast<size_t>(length))), "portolan-bench");
  ::execv(program.c_str(), argv);
  if (errno == ENOENT && argc == 2 && (argv[1] == std::string_view("--help") || argv[1] == std::string_view("-h"))) {
    std::fputs(
        "usage: portolan bench list | NAME [--json] [FLAGS] | NAME --help\n\n"
        "Runs a benchmark against its rivals. They are in a program of their own, portolan-bench, which the launcher\n"
        "builds: './portolan bench list' names them, './portolan bench NAME --help' shows the flags of one.\n",
        stdout);
    return kExitOk;
  }
  if (errno == ENOENT) {
    PrintError(fmt::format("{} does not exist: use the launcher, './portolan bench', which builds it", program));
    return kExitBadInput;
  }
  PrintError(Error::FromErrno(errno, program).message());
  return kExitSystem;
}

}  // namespace portolan
