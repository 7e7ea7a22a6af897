// portolan bench: hands over to portolan-bench, a program of its own so that rivals are never linked into the crawler.

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>

#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"
#include "io/env.h"

namespace portolan {

int RunBench(int, char** argv) {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return PrintError("cannot find my own path"), kExitSystem;
  const std::string program = JoinPath(DirName(std::string_view(self, static_cast<size_t>(length))), "portolan-bench");
  ::execv(program.c_str(), argv);
  if (errno == ENOENT) {
    PrintError(fmt::format("{} is not there: use the launcher, './portolan bench', which builds it", program));
    return kExitBadInput;
  }
  PrintError(Error::FromErrno(errno, program).message());
  return kExitSystem;
}

}  // namespace portolan
