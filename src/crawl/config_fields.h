// The table of settings: section, key, comment, range, and how the field of Config is read, checked and printed.

#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

struct ConfigField {
  std::string_view section;
  std::string_view key;
  std::string_view comment;
  std::string range;  // "from 1 to 12"; empty: the type has no range
  // A value of the wrong kind or out of range is refused, and the field stays as it is.
  std::function<Status(Config&, const toml::node&)> read;
  std::function<Status(const Config&)> check;       // checks only the range, for a value set by code
  std::function<std::string(const Config&)> print;  // as TOML
  // Instead of `read`, for a field whose errors say themselves in which line of `path` they are.
  std::function<Status(Config&, const toml::node&, const std::string& path)> read_at = {};
};

// In the order in which they are printed; the fields of a section are adjacent.
const std::vector<ConfigField>& ConfigFields();

}  // namespace portolan
