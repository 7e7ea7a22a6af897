#include "robots/robots_tag.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "http/date.h"

namespace portolan {
namespace {

constexpr std::string_view kUnavailableAfter = "unavailable_after";

constexpr std::array<std::pair<std::string_view, uint16_t>, 17> kDirectives = {{
    {"noindex", RobotsTag::kNoIndex},
    {"nofollow", RobotsTag::kNoFollow},
    {"none", RobotsTag::kNoIndex | RobotsTag::kNoFollow},
    {"noarchive", RobotsTag::kNoArchive},
    {"nocache", RobotsTag::kNoArchive},
    {"nosnippet", RobotsTag::kNoSnippet},
    {"noimageindex", RobotsTag::kNoImageIndex},
    {"notranslate", RobotsTag::kNoTranslate},
    {"indexifembedded", RobotsTag::kIndexIfEmbedded},
    {"noodp", RobotsTag::kNoOdp},
    {"noydir", RobotsTag::kNoOdp},
    {"noai", RobotsTag::kNoAi},
    {"noimageai", RobotsTag::kNoAi},
    {"noml", RobotsTag::kNoAi},
    // Known directives that do not concern us.
    {"all", 0},
    {"index", 0},
    {"follow", 0},
}};

std::string_view TrimmedDirective(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

// Directives that are followed by a colon and a value: what stands before the colon is not an agent.
bool TakesValue(std::string_view name) { return StartsWithIgnoringCase(name, "max-"); }

// The date at the front of `list`, which may hold one comma (after a weekday), and how many bytes of the list it takes.
struct ListedDate {
  std::optional<int64_t> seconds;
  size_t size;
};
ListedDate TakeDate(std::string_view list) {
  const size_t first = std::min(list.find(','), list.size());
  const auto shorter = ParseAnyDate(TrimmedDirective(list.substr(0, first)));
  if (shorter || first == list.size()) return {shorter, first};
  const size_t second = std::min(list.find(',', first + 1), list.size());
  const auto longer = ParseAnyDate(TrimmedDirective(list.substr(0, second)));
  return {longer, longer ? second : first};
}

}  // namespace

void RobotsTag::AddDirective(std::string_view directive) {
  for (const auto& [name, flags] : kDirectives) {
    if (EqualsIgnoringCase(directive, name)) flags_ |= flags;
  }
}

void RobotsTag::AddList(std::string_view list, bool agents) {
  bool for_us = true;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    const size_t colon = item.find(':');
    const std::string_view name = TrimmedDirective(item.substr(0, colon));
    size_t used = comma;
    if (colon == std::string_view::npos) {
      if (for_us) AddDirective(name);
    } else if (EqualsIgnoringCase(name, kUnavailableAfter)) {
      const ListedDate date = TakeDate(list.substr(colon + 1));
      used = colon + 1 + date.size;
      if (for_us && date.seconds) {
        unavailable_after_ = std::min(unavailable_after_.value_or(*date.seconds), *date.seconds);
      }
    } else if (agents && !TakesValue(name)) {
      for_us = EqualsIgnoringCase(name, agent_) || EqualsIgnoringCase(name, "robots") || name == "*";
      used = colon;  // what follows the colon is the first directive for that agent
    }
    list.remove_prefix(std::min(used + 1, list.size()));
  }
}

void RobotsTag::AddMeta(std::string_view name, std::string_view content) {
  name = TrimmedDirective(name);
  if (EqualsIgnoringCase(name, "robots") || EqualsIgnoringCase(name, agent_)) AddList(content, false);
}

void RobotsTag::AddField(std::string_view value) { AddList(value, true); }

}  // namespace portolan
