// Reading rules from TOML: a file of [[rule]] tables, or an array of tables among the crawl's settings.
//
// What is wrong has file and line: an unknown key (with the nearest known one), a value of the wrong kind, a host that
// is none, a regular expression that RE2 refuses, a field that belongs to another action, a rule that can never hold.
//
// Thread: any. Memory bound: a file of at most kMaxRuleFile bytes and kMaxRules rules; longer ones are refused.

#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/rule.h"

namespace portolan {

inline constexpr size_t kMaxRuleFile = size_t{64} << 20;
inline constexpr size_t kMaxRules = 200'000;
inline constexpr uint32_t kRulePriorities = 8;  // 0 is first
inline constexpr int64_t kLeastRuleDelayNs = 1'000'000;
inline constexpr int64_t kMostRuleDelayNs = 86'400'000'000'000;

// Errors are kCorrupt: "rules.toml:17: …". Rules are numbered from 1.
Result<std::vector<Rule>> ParseRuleFile(std::string_view text, const std::string& path);

// The same for an array that is part of other settings; `path` is the file that holds it.
Result<std::vector<Rule>> RulesOf(const toml::node& list, const std::string& path);

}  // namespace portolan
