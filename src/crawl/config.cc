#include "crawl/config.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <functional>
#include <sstream>
#include <vector>

#include "base/text.h"

namespace portolan {
namespace {

struct Field {
  std::string_view section;
  std::string_view key;
  std::string_view comment;
  std::function<Status(Config&, const toml::node&)> read;
  std::function<std::string(const Config&)> print;  // as TOML
};

Result<std::string> WantString(const toml::node& node) {
  if (const auto value = node.value<std::string>()) return *value;
  return Fail(ErrorCode::kInvalidArgument, "wants a string in quotes");
}

const std::vector<Field>& Fields() {
  static const std::vector<Field> fields = {
      {"log", "level", "What to say: debug, info, warn, error or off.",
       [](Config& config, const toml::node& node) -> Status {
         ASSIGN_OR_RETURN(const std::string name, WantString(node));
         ASSIGN_OR_RETURN(config.log.level, ParseLogLevel(name));
         return {};
       },
       [](const Config& config) { return fmt::format("\"{}\"", LogLevelName(config.log.level)); }},
      {"log", "format", "How to say it: human, or json for one object a line.",
       [](Config& config, const toml::node& node) -> Status {
         ASSIGN_OR_RETURN(const std::string name, WantString(node));
         ASSIGN_OR_RETURN(config.log.format, ParseLogFormat(name));
         return {};
       },
       [](const Config& config) { return fmt::format("\"{}\"", LogFormatName(config.log.format)); }},
  };
  return fields;
}

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

}  // namespace

Result<Config> ParseConfig(std::string_view text, const std::string& path) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return At(path, error.source(), error.description());
  }
  std::vector<std::string_view> sections;
  for (const Field& field : Fields()) {
    if (sections.empty() || sections.back() != field.section) sections.push_back(field.section);
  }

  Config config;
  for (const auto& [section_name, section_node] : table) {
    const std::string_view section = section_name.str();
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
      return Unknown(path, section_name, "section", sections);
    }
    const toml::table* keys = section_node.as_table();
    if (keys == nullptr) return At(path, section_node.source(), fmt::format("'{}' must be a section", section));
    for (const auto& [key_name, node] : *keys) {
      std::vector<std::string_view> known;
      const Field* match = nullptr;
      for (const Field& field : Fields()) {
        if (field.section != section) continue;
        known.push_back(field.key);
        if (field.key == key_name.str()) match = &field;
      }
      if (match == nullptr) return Unknown(path, key_name, fmt::format("key in [{}]", section), known);
      if (const Status status = match->read(config, node); !status) {
        return At(path, node.source(), fmt::format("{}.{}: {}", section, match->key, status.error().message()));
      }
    }
  }
  return config;
}

Result<Config> LoadConfig(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
  return ParseConfig(text, path);
}

std::string ConfigToToml(const Config& config) {
  std::string out;
  std::string_view section;
  for (const Field& field : Fields()) {
    if (field.section != section) {
      section = field.section;
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    out += fmt::format("# {}\n{} = {}\n", field.comment, field.key, field.print(config));
  }
  return out;
}

}  // namespace portolan
