#include "robots/robots_rules.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"

namespace portolan {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHeader = 24;
constexpr size_t kChecked = 8;  // where the bytes under the checksum begin
constexpr size_t kPadding = 8;
constexpr uint8_t kGroupBits = 3;
constexpr uint8_t kWideFlag = 4;
constexpr uint8_t kDelayFlag = 8;

uint32_t ChecksumOf(std::string_view bytes) {
  return static_cast<uint32_t>(Hash64(bytes.substr(kChecked), LoadLe<uint32_t>(bytes.data())));
}

// The first eight bytes as a number that orders as the bytes do. Canonical text holds no zero byte, so a shorter text
// is less than a longer one that begins with it.
uint64_t Head(const char* text, size_t size) {
  if (size >= 8) return __builtin_bswap64(LoadLe<uint64_t>(text));
  uint64_t head = 0;
  std::memcpy(&head, text, size);
  return __builtin_bswap64(head);
}

// As above for text that eight bytes may be loaded from.
uint64_t PaddedHead(const char* text, size_t size) {
  const uint64_t head = __builtin_bswap64(LoadLe<uint64_t>(text));
  return size >= 8 ? head : head & ~(~uint64_t{0} >> (8 * size));
}

}  // namespace

template <typename U>
struct RulesLayout {
  static uint32_t Begin(const RobotsRules& rules, size_t i) { return LoadLe<U>(rules.begins_ + i * sizeof(U)); }
  static uint32_t Key(const RobotsRules& rules, size_t i) { return LoadLe<U>(rules.keys_ + i * sizeof(U)); }
  static uint32_t Parent(const RobotsRules& rules, size_t i) { return LoadLe<U>(rules.parents_ + i * sizeof(U)); }
  static std::string_view Text(const RobotsRules& rules, size_t i) {
    const uint32_t begin = Begin(rules, i);
    return {rules.text_ + begin, Begin(rules, i + 1) - begin};
  }

  static bool Valid(const RobotsRules& rules, uint32_t text_size) {
    const size_t count = size_t{rules.plain_} + rules.starred_;
    if (Begin(rules, 0) != 0 || Begin(rules, count) != text_size) return false;
    for (size_t i = 0; i < count; ++i) {
      if (Begin(rules, i) >= Begin(rules, i + 1)) return false;
    }
    for (size_t i = 0; i < rules.plain_; ++i) {
      if (Parent(rules, i) > i) return false;
    }
    return true;
  }

  // The greatest key of the plain rules that `path` begins with; 1, an Allow of no octets, where there is none.
  static uint32_t PlainKey(const RobotsRules& rules, std::string_view path) {
    const uint64_t head = Head(path.data(), path.size());
    size_t low = 0;
    size_t high = rules.plain_;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      const std::string_view text = Text(rules, middle);
      const uint64_t text_head = PaddedHead(text.data(), text.size());
      bool after = text_head > head;
      if (text_head == head && text.size() > 8 && path.size() > 8) after = text.substr(8) > path.substr(8);
      if (text_head == head && text.size() > 8 && path.size() <= 8) after = true;
      if (after) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    size_t at = low;  // 1 + index, 0 = none
    while (at != 0 && !path.starts_with(Text(rules, at - 1))) at = Parent(rules, at - 1);
    uint32_t key = 1;
    for (; at != 0; at = Parent(rules, at - 1)) key = std::max(key, Key(rules, at - 1));
    return key;
  }

  static bool Allows(const RobotsRules& rules, std::string_view path) {
    const uint32_t plain_key = rules.plain_ == 0 ? 1 : PlainKey(rules, path);
    if (rules.starred_ == 0) return (plain_key & 1) != 0;
    const PairSet absent = ~PairsOfPath(path);
    size_t work = 0;
    for (size_t i = 0; i < rules.starred_; ++i) {
      if ((LoadLe<uint64_t>(rules.pairs_ + i * sizeof(PairSet)) & absent) != 0) continue;
      const size_t rule = rules.plain_ + i;
      const uint32_t key = Key(rules, rule);
      if (key <= plain_key) break;
      work += path.size();
      if (work > RobotsRules::kMaxMatchBytes) return false;
      if (PatternMatches(Text(rules, rule), path)) return (key & 1) != 0;
    }
    return (plain_key & 1) != 0;
  }
};

Result<RobotsRules> RobotsRules::Open(std::string_view bytes) {
  const auto corrupt = [](const char* what) { return Fail(ErrorCode::kCorrupt, std::string("robots rules: ") + what); };
  if (bytes.empty()) return corrupt("no bytes");
  if (static_cast<uint8_t>(bytes[0]) != kVersion) {
    return Fail(ErrorCode::kUnsupported, "robots rules: version " + std::to_string(static_cast<uint8_t>(bytes[0])));
  }
  if (bytes.size() < kHeader + kPadding) return corrupt("shorter than a header");
  const auto flags = static_cast<uint8_t>(bytes[1]);
  if (flags >= 2 * kDelayFlag || bytes[2] != 0 || bytes[3] != 0) return corrupt("unknown flags");
  if (LoadLe<uint32_t>(bytes.data() + 4) != ChecksumOf(bytes)) return corrupt("checksum differs");

  RobotsRules rules;
  rules.group_ = static_cast<RobotsGroup>(flags & kGroupBits);
  rules.wide_ = (flags & kWideFlag) != 0;
  if ((flags & kDelayFlag) != 0) rules.crawl_delay_ms_ = LoadLe<uint32_t>(bytes.data() + 8);
  rules.plain_ = LoadLe<uint32_t>(bytes.data() + 12);
  rules.starred_ = LoadLe<uint32_t>(bytes.data() + 16);
  const uint32_t text_size = LoadLe<uint32_t>(bytes.data() + 20);

  const uint64_t width = rules.wide_ ? 4 : 2;
  const uint64_t count = uint64_t{rules.plain_} + rules.starred_;
  const uint64_t expected = kHeader + width * (2 * count + 1 + rules.plain_) +
                            sizeof(PairSet) * uint64_t{rules.starred_} + text_size + kPadding;
  if (bytes.size() != expected) return corrupt("size differs from its counts");
  rules.begins_ = bytes.data() + kHeader;
  rules.keys_ = rules.begins_ + width * (count + 1);
  rules.parents_ = rules.keys_ + width * count;
  rules.pairs_ = rules.parents_ + width * rules.plain_;
  rules.text_ = rules.pairs_ + sizeof(PairSet) * rules.starred_;
  const bool valid =
      rules.wide_ ? RulesLayout<uint32_t>::Valid(rules, text_size) : RulesLayout<uint16_t>::Valid(rules, text_size);
  if (!valid) return corrupt("rules out of order");
  return rules;
}

bool RobotsRules::Allows(std::string_view path) const {
  if (path.empty()) path = "/";
  if (path.size() == 11 && path == "/robots.txt") return true;
  std::string canonical;
  if (!IsCanonicalPath(path)) {
    canonical.reserve(path.size() + 64);
    AppendCanonicalPath(path, canonical);
    path = canonical;
  }
  return wide_ ? RulesLayout<uint32_t>::Allows(*this, path) : RulesLayout<uint16_t>::Allows(*this, path);
}

RobotsRules::Rule RobotsRules::At(size_t index) const {
  const uint32_t key = wide_ ? RulesLayout<uint32_t>::Key(*this, index) : RulesLayout<uint16_t>::Key(*this, index);
  return Rule{.pattern = wide_ ? RulesLayout<uint32_t>::Text(*this, index) : RulesLayout<uint16_t>::Text(*this, index),
              .octets = key >> 1,
              .allow = (key & 1) != 0};
}

void RobotsRulesBuilder::Add(std::string_view path, bool allow) {
  if (path.size() > kMaxRule) return;
  std::optional<PathPattern> pattern = ParsePathPattern(path);
  if (!pattern || pattern->text.size() > kMaxRule) return;
  auto& rules = pattern->plain() ? plain_ : starred_;
  rules.push_back(Rule{.text = std::move(pattern->text), .key = 2 * pattern->octets + (allow ? 1 : 0)});
}

namespace {

template <typename U>
void AppendAll(std::string& out, const std::vector<uint32_t>& numbers) {
  for (const uint32_t number : numbers) AppendLe<U>(out, static_cast<U>(number));
}

}  // namespace

std::string RobotsRulesBuilder::Build() && {
  // Of rules with one text only the strongest can ever decide.
  const auto text_then_strength = [](const Rule& a, const Rule& b) {
    const int order = a.text.compare(b.text);
    return order != 0 ? order < 0 : a.key > b.key;
  };
  for (auto* rules : {&plain_, &starred_}) {
    std::sort(rules->begin(), rules->end(), text_then_strength);
    const auto same_text = [](const Rule& a, const Rule& b) { return a.text == b.text; };
    rules->erase(std::unique(rules->begin(), rules->end(), same_text), rules->end());
  }
  std::sort(starred_.begin(), starred_.end(),
            [](const Rule& a, const Rule& b) { return a.key != b.key ? a.key > b.key : a.text < b.text; });

  std::vector<uint32_t> begins, keys, parents;
  std::string pairs, text;
  uint32_t greatest = 0;
  for (const auto* rules : {&plain_, &starred_}) {
    for (const Rule& rule : *rules) {
      begins.push_back(static_cast<uint32_t>(text.size()));
      keys.push_back(rule.key);
      greatest = std::max(greatest, rule.key);
      text += rule.text;
    }
  }
  begins.push_back(static_cast<uint32_t>(text.size()));
  for (const Rule& rule : starred_) AppendLe<uint64_t>(pairs, PairsOfPattern(rule.text));
  for (size_t i = 0; i < plain_.size(); ++i) {
    // The rule before this one, or one that is a prefix of that: see the header.
    size_t parent = i;
    while (parent != 0 && !plain_[i].text.starts_with(plain_[parent - 1].text)) parent = parents[parent - 1];
    parents.push_back(static_cast<uint32_t>(parent));
  }

  const bool wide = std::max({text.size(), begins.size(), size_t{greatest}}) > UINT16_MAX;
  std::string out;
  out.push_back(static_cast<char>(kVersion));
  out.push_back(
      static_cast<char>(static_cast<uint8_t>(group_) | (wide ? kWideFlag : 0) | (crawl_delay_ms_ ? kDelayFlag : 0)));
  out.append(6, '\0');
  AppendLe<uint32_t>(out, crawl_delay_ms_.value_or(0));
  AppendLe<uint32_t>(out, static_cast<uint32_t>(plain_.size()));
  AppendLe<uint32_t>(out, static_cast<uint32_t>(starred_.size()));
  AppendLe<uint32_t>(out, static_cast<uint32_t>(text.size()));
  for (const auto* numbers : {&begins, &keys, &parents}) {
    if (wide) {
      AppendAll<uint32_t>(out, *numbers);
    } else {
      AppendAll<uint16_t>(out, *numbers);
    }
  }
  out += pairs;
  out += text;
  out.append(kPadding, '\0');
  StoreLe<uint32_t>(out.data() + 4, ChecksumOf(out));
  return out;
}

std::string WholeRobotsRules(bool allow) {
  RobotsRulesBuilder builder;
  builder.SetGroup(RobotsGroup::kWhole);
  if (!allow) builder.Add("/", false);
  return std::move(builder).Build();
}

}  // namespace portolan
