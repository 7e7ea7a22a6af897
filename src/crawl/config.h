// Config: every setting of the program, typed, in one struct.
//
// Read once from a TOML file; flags override fields afterwards. Each field is declared here with its default and once
// in config.cc with its key and its comment; parsing, printing and the list of valid keys all follow from that table.
// An unknown key is an error that names the nearest one: a misspelt limit must not silently be no limit.

#pragma once

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct Config {
  struct {
    LogLevel level = LogLevel::kInfo;
    LogFormat format = LogFormat::kHuman;
  } log;
};

// The file at `path` over the defaults. Errors name file, line and key.
Result<Config> LoadConfig(Env& env, const std::string& path);
Result<Config> ParseConfig(std::string_view toml, const std::string& path);

// A TOML file with every key, its value and its comment. ParseConfig reads it back to the same Config.
std::string ConfigToToml(const Config& config);

}  // namespace portolan
