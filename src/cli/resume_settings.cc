#include "cli/resume_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "crawl/config_fields.h"

namespace portolan {
namespace {

struct Fixed {
  std::string_view name;
  std::string_view why;
};

constexpr Fixed kFixed[] = {
    {"crawl.profile", "the other settings began with its defaults"},
    {"scope.canonical", "known URLs were spelt by it"},
    {"politeness.user_agent", "the stored robots.txt rules are those for it"},
    {"politeness.robots_token", "likewise"},
    {"budget.enabled", "URLs wait where the other way would not look for them"},
    {"budget.queues", "URLs wait in those that there are"},
    {"crawl.seed_list", "the crawl writes it: 'portolan run' takes more seeds"},
    {"archive.prefix", "recovery knows the crawl's files by it"},
    {"archive.directories", "recovery knows them by their order; one may be added at the end"},
};

bool IsAddition(const Config::Words& stored, const Config::Words& wanted) {
  return wanted.size() >= stored.size() && std::equal(stored.begin(), stored.end(), wanted.begin());
}

}  // namespace

Status CheckChanges(const Config& stored, const Config& wanted, bool& changed) {
  changed = false;
  std::string complaint;
  for (const ConfigField& field : ConfigFields()) {
    const std::string before = field.print(stored);
    const std::string after = field.print(wanted);
    if (before == after) continue;
    changed = true;
    const std::string name = fmt::format("{}.{}", field.section, field.key);
    const auto* fixed = std::ranges::find(kFixed, name, &Fixed::name);
    if (fixed == std::end(kFixed)) continue;
    if (name == "archive.directories" && IsAddition(stored.archive.directories, wanted.archive.directories)) continue;
    complaint += fmt::format("{}{}: stays {} for the life of a crawl: {}", complaint.empty() ? "" : "; ", name, before,
                             fixed->why);
  }
  if (complaint.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument, complaint);
}

std::string FixedSettings() {
  std::string names;
  for (const Fixed& fixed : kFixed) names += fmt::format("{}{}", names.empty() ? "" : ", ", fixed.name);
  return names;
}

}  // namespace portolan
