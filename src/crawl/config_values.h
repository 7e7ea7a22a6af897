// How each type of setting is written in a TOML file: read strictly, and printed so that reading gives the same value.

#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

// Errors say what was expected; the caller adds file, line and key.
Status ReadSetting(const toml::node& node, bool& value);
Status ReadSetting(const toml::node& node, uint64_t& value);  // 5000, or "20K" in powers of 1000
Status ReadSetting(const toml::node& node, double& value);
Status ReadSetting(const toml::node& node, std::optional<uint64_t>& value);  // or "none"
Status ReadSetting(const toml::node& node, std::optional<double>& value);    // or "auto"
Status ReadSetting(const toml::node& node, std::string& value);
Status ReadSetting(const toml::node& node, std::vector<std::string>& value);
Status ReadSetting(const toml::node& node, Config::Duration& value);
Status ReadSetting(const toml::node& node, ByteCount& value);
Status ReadSetting(const toml::node& node, CanonicalRules& value);
Status ReadSetting(const toml::node& node, Profile& value);
Status ReadSetting(const toml::node& node, ScopeMode& value);
Status ReadSetting(const toml::node& node, Partition& value);
Status ReadSetting(const toml::node& node, DuplicatePolicy& value);
Status ReadSetting(const toml::node& node, NearPolicy& value);
Status ReadSetting(const toml::node& node, IpPreference& value);
Status ReadSetting(const toml::node& node, LogLevel& value);
Status ReadSetting(const toml::node& node, LogFormat& value);

std::string PrintSetting(bool value);
std::string PrintSetting(uint64_t value);
std::string PrintSetting(double value);
std::string PrintSetting(const std::optional<uint64_t>& value);
std::string PrintSetting(const std::optional<double>& value);
std::string PrintSetting(const std::string& value);
std::string PrintSetting(const std::vector<std::string>& value);
std::string PrintSetting(Config::Duration value);
std::string PrintSetting(ByteCount value);
std::string PrintSetting(CanonicalRules value);
std::string PrintSetting(Profile value);
std::string PrintSetting(ScopeMode value);
std::string PrintSetting(Partition value);
std::string PrintSetting(DuplicatePolicy value);
std::string PrintSetting(NearPolicy value);
std::string PrintSetting(IpPreference value);
std::string PrintSetting(LogLevel value);
std::string PrintSetting(LogFormat value);

}  // namespace portolan
