#include "rules/rule.h"

#include <fmt/core.h>

namespace portolan {
namespace {

// A TOML basic string.
std::string InQuotes(std::string_view text) {
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

void AppendWords(std::string& out, std::string_view key, const Rule::Words& words) {
  if (words.empty()) return;
  out += fmt::format(", {} = ", key);
  if (words.size() == 1) {
    out += InQuotes(words.front());
    return;
  }
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + InQuotes(word);
  out += "[" + list + "]";
}

template <typename T>
void AppendRange(std::string& out, std::string_view name, const Rule::Range<T>& range) {
  if (range.least > 0) out += fmt::format(", min_{} = {}", name, range.least);
  if (range.most < std::numeric_limits<T>::max()) out += fmt::format(", max_{} = {}", name, range.most);
}

}  // namespace

std::string_view RuleActionName(RuleAction action) {
  switch (action) {
    case RuleAction::kInclude:
      return "include";
    case RuleAction::kExclude:
      return "exclude";
    case RuleAction::kLimit:
      return "limit";
    case RuleAction::kRate:
      return "rate";
    case RuleAction::kPriority:
      return "priority";
  }
  return "?";
}

std::string_view RuleKindName(RuleKind kind) {
  switch (kind) {
    case kRulePage:
      return "page";
    case kRuleRequisite:
      return "requisite";
    case kRuleSitemap:
      return "sitemap";
  }
  return "?";
}

std::string Rule::Name() const {
  return file.empty() ? fmt::format("rule {}", number) : fmt::format("rule {} at {}:{}", number, file, line);
}

std::string ConditionsText(const Rule& rule) {
  std::string out;
  AppendWords(out, "host", rule.hosts);
  AppendWords(out, "domain", rule.domains);
  AppendWords(out, "prefix", rule.prefixes);
  AppendWords(out, "pattern", rule.patterns);
  AppendWords(out, "extension", rule.extensions);
  AppendWords(out, "type", rule.types);
  Rule::Words kinds;
  for (const RuleKind kind : {kRulePage, kRuleRequisite, kRuleSitemap}) {
    if ((rule.kinds & kind) != 0) kinds.emplace_back(RuleKindName(kind));
  }
  AppendWords(out, "kind", kinds);
  AppendRange(out, "depth", rule.depth);
  AppendRange(out, "size", rule.size);
  return out;
}

std::string PrintRules(const std::vector<Rule>& rules) {
  if (rules.empty()) return "[]";
  std::string out = "[\n";
  for (const Rule& rule : rules) {
    out += fmt::format("  {{ action = {}{}", InQuotes(RuleActionName(rule.action)), ConditionsText(rule));
    if (rule.pages_per_host > 0) out += fmt::format(", pages_per_host = {}", rule.pages_per_host);
    if (rule.pages_per_domain > 0) out += fmt::format(", pages_per_domain = {}", rule.pages_per_domain);
    if (rule.action == RuleAction::kRate) {
      constexpr int64_t kMillisecond = 1'000'000;
      out += fmt::format(", delay = \"{}ms\"", rule.delay_ns / kMillisecond);
    }
    if (rule.action == RuleAction::kPriority) out += fmt::format(", priority = {}", rule.priority);
    out += " },\n";
  }
  return out + "]";
}

}  // namespace portolan
