#include "crawl/config_values.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace portolan {
namespace {

constexpr double kMaxSeconds = 100.0 * 366 * 86'400;  // fits into nanoseconds; the range of each setting is smaller
constexpr std::string_view kNone = "none";
constexpr std::string_view kAuto = "auto";

// True if the value is that word. Otherwise it is read as the setting's own type.
bool IsWord(const toml::node& node, std::string_view word) {
  const auto text = node.value_exact<std::string_view>();
  return text && *text == word;
}

template <typename E>
struct Word {
  std::string_view name;
  E value;
};
constexpr std::array<Word<Profile>, 2> kProfiles = {{{"site", Profile::kSite}, {"web", Profile::kWeb}}};
constexpr std::array<Word<ScopeMode>, 4> kScopeModes = {{{"domain", ScopeMode::kDomain},
                                                         {"host", ScopeMode::kHost},
                                                         {"prefix", ScopeMode::kPrefix},
                                                         {"any", ScopeMode::kAny}}};
constexpr std::array<Word<Partition>, 2> kPartitions = {{{"domain", Partition::kDomain}, {"phase", Partition::kPhase}}};
constexpr std::array<Word<DuplicatePolicy>, 3> kDuplicatePolicies = {
    {{"keep", DuplicatePolicy::kKeep}, {"mark", DuplicatePolicy::kMark}, {"skip", DuplicatePolicy::kSkip}}};
constexpr std::array<Word<NearPolicy>, 3> kNearPolicies = {
    {{"keep", NearPolicy::kKeep}, {"mark", NearPolicy::kMark}, {"skip", NearPolicy::kSkip}}};
constexpr std::array<Word<IpPreference>, 4> kIpPreferences = {{{"v4-first", IpPreference::kV4First},
                                                               {"v6-first", IpPreference::kV6First},
                                                               {"v4-only", IpPreference::kV4Only},
                                                               {"v6-only", IpPreference::kV6Only}}};

std::unexpected<Error> Wants(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("must be {}", what));
}

Result<std::string> WantString(const toml::node& node) {
  if (const auto value = node.value_exact<std::string>()) return *value;
  return Wants("a string in quotes");
}

template <typename E, size_t N>
Result<E> WordFor(std::string_view name, const std::array<Word<E>, N>& words) {
  std::string known;
  std::vector<std::string_view> names;
  for (const Word<E>& word : words) {
    if (word.name == name) return word.value;
    known += (known.empty() ? "" : ", ") + std::string(word.name);
    names.push_back(word.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  const std::string hint = nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not one of {}{}", name, known, hint));
}

template <typename E, size_t N>
std::string_view NameOf(E value, const std::array<Word<E>, N>& words) {
  for (const Word<E>& word : words) {
    if (word.value == value) return word.name;
  }
  return "?";
}

template <typename E, size_t N>
Status ReadWord(const toml::node& node, const std::array<Word<E>, N>& words, E& value) {
  ASSIGN_OR_RETURN(const std::string name, WantString(node));
  ASSIGN_OR_RETURN(value, WordFor(name, words));
  return {};
}

// A TOML basic string.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '"' || c == '\\') {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string QuotedList(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + Quoted(word);
  return "[" + out + "]";
}

}  // namespace

Result<Profile> ParseProfile(std::string_view name) { return WordFor(name, kProfiles); }
std::string_view ProfileName(Profile profile) { return NameOf(profile, kProfiles); }

Status ReadSetting(const toml::node& node, bool& value) {
  const auto read = node.value_exact<bool>();
  if (!read) return Wants("true or false");
  value = *read;
  return {};
}

Status ReadSetting(const toml::node& node, uint64_t& value) {
  if (const auto text = node.value_exact<std::string>()) {
    ASSIGN_OR_RETURN(value, ParseCount(*text));
  } else if (const auto number = node.value_exact<int64_t>(); number && *number >= 0) {
    value = static_cast<uint64_t>(*number);
  } else {
    return Wants("a number from 0 up, or one with a unit in quotes: \"20K\"");
  }
  return {};
}

Status ReadSetting(const toml::node& node, double& value) {
  const auto read = node.is_number() ? node.value<double>() : std::nullopt;
  if (!read || !std::isfinite(*read) || *read < 0) return Wants("a number from 0 up");
  value = *read + 0.0;  // no negative zero
  return {};
}

Status ReadSetting(const toml::node& node, std::optional<uint64_t>& value) {
  value.reset();
  return IsWord(node, kNone) ? Status() : ReadSetting(node, value.emplace());
}

Status ReadSetting(const toml::node& node, std::optional<double>& value) {
  value.reset();
  return IsWord(node, kAuto) ? Status() : ReadSetting(node, value.emplace());
}

Status ReadSetting(const toml::node& node, std::string& value) {
  ASSIGN_OR_RETURN(value, WantString(node));
  return {};
}

Status ReadSetting(const toml::node& node, std::vector<std::string>& value) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return Wants("a list of strings: [\"a\", \"b\"]");
  value.clear();
  for (const toml::node& one : *list) {
    ASSIGN_OR_RETURN(std::string word, WantString(one));
    value.push_back(std::move(word));
  }
  return {};
}

Status ReadSetting(const toml::node& node, Config::Duration& value) {
  double seconds = 0;
  if (const auto text = node.value_exact<std::string>()) {
    ASSIGN_OR_RETURN(seconds, ParseSeconds(*text));
  } else if (node.is_number()) {
    seconds = node.value<double>().value_or(-1);
  } else {
    return Wants("a duration in quotes: \"250ms\", \"30s\", \"5m\", \"2h\", \"41d\"");
  }
  if (!(seconds >= 0) || seconds > kMaxSeconds) {
    return Fail(ErrorCode::kInvalidArgument, "must be a duration between 0 and a hundred years");
  }
  value = std::chrono::microseconds(std::llround(seconds * 1e6));
  return {};
}

Status ReadSetting(const toml::node& node, ByteCount& value) {
  if (const auto text = node.value_exact<std::string>()) {
    ASSIGN_OR_RETURN(value.bytes, ParseBytes(*text));
  } else if (const auto number = node.value_exact<int64_t>(); number && *number >= 0) {
    value.bytes = static_cast<uint64_t>(*number);
  } else {
    return Wants("a size in quotes: \"64K\", \"256M\", \"1G\"");
  }
  return {};
}

Status ReadSetting(const toml::node& node, CanonicalRules& value) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(ReadSetting(node, names));
  value = CanonicalRules::None();
  for (const std::string& name : names) {
    const auto rule = ParseCanonicalRule(name);
    if (!rule) return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a canonical rule", name));
    value = value | *rule;
  }
  return {};
}

Status ReadSetting(const toml::node& node, Profile& value) { return ReadWord(node, kProfiles, value); }
Status ReadSetting(const toml::node& node, ScopeMode& value) { return ReadWord(node, kScopeModes, value); }
Status ReadSetting(const toml::node& node, Partition& value) { return ReadWord(node, kPartitions, value); }
Status ReadSetting(const toml::node& node, DuplicatePolicy& value) { return ReadWord(node, kDuplicatePolicies, value); }
Status ReadSetting(const toml::node& node, NearPolicy& value) { return ReadWord(node, kNearPolicies, value); }
Status ReadSetting(const toml::node& node, IpPreference& value) { return ReadWord(node, kIpPreferences, value); }

Status ReadSetting(const toml::node& node, LogLevel& value) {
  ASSIGN_OR_RETURN(const std::string name, WantString(node));
  ASSIGN_OR_RETURN(value, ParseLogLevel(name));
  return {};
}

Status ReadSetting(const toml::node& node, LogFormat& value) {
  ASSIGN_OR_RETURN(const std::string name, WantString(node));
  ASSIGN_OR_RETURN(value, ParseLogFormat(name));
  return {};
}

std::string PrintSetting(bool value) { return value ? "true" : "false"; }
std::string PrintSetting(uint64_t value) { return fmt::format("{}", value); }
std::string PrintSetting(double value) { return fmt::format("{}", value); }
std::string PrintSetting(const std::optional<uint64_t>& value) { return value ? PrintSetting(*value) : Quoted(kNone); }
std::string PrintSetting(const std::optional<double>& value) { return value ? PrintSetting(*value) : Quoted(kAuto); }
std::string PrintSetting(const std::string& value) { return Quoted(value); }
std::string PrintSetting(const std::vector<std::string>& value) { return QuotedList(value); }

std::string PrintSetting(Config::Duration value) {
  struct Unit {
    std::string_view name;
    int64_t microseconds;
  };
  static constexpr std::array<Unit, 6> kUnits = {
      {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};
  const int64_t microseconds = std::chrono::duration_cast<std::chrono::microseconds>(value).count();
  for (const Unit& unit : kUnits) {
    if (microseconds == 0 || microseconds % unit.microseconds != 0) continue;
    return fmt::format("\"{}{}\"", microseconds / unit.microseconds, unit.name);
  }
  return "\"0s\"";
}

std::string PrintSetting(ByteCount value) {
  static constexpr std::array<std::pair<char, int>, 4> kUnits = {{{'T', 40}, {'G', 30}, {'M', 20}, {'K', 10}}};
  for (const auto& [name, shift] : kUnits) {
    if (value.bytes != 0 && value.bytes % (uint64_t{1} << shift) == 0) {
      return fmt::format("\"{}{}\"", value.bytes >> shift, name);
    }
  }
  return fmt::format("{}", value.bytes);
}

std::string PrintSetting(CanonicalRules value) {
  std::vector<std::string> names;
  for (uint32_t bit = 1; bit != 0 && bit <= CanonicalRules::All().bits(); bit <<= 1) {
    const auto rule = static_cast<CanonicalRule>(bit);
    if (value.Has(rule)) names.emplace_back(CanonicalRuleName(rule));
  }
  return QuotedList(names);
}

std::string PrintSetting(Profile value) { return Quoted(NameOf(value, kProfiles)); }
std::string PrintSetting(ScopeMode value) { return Quoted(NameOf(value, kScopeModes)); }
std::string PrintSetting(Partition value) { return Quoted(NameOf(value, kPartitions)); }
std::string PrintSetting(DuplicatePolicy value) { return Quoted(NameOf(value, kDuplicatePolicies)); }
std::string PrintSetting(NearPolicy value) { return Quoted(NameOf(value, kNearPolicies)); }
std::string PrintSetting(IpPreference value) { return Quoted(NameOf(value, kIpPreferences)); }
std::string PrintSetting(LogLevel value) { return Quoted(LogLevelName(value)); }
std::string PrintSetting(LogFormat value) { return Quoted(LogFormatName(value)); }

}  // namespace portolan
