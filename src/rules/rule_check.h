// CheckRules: finds rules that contradict each other, and rules that can never decide anything because an earlier one
// holds whenever they would.
//
// What is decidable from the texts is found: the same and smaller lists of names, hosts below a domain, prefixes below
// a prefix, ranges within a range, the same patterns. Whether one regular expression covers another is not examined.
//
// A rule with one host, domain, prefix, pattern or extension is compared only with the earlier rules that name it or
// something above it, so that ten thousand rules take a moment.

#pragma once

#include <vector>

#include "base/result.h"
#include "rules/rule.h"

namespace portolan {

// kCorrupt: "rules.toml:20: …". REQUIRES: the rules are numbered.
Status CheckRules(const std::vector<Rule>& rules);

// True if `first` holds for everything for which `second` holds, as far as the texts show.
bool Covers(const Rule& first, const Rule& second);

}  // namespace portolan
