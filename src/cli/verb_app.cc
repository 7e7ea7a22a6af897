#include "cli/verb_app.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "io/env.h"

namespace portolan {

VerbApp::VerbApp(const std::string& name, const std::string& description) : app_(description, "portolan " + name) {
  app_.get_formatter()->column_width(34);
  app_.set_help_flag("-h,--help", "Show this page and exit");
  app_.add_option("--config", config_path_, "Read settings from this TOML file")->type_name("FILE")->group("General");
  app_.add_option("--log-level", log_level_, "debug, info, warn, error or off")->type_name("LEVEL")->group("General");
  app_.add_flag("-q,--quiet", quiet_, "No display; only warnings and errors")->group("General");
  app_.add_flag("-v,--verbose", verbose_, "As --log-level debug")->group("General");
  app_.add_option("--log-format", log_format_, "human or json (one object per line)")
      ->type_name("FORMAT")
      ->group("General");
}

std::optional<int> VerbApp::Parse(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app_.help().c_str(), stdout);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return WrongUsage(error.what(), argc, argv);
  }

  if (quiet_ && verbose_) return WrongUsage("-q and -v do not go together", argc, argv);
  if (!config_path_.empty()) {
    // A pipe would be read as an empty file, that is, without settings.
    std::error_code ignored;
    if (std::filesystem::exists(config_path_, ignored) && std::filesystem::is_other(config_path_, ignored)) {
      PrintError(config_path_ + ": is no regular file");
      return kExitBadInput;
    }
    auto config = LoadConfig(Env::Posix(), config_path_);
    if (!config) return Complain(config.error());
    config_ = *std::move(config);
  }
  if (quiet_) config_.log.level = std::max(config_.log.level, LogLevel::kWarn);
  if (verbose_) config_.log.level = LogLevel::kDebug;
  if (!log_level_.empty()) {
    const auto level = ParseLogLevel(log_level_);
    if (!level) return Complain(level.error());
    config_.log.level = *level;
  }
  if (!log_format_.empty()) {
    const auto format = ParseLogFormat(log_format_);
    if (!format) return Complain(format.error());
    config_.log.format = *format;
  }
  InitLogging({.level = config_.log.level, .format = config_.log.format});
  return std::nullopt;
}

std::optional<int> VerbApp::WrongUsage(const std::string& what, int argc, char** argv) {
  // CLI11 separates several complaints by line ends; one line is enough.
  std::string line = what.substr(0, what.find('\n'));
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!flag.starts_with("--") || std::find(known.begin(), known.end(), flag) != known.end()) continue;
    const std::string_view nearest = NearestWord(flag, known);
    line = fmt::format("unknown flag '{}'", flag);
    if (!nearest.empty()) line += fmt::format(": did you mean '{}'?", nearest);
    break;
  }
  PrintError(fmt::format("{} (see '{} --help')", line, app_.get_name()));
  return kExitUsage;
}

int Complain(const Error& error) {
  PrintError(error.message());
  return ExitCodeFor(error);
}

}  // namespace portolan
