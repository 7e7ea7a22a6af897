#include "crawl/config.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/toml_nesting.h"
#include "crawl/config_fields.h"

namespace portolan {
namespace {

std::unexpected<Error> At(const std::string& path, const toml::source_region& where, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: {}", path, where.begin.line, what));
}

// `what` is the kind of name ("section", "key in [log]") and `known` the valid ones.
std::unexpected<Error> Unknown(const std::string& path, const toml::key& name, std::string_view what,
                               const std::vector<std::string_view>& known) {
  const std::string_view nearest = NearestWord(name.str(), known);
  const std::string hint = nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
  return At(path, name.source(), fmt::format("unknown {} '{}'{}", what, name.str(), hint));
}

Status Apply(const ConfigField& field, const toml::node& node, const std::string& path, Config& config) {
  if (field.read_at) return field.read_at(config, node, path);
  if (const Status status = field.read(config, node); !status) {
    return At(path, node.source(), fmt::format("{}.{}: {}", field.section, field.key, status.error().message()));
  }
  return {};
}

// Something that is not a file of settings, for example a directory.
Result<std::string> ReadSettings(Env& env, const std::string& path) {
  auto text = ReadWholeFile(env, path);
  if (!text && text.error().code() == ErrorCode::kInvalidArgument) {
    return Fail(ErrorCode::kCorrupt, text.error().message());
  }
  return text;
}

std::vector<std::string_view> Sections() {
  std::vector<std::string_view> sections;
  for (const ConfigField& field : ConfigFields()) {
    if (sections.empty() || sections.back() != field.section) sections.push_back(field.section);
  }
  return sections;
}

Result<toml::table> ParseToml(std::string_view text, const std::string& path) {
  if (const Status status = CheckTomlNesting(text); !status) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, status.error().message()));
  }
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return At(path, error.source(), error.description());
  }
}

Result<Config> ConfigOf(const toml::table& table, const std::string& path, std::optional<Profile> instead) {
  const std::vector<std::string_view> sections = Sections();
  // The profile sets all defaults, so it is read first, wherever it is in the file.
  Config config;
  if (const toml::node* profile = table["crawl"]["profile"].node()) {
    for (const ConfigField& field : ConfigFields()) {
      if (field.section == "crawl" && field.key == "profile") RETURN_IF_ERROR(Apply(field, *profile, path, config));
    }
  }
  config = ForProfile(instead.value_or(config.crawl.profile));
  for (const auto& [section_name, section_node] : table) {
    const std::string_view section = section_name.str();
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
      return Unknown(path, section_name, "section", sections);
    }
    const toml::table* keys = section_node.as_table();
    if (keys == nullptr) return At(path, section_node.source(), fmt::format("'{}' must be a section", section));
    for (const auto& [key_name, node] : *keys) {
      std::vector<std::string_view> known;
      const ConfigField* match = nullptr;
      for (const ConfigField& field : ConfigFields()) {
        if (field.section != section) continue;
        known.push_back(field.key);
        if (field.key == key_name.str()) match = &field;
      }
      if (match == nullptr) return Unknown(path, key_name, fmt::format("key in [{}]", section), known);
      RETURN_IF_ERROR(Apply(*match, node, path, config));
    }
  }
  if (instead) config.crawl.profile = *instead;
  return config;
}

}  // namespace

Result<Config> ParseConfig(std::string_view text, const std::string& path, std::optional<Profile> instead) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, path));
  return ConfigOf(table, path, instead);
}

Status SetConfig(Config& config, std::string_view name, std::string_view value) {
  std::vector<std::string> names;
  for (const ConfigField& field : ConfigFields()) {
    names.push_back(fmt::format("{}.{}", field.section, field.key));
    if (names.back() != name) continue;
    // Refused before it could be taken for a string: no such string is a sensible value.
    if (const Status status = CheckTomlNesting(value); !status) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", name, status.error().message()));
    }
    toml::table table;
    try {
      table = toml::parse(fmt::format("value = {}", value));
    } catch (const toml::parse_error&) {
      table.clear();
    }
    if (table.size() != 1) table = toml::table{{"value", std::string(value)}};
    if (const Status status = field.read(config, *table.get("value")); !status) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", name, status.error().message()));
    }
    return {};
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = NearestWord(name, known);
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("unknown setting '{}'{}", name, nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest)));
}

Status SetConfig(Config& config, std::string_view setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a setting: write SECTION.KEY=VALUE", setting));
  }
  return SetConfig(config, setting.substr(0, equals), setting.substr(equals + 1));
}

Result<Config> LoadConfig(Env& env, const std::string& path, std::optional<Profile> instead) {
  ASSIGN_OR_RETURN(const std::string text, ReadSettings(env, path));
  return ParseConfig(text, path, instead);
}

Result<Config> LoadWholeConfig(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadSettings(env, path));
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, path));
  const auto unfit = [&](std::string_view what) {
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: {}: this is not the file of settings with which the crawl began; restore it from a copy", path,
                    what));
  };
  for (const std::string_view section : Sections()) {
    // Crawls that began before there were such settings go on with the defaults.
    if (section == "freshness") continue;
    if (!table.contains(section)) return unfit(fmt::format("there is no [{}]", section));
  }
  ASSIGN_OR_RETURN(Config config, ConfigOf(table, path, {}));
  if (config.crawl.seeds.empty() && config.crawl.seed_list.empty()) return unfit("crawl.seeds is empty");
  if (const Status status = ValidateConfig(config); !status) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, status.error().message()));
  }
  return config;
}

std::string ConfigToToml(const Config& config) {
  std::string out;
  std::string_view section;
  for (const ConfigField& field : ConfigFields()) {
    if (field.section != section) {
      section = field.section;
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    const std::string range = field.range.empty() ? "" : fmt::format(" [{}]", field.range);
    out += fmt::format("# {}{}\n{} = {}\n", field.comment, range, field.key, field.print(config));
  }
  return out;
}

}  // namespace portolan
