// portolan-bench: runs one benchmark. Reached as `portolan bench NAME [--json] [flags of the benchmark]`.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "bench/benchmark.h"
#include "cli/cli.h"
#include "cli/exit_code.h"

namespace portolan::bench {
namespace {

std::vector<Benchmark>& Benchmarks() {
  static std::vector<Benchmark> benchmarks;
  return benchmarks;
}

void PrintList(FILE* to) {
  for (const Benchmark& benchmark : Benchmarks()) {
    fmt::print(to, "{:<10} {}\n", benchmark.name, benchmark.summary);
  }
}

}  // namespace

int Run(int argc, char** argv) {
  std::ranges::sort(Benchmarks(), {}, &Benchmark::name);  // links may come in any order
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0) {
    FILE* to = argc < 2 ? stderr : stdout;
    fmt::print(
        to,
        "usage: portolan bench list | NAME [--json] [FLAGS] | NAME --help\n\n"
        "Prints a table, or with --json one JSON object on standard output and the table on standard error.\n\n");
    PrintList(to);
    return argc < 2 ? kExitUsage : kExitOk;
  }
  const std::string_view name = argv[1];
  if (name == "list") {
    PrintList(stdout);
    return kExitOk;
  }
  bool json = false;
  std::vector<char*> rest;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else {
      rest.push_back(argv[i]);
    }
  }
  std::vector<std::string_view> names;
  for (const Benchmark& benchmark : Benchmarks()) {
    names.push_back(benchmark.name);
    if (benchmark.name != name) continue;
    Report report(json ? stderr : stdout);
    rest.push_back(nullptr);
    auto figures = benchmark.run(static_cast<int>(rest.size()) - 1, rest.data(), report);
    if (!figures) {
      PrintError(fmt::format("bench {}: {}", name, figures.error().message()));
      return ExitCodeFor(figures.error());
    }
    if (json) fmt::print("{}\n", figures->dump());
    return kExitOk;
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown benchmark '{}' (see 'portolan bench list')", name)
                             : fmt::format("unknown benchmark '{}': did you mean '{}'?", name, nearest));
  return kExitUsage;
}

Registration::Registration(const Benchmark& benchmark) { Benchmarks().push_back(benchmark); }

}  // namespace portolan::bench

int main(int argc, char** argv) { return portolan::bench::Run(argc, argv); }
