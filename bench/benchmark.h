// A benchmark: runs a workload through our code and its rivals; answers are checked before times are taken.
//
// Each lives in a folder of its own as a function of type `Benchmark::run` that PORTOLAN_BENCHMARK makes known. It
// writes its table for people through `Report` and returns every figure as one JSON object.

#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace portolan::bench {

// Where the table for people goes: standard output, or standard error when JSON is asked for.
class Report {
 public:
  explicit Report(FILE* to) : to_(to) {}

  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::print(to_, "{}\n", fmt::format(format, std::forward<Args>(args)...));
    std::fflush(to_);
  }

 private:
  FILE* to_;
};

struct Benchmark {
  std::string_view name;
  std::string_view summary;
  // argv as for a program of its own, without --json. An Error means that no figures came out of it: a wrong answer,
  // an unusable flag, a failing disk.
  Result<nlohmann::ordered_json> (*run)(int argc, char** argv, Report& report);
};

struct Registration {
  explicit Registration(const Benchmark& benchmark);
};

}  // namespace portolan::bench

// At namespace scope, once per benchmark: PORTOLAN_BENCHMARK("seen", "one line", RunSeen)
#define PORTOLAN_BENCHMARK(name, summary, run)                              \
  static const ::portolan::bench::Registration portolan_registration_##run( \
      ::portolan::bench::Benchmark{name, summary, &run})
