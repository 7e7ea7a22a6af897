// portolan sim: the simulated web. Its parts are in sim_*.cc.

#include "cli/sim.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"

namespace portolan {
namespace {

struct SimPart {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};
constexpr std::array kSimParts = {
    SimPart{"serve", "serve a simulated web on loopback: DNS, HTTP, HTTPS, HTTP/2", &RunSimServe},
    SimPart{"check", "report from a hit log what a crawler did, and which rules it broke", &RunSimCheck},
};

void PrintSimPage() {
  std::string page =
      "A web generated from a seed, with all the faults and traps of the real one, on this machine only.\n\n"
      "usage: portolan sim PART [FLAGS]\n       portolan sim PART --help\n\n";
  for (const SimPart& part : kSimParts) page += fmt::format("  {:<6} {}\n", part.name, part.summary);
  page +=
      "\nExamples:\n"
      "  portolan sim serve --profile small\n"
      "  portolan sim serve --profile evil --seed 7 --log hits.tsv --ca ca.pem\n"
      "  portolan sim check --log hits.tsv --host-gap 1s --connections 1\n";
  fmt::print("{}", page);
}

}  // namespace

int RunSim(int argc, char** argv) {
  if (argc < 2) {
    PrintSimPage();
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    PrintSimPage();
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const SimPart& part : kSimParts) {
    if (part.name == name) return part.run(argc - 1, argv + 1);
    names.push_back(part.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown part '{}' of sim (see 'portolan sim --help')", name)
                             : fmt::format("unknown part '{}' of sim: did you mean '{}'?", name, nearest));
  return kExitUsage;
}

}  // namespace portolan
