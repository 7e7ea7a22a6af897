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
    {"crawl.profile", "the other settings started from its defaults"},
    {"scope.canonical", "the URLs already known were written in this form"},
    {"politeness.user_agent", "the stored robots.txt rules are for this name"},
    {"politeness.robots_token", "likewise"},
    {"budget.enabled", "URLs wait in files that the other mode does not read"},
    {"budget.queues", "URLs wait in the existing queues"},
    {"crawl.shards", "each domain's URLs are in the shard that it had at first"},
    {"crawl.partition", "each URL is in the shard that it had at first"},
    {"crawl.phases", "likewise"},
    {"crawl.phase_period", "turns would overlap with those before"},
    {"crawl.seed_list", "the crawl sets it; use 'portolan run' to add seeds"},
    {"archive.prefix", "recovery finds the crawl's files by it"},
    {"archive.directories", "recovery finds them by their order; directories may be added at the end"},
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
