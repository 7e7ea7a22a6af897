#include "robots/robots_tag.h"

#include <algorithm>
#include <array>
#include <utility>

#include "http/ascii.h"
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
    // Known, and nothing that we could break.
    {"all", 0},
    {"index", 0},
    {"follow", 0},
}};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

// Directives that are followed by a colon and a value: what stands before the colon is no agent.
bool TakesValue(std::string_view name) {
  return StartsWithIgnoringCase(name, "max-") || EqualsIgnoringCase(name, kUnavailableAfter);
}

}  // namespace

void RobotsTag::AddDirective(std::string_view directive) {
  for (const auto& [name, flags] : kDirectives) {
    if (EqualsIgnoringCase(directive, name)) flags_ |= flags;
  }
}

void RobotsTag::AddDate(std::string_view date) {
  const std::optional<int64_t> seconds = ParseAnyDate(date);
  if (!seconds) return;
  unavailable_after_ = std::min(unavailable_after_.value_or(*seconds), *seconds);
}

void RobotsTag::AddMeta(std::string_view name, std::string_view content) {
  name = Trimmed(name);
  if (!EqualsIgnoringCase(name, "robots") && !EqualsIgnoringCase(name, agent_)) return;
  // As a field that speaks to everybody: a colon here never follows an agent's name.
  while (!content.empty()) {
    const size_t comma = content.find(',');
    std::string_view item = Trimmed(content.substr(0, comma));
    content.remove_prefix(comma == std::string_view::npos ? content.size() : comma + 1);
    if (StartsWithIgnoringCase(item, kUnavailableAfter)) {
      // A date may hold a comma after its weekday.
      const size_t colon = item.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view date = Trimmed(item.substr(colon + 1));
      if (ParseAnyDate(date)) {
        AddDate(date);
      } else if (comma != std::string_view::npos) {
        const std::string_view rest = content.substr(0, content.find(','));
        AddDate(std::string_view(date.data(), static_cast<size_t>(rest.data() + rest.size() - date.data())));
      }
      continue;
    }
    AddDirective(item);
  }
}

void RobotsTag::AddField(std::string_view value) {
  bool for_us = true;
  while (!value.empty()) {
    const size_t comma = value.find(',');
    std::string_view item = Trimmed(value.substr(0, comma));
    const size_t colon = item.find(':');
    if (colon != std::string_view::npos && !TakesValue(Trimmed(item.substr(0, colon)))) {
      const std::string_view agent = Trimmed(item.substr(0, colon));
      for_us = EqualsIgnoringCase(agent, agent_) || EqualsIgnoringCase(agent, "robots") || agent == "*";
      value.remove_prefix(static_cast<size_t>(item.data() - value.data()) + colon + 1);
      continue;
    }
    if (StartsWithIgnoringCase(item, kUnavailableAfter)) {
      const size_t next = comma == std::string_view::npos ? comma : value.find(',', comma + 1);
      const bool with_comma = colon != std::string_view::npos && comma != std::string_view::npos &&
                              !ParseAnyDate(Trimmed(item.substr(colon + 1))) &&
                              ParseAnyDate(Trimmed(value.substr(value.find(':') + 1, next - value.find(':') - 1)));
      const size_t end = with_comma ? next : comma;
      if (for_us) AddMeta("robots", value.substr(0, end));
      value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
      continue;
    }
    if (for_us) AddDirective(item);
    value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
  }
}

}  // namespace portolan
