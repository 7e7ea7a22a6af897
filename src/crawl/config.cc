#include "crawl/config.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "crawl/config_fields.h"

namespace portolan {
namespace {

std::unexpected<Error> At(const std::string& path, const toml::source_region& where, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path, where.begin.line, what));
}

// `what` is the kind of name ("section", "key in [log]") and `known` the valid ones.
std::unexpected<Error> Unknown(const std::string& path, const toml::key& name, std::string_view what,
                               const std::vector<std::string_view>& known) {
  const std::string_view nearest = NearestWord(name.str(), known);
  const std::string hint = nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
  return At(path, name.source(), fmt::format("unknown {} '{}'{}", what, name.str(), hint));
}

Status Apply(const ConfigField& field, const toml::node& node, const std::string& path, Config& config) {
  if (const Status status = field.read(config, node); !status) {
    return At(path, node.source(), fmt::format("{}.{}: {}", field.section, field.key, status.error().message()));
  }
  return {};
}

}  // namespace

Result<Config> ParseConfig(std::string_view text, const std::string& path, std::optional<Profile> instead) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return At(path, error.source(), error.description());
  }
  std::vector<std::string_view> sections;
  for (const ConfigField& field : ConfigFields()) {
    if (sections.empty() || sections.back() != field.section) sections.push_back(field.section);
  }

  // The profile says what everything else begins with, wherever it stands.
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

Status SetConfig(Config& config, std::string_view name, std::string_view value) {
  std::vector<std::string> names;
  for (const ConfigField& field : ConfigFields()) {
    names.push_back(fmt::format("{}.{}", field.section, field.key));
    if (names.back() != name) continue;
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
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no setting: write SECTION.KEY=VALUE", setting));
  }
  return SetConfig(config, setting.substr(0, equals), setting.substr(equals + 1));
}

Result<Config> LoadConfig(Env& env, const std::string& path, std::optional<Profile> instead) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
  return ParseConfig(text, path, instead);
}

std::string ConfigToToml(const Config& config) {
  std::string out;
  std::string_view section;
  for (const ConfigField& field : ConfigFields()) {
    if (field.section != section) {
      section = field.section;
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    out += fmt::format("# {}\n{} = {}\n", field.comment, field.key, field.print(config));
  }
  return out;
}

}  // namespace portolan
