// VerbApp: a CLI11 parser set up the way every verb of ours behaves.
//
//   VerbApp app("plan", "What a crawl of a given size needs");
//   app->add_option("--pages", pages, "…");
//   if (auto code = app.Parse(argc, argv)) return *code;
//
// It gives each verb --help, --log-level, -v, -q, --log-format and --config, reports a wrong flag in one line with the
// nearest right one, and has set up logging when Parse returns.

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "crawl/config.h"

namespace portolan {

class VerbApp {
 public:
  VerbApp(const std::string& name, const std::string& description);

  CLI::App* operator->() { return &app_; }
  CLI::App& app() { return app_; }

  // Text after the options in --help: examples above all.
  void Footer(const std::string& text) { app_.footer(text); }

  // An exit code when the program should end now (help was asked for, or the flags are wrong).
  std::optional<int> Parse(int argc, char** argv);

  // The configuration file with the shared flags applied. Valid after Parse.
  const Config& config() const { return config_; }
  bool quiet() const { return quiet_; }                            // -q: only warnings and results
  const std::string& config_path() const { return config_path_; }  // empty: none was named

 private:
  std::optional<int> WrongUsage(const std::string& what, int argc, char** argv);

  CLI::App app_;
  std::string config_path_;
  std::string log_level_;
  std::string log_format_;
  bool quiet_ = false;
  bool verbose_ = false;
  Config config_;
};

// Prints "portolan: …" for an Error and returns the exit code that belongs to it.
int Complain(const Error& error);

// A CLI11 check for flags with units ("256M", "30s", "8B"): the target stays a string, and the unit parser reports
// errors.
template <typename Parser>
CLI::Validator Checked(Parser parser, const std::string& kind) {
  return CLI::Validator(
      [parser](std::string& text) {
        const auto value = parser(text);
        return value ? std::string() : value.error().message();
      },
      kind);
}

}  // namespace portolan
