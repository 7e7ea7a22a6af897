#include "cli/phase_words.h"

#include <fmt/core.h>

#include "base/units.h"

namespace portolan {

std::string PhaseWords(const nlohmann::ordered_json& phases, bool running) {
  std::string words = fmt::format("{}, in turns by the clock", phases.value("number", uint64_t{0}));
  if (!running) return words;
  if (!phases.value("clock_good", true)) return words + ", which is not known well enough now: nothing is fetched";
  std::string groups;
  if (const auto list = phases.find("groups"); list != phases.end() && list->is_array()) {
    for (const auto& group : *list) {
      if (group.is_number_unsigned()) groups += (groups.empty() ? "" : ", ") + group.dump();
    }
  }
  const std::string next = FormatDuration(phases.value("next_s", 0.0));
  if (groups.empty()) return fmt::format("{}: between two turns, the next one begins in {}", words, next);
  return fmt::format("{}: now hosts of group {}, swap in {}", words, groups, next);
}

}  // namespace portolan
