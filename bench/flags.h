// Reading a benchmark's flags: --help prints the page and ends the program, a mistake is an Error.

#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "base/result.h"

namespace portolan::bench {

inline Status ParseFlags(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalidArgument, error.what());
  }
  return {};
}

}  // namespace portolan::bench
