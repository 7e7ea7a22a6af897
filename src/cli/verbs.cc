#include "cli/verbs.h"

#include <array>

#include "cli/cli.h"

namespace portolan {

std::span<const Verb> Verbs() {
  static constexpr std::array kVerbs = {
      Verb{"config", "Set up", "print the settings in force, with comments", &RunConfig},
      Verb{"warc", "Look inside", "list, print, check and index WARC and ARC files", &RunWarc},
      Verb{"bench", "Measure", "run a benchmark against its rivals ('bench list' names them)", &RunBench},
      Verb{"version", "About", "print version, commit and build type", &RunVersion},
  };
  return kVerbs;
}

}  // namespace portolan
