#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/utf8.h"

namespace portolan {

size_t EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme: the row above the last is needed for swaps.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  // One slip in three letters still counts as a slip.
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const bool prefix = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = prefix ? 1 : EditDistance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

uint32_t ControlOf(std::string_view sequence) {
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<uint8_t>(sequence[at])); };
  uint32_t code_point = byte(0);
  if (sequence.size() == 1) return code_point < 0x20 || code_point == 0x7f ? code_point : kShowable;
  if (sequence.size() == 2) {
    code_point = (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    return code_point < 0xa0 || code_point == 0x61c ? code_point : kShowable;
  }
  if (sequence.size() != 3) return kShowable;
  code_point = (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  const bool marks = code_point == 0x200e || code_point == 0x200f;            // LRM, RLM
  const bool lines_and_turns = code_point >= 0x2028 && code_point <= 0x202e;  // LS, PS, LRE … RLO
  const bool isolates = code_point >= 0x2066 && code_point <= 0x2069;         // LRI … PDI
  return marks || lines_and_turns || isolates ? code_point : kShowable;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const uint32_t control = length == 0 ? static_cast<uint8_t>(text.front()) : ControlOf(text.substr(0, length));
    if (control == kShowable) {
      out.append(text.substr(0, length));
    } else if (length <= 1) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", control);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{{{:04x}}}", control);
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return out;
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace portolan
