#include "rules/rule_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/ascii.h"
#include "base/text.h"
#include "base/toml_nesting.h"
#include "base/units.h"
#include "rules/pattern_set.h"
#include "url/url.h"

namespace portolan {
namespace {

constexpr std::array<std::string_view, 16> kRuleKeys = {
    "action",    "host",      "domain",   "prefix",   "pattern",        "extension",        "type",  "kind",
    "min_depth", "max_depth", "min_size", "max_size", "pages_per_host", "pages_per_domain", "delay", "priority"};
constexpr std::string_view kRuleTable = "rule";

std::unexpected<Error> AtLine(const std::string& path, uint32_t line, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: {}", path, line, what));
}

uint32_t LineOf(const toml::node& node) { return static_cast<uint32_t>(node.source().begin.line); }

std::string Hint(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestWord(word, known);
  return nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
}

// The host of a URL, as canonical URLs have it; nullopt: it is none.
std::optional<std::string> CanonicalHost(std::string_view text) {
  if (text.empty() || text.find_first_of("/?#@\\ \t\r\n%") != std::string_view::npos) return std::nullopt;
  if (text.find(':') != std::string_view::npos && !text.starts_with('[')) return std::nullopt;  // a port
  const auto url = Url::Parse(fmt::format("http://{}/", text));
  if (!url || url->port() != Url::kNoPort) return std::nullopt;
  std::string host(url->hostname());
  if (host.empty() || host.ends_with(".")) return std::nullopt;
  return host;
}

std::optional<std::string> CanonicalPrefix(std::string_view text) {
  const auto url = Url::Parse(text);
  if (!url || (url->scheme() != "http" && url->scheme() != "https") || url->hostname().empty()) return std::nullopt;
  if (!url->username().empty()) return std::nullopt;
  const std::string href(url->href());
  return href.substr(0, href.find('#'));
}

class RuleReader {
 public:
  RuleReader(const toml::table& table, const std::string& path, uint32_t number)
      : table_(table), path_(path), line_(LineOf(table)) {
    rule_.file = path;
    rule_.line = line_;
    rule_.number = number;
  }

  Result<Rule> Read() {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(kRuleKeys, key.str()) != kRuleKeys.end()) continue;
      const auto line = static_cast<uint32_t>(key.source().begin.line);
      if (key.str() == "depth" || key.str() == "size") {
        return AtLine(path_, line, fmt::format("unknown key '{0}' in a rule: write min_{0} or max_{0}", key.str()));
      }
      return AtLine(path_, line, fmt::format("unknown key '{}' in a rule{}", key.str(), Hint(key.str(), kRuleKeys)));
    }
    RETURN_IF_ERROR(ReadAction());
    RETURN_IF_ERROR(ReadConditions());
    RETURN_IF_ERROR(ReadRanges());
    RETURN_IF_ERROR(ReadArguments());
    if (rule_.WantsAnswer() && !rule_.Judges()) {
      return AtLine(path_, line_,
                    fmt::format("{} needs to know before the fetch: size and type are known only after it",
                                RuleActionName(rule_.action)));
    }
    return std::move(rule_);
  }

 private:
  std::unexpected<Error> Wrong(const toml::node& node, std::string_view key, std::string_view what) const {
    return AtLine(path_, LineOf(node), fmt::format("{}: {}", key, what));
  }

  Status ReadAction() {
    const toml::node* node = table_.get("action");
    static constexpr std::array<std::string_view, 5> kNames = {"include", "exclude", "limit", "rate", "priority"};
    if (node == nullptr) {
      return AtLine(path_, line_, "a rule needs an action: include, exclude, limit, rate or priority");
    }
    const auto name = node->value_exact<std::string>();
    if (!name) return Wrong(*node, "action", "must be include, exclude, limit, rate or priority, in quotes");
    const auto found = std::ranges::find(kNames, *name);
    if (found == kNames.end()) {
      return Wrong(
          *node, "action",
          fmt::format("'{}' is not one of include, exclude, limit, rate, priority{}", *name, Hint(*name, kNames)));
    }
    rule_.action = static_cast<RuleAction>(found - kNames.begin());
    return {};
  }

  // A string, or a list of strings that is not empty; each is made canonical by `make`.
  template <typename Make>
  Status ReadWords(std::string_view key, Rule::Words& words, Make make) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const auto take = [&](const toml::node& one) -> Status {
      const auto text = one.value_exact<std::string>();
      if (!text) return Wrong(one, key, "must be a string in quotes, or a list of strings");
      std::string word = *text;
      if (const std::string wrong = make(word); !wrong.empty()) {
        return Wrong(one, key, fmt::format("'{}' {}", *text, wrong));
      }
      words.push_back(std::move(word));
      return {};
    };
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& one : *list) RETURN_IF_ERROR(take(one));
      if (words.empty()) return Wrong(*node, key, "is an empty list: the rule would never hold");
    } else {
      RETURN_IF_ERROR(take(*node));
    }
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    return {};
  }

  Status ReadConditions() {
    const auto host = [](std::string& word) -> std::string {
      const auto canonical = CanonicalHost(word);
      if (!canonical) return "is not a host name: write it like www.example.org, without scheme and port";
      word = *canonical;
      return {};
    };
    RETURN_IF_ERROR(ReadWords("host", rule_.hosts, host));
    RETURN_IF_ERROR(ReadWords("domain", rule_.domains, [&](std::string& word) -> std::string {
      if (word.starts_with("*.")) word.erase(0, 2);
      return host(word).empty() ? "" : "is not a domain: write it like example.org";
    }));
    RETURN_IF_ERROR(ReadWords("prefix", rule_.prefixes, [](std::string& word) -> std::string {
      const auto canonical = CanonicalPrefix(word);
      if (!canonical) return "is not the beginning of an http or https URL, with a whole host name";
      word = *canonical;
      return {};
    }));
    RETURN_IF_ERROR(
        ReadWords("pattern", rule_.patterns, [](const std::string& word) { return PatternSet::WhatIsWrong(word); }));
    RETURN_IF_ERROR(ReadWords("extension", rule_.extensions, [](std::string& word) -> std::string {
      if (word.starts_with('.')) word.erase(0, 1);
      word = LowerCase(word);
      if (word.empty() || word.find_first_of("/?#*") != std::string::npos) {
        return "is not an extension: write it like zip";
      }
      return {};
    }));
    RETURN_IF_ERROR(ReadWords("type", rule_.types, [](std::string& word) -> std::string {
      word = LowerCase(word);
      const size_t slash = word.find('/');
      const bool good = slash != std::string::npos && slash > 0 && slash + 1 < word.size() &&
                        word.find_first_of(" ;,\t") == std::string::npos && word.find('*') >= slash + 1 &&
                        (word.find('*') == std::string::npos || word.substr(slash + 1) == "*");
      return good ? "" : "is not a type: write it like text/html or image/*";
    }));
    Rule::Words kinds;
    RETURN_IF_ERROR(ReadWords("kind", kinds, [](const std::string& word) -> std::string {
      return word == "page" || word == "requisite" || word == "sitemap" ? "" : "is not one of page, requisite, sitemap";
    }));
    for (const RuleKind kind : {kRulePage, kRuleRequisite, kRuleSitemap}) {
      if (std::ranges::find(kinds, RuleKindName(kind)) != kinds.end()) rule_.kinds |= kind;
    }
    return {};
  }

  // A number from 0 up, with a unit in quotes if `parse` reads that.
  template <typename Parse>
  Result<std::optional<uint64_t>> ReadNumber(std::string_view key, Parse parse, std::string_view wanted) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    if (const auto number = node->value_exact<int64_t>(); number && *number >= 0) {
      return static_cast<uint64_t>(*number);
    }
    if (const auto text = node->value_exact<std::string>()) {
      const Result<uint64_t> number = parse(*text);
      if (!number) return Wrong(*node, key, number.error().message());
      return *number;
    }
    return Wrong(*node, key, fmt::format("must be {}", wanted));
  }

  template <typename T, typename Parse>
  Status ReadRange(std::string_view name, Rule::Range<T>& range, Parse parse, std::string_view wanted) {
    const std::string low = fmt::format("min_{}", name);
    const std::string high = fmt::format("max_{}", name);
    ASSIGN_OR_RETURN(const auto least, ReadNumber(low, parse, wanted));
    ASSIGN_OR_RETURN(const auto most, ReadNumber(high, parse, wanted));
    constexpr uint64_t kMost = std::numeric_limits<T>::max();
    if (least) range.least = static_cast<T>(std::min<uint64_t>(*least, kMost));
    if (most) range.most = static_cast<T>(std::min<uint64_t>(*most, kMost));
    if (range.least > range.most) {
      return Wrong(*table_.get(low), low,
                   fmt::format("{} is above {} = {}: the rule would never hold", range.least, high, range.most));
    }
    return {};
  }

  Status ReadRanges() {
    RETURN_IF_ERROR(ReadRange("depth", rule_.depth, ParseCount, "a number from 0 up"));
    return ReadRange("size", rule_.size, ParseBytes, "a size in quotes: \"64K\", \"256M\", \"1G\"");
  }

  Status Belongs(std::string_view key, RuleAction action) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || rule_.action == action) return {};
    return Wrong(*node, key,
                 fmt::format("belongs to action = \"{}\", this rule has \"{}\"", RuleActionName(action),
                             RuleActionName(rule_.action)));
  }

  Status ReadArguments() {
    RETURN_IF_ERROR(Belongs("pages_per_host", RuleAction::kLimit));
    RETURN_IF_ERROR(Belongs("pages_per_domain", RuleAction::kLimit));
    RETURN_IF_ERROR(Belongs("delay", RuleAction::kRate));
    RETURN_IF_ERROR(Belongs("priority", RuleAction::kPriority));
    constexpr uint64_t kMostPages = 4'000'000'000;
    for (const auto& [key, value] :
         {std::pair{"pages_per_host", &rule_.pages_per_host}, {"pages_per_domain", &rule_.pages_per_domain}}) {
      ASSIGN_OR_RETURN(const auto number, ReadNumber(key, ParseCount, "a number from 0 up, 0 for no limit"));
      if (number && *number > kMostPages) return Wrong(*table_.get(key), key, "must be at most 4000000000");
      *value = number.value_or(0);
    }
    if (rule_.action == RuleAction::kLimit && !table_.contains("pages_per_host") &&
        !table_.contains("pages_per_domain")) {
      return AtLine(path_, line_, "a limit needs pages_per_host or pages_per_domain");
    }
    if (rule_.action == RuleAction::kRate) RETURN_IF_ERROR(ReadDelay());
    if (rule_.action != RuleAction::kPriority) return {};
    const std::string wanted = fmt::format("a number from 0 (first) to {} (last)", kRulePriorities - 1);
    ASSIGN_OR_RETURN(const auto priority, ReadNumber("priority", ParseCount, wanted));
    if (!priority) return AtLine(path_, line_, fmt::format("this action needs a priority: {}", wanted));
    if (*priority >= kRulePriorities) {
      return Wrong(*table_.get("priority"), "priority", fmt::format("must be {}", wanted));
    }
    rule_.priority = static_cast<uint32_t>(*priority);
    return {};
  }

  Status ReadDelay() {
    constexpr std::string_view kWanted = "a duration from 1ms to 1d in quotes: \"250ms\", \"30s\", \"5m\"";
    const toml::node* node = table_.get("delay");
    if (node == nullptr) return AtLine(path_, line_, fmt::format("a rate needs a delay: {}", kWanted));
    const auto text = node->value_exact<std::string>();
    const Result<double> seconds = text                ? ParseSeconds(*text)
                                   : node->is_number() ? Result<double>(node->value<double>().value_or(-1))
                                                       : Result<double>(-1);
    const double ns = seconds ? *seconds * 1e9 : -1;
    if (!(ns >= kLeastRuleDelayNs) || ns > kMostRuleDelayNs) {
      return Wrong(*node, "delay", fmt::format("must be {}", kWanted));
    }
    constexpr int64_t kMillisecond = 1'000'000;
    rule_.delay_ns = std::llround(ns / kMillisecond) * kMillisecond;
    return {};
  }

  const toml::table& table_;
  const std::string& path_;
  const uint32_t line_;
  Rule rule_;
};

}  // namespace

Result<std::vector<Rule>> RulesOf(const toml::node& list, const std::string& path) {
  const toml::array* array = list.as_array();
  if (array == nullptr) return AtLine(path, LineOf(list), "rules must be a list of tables");
  if (array->size() > kMaxRules) {
    return AtLine(path, LineOf(list),
                  fmt::format("{} rules, {} are the most: one rule may have a list of hosts or patterns, and a block "
                              "list may have millions of names",
                              array->size(), kMaxRules));
  }
  std::vector<Rule> rules;
  rules.reserve(array->size());
  for (const toml::node& node : *array) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return AtLine(path, LineOf(node), "a rule must be a table: { action = \"exclude\", … }");
    ASSIGN_OR_RETURN(Rule rule, RuleReader(*table, path, static_cast<uint32_t>(rules.size() + 1)).Read());
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> ParseRuleFile(std::string_view text, const std::string& path) {
  if (text.size() > kMaxRuleFile) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} are more than a file of rules may have ({})", path,
                                                 FormatBytes(text.size()), FormatBytes(kMaxRuleFile)));
  }
  if (const Status status = CheckTomlNesting(text); !status) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, status.error().message()));
  }
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return AtLine(path, static_cast<uint32_t>(error.source().begin.line), error.description());
  }
  const toml::node* list = nullptr;
  for (const auto& [key, node] : table) {
    if (key.str() != kRuleTable) {
      return AtLine(path, static_cast<uint32_t>(key.source().begin.line),
                    fmt::format("unknown key '{}': a file of rules has only [[rule]] tables", key.str()));
    }
    list = &node;
  }
  if (list == nullptr) return std::vector<Rule>();
  return RulesOf(*list, path);
}

}  // namespace portolan
