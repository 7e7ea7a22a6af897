// The domains that STAR knows, for people: the first K by in-degree or by URLs, with their names.
//
// Reads the last committed state and changes nothing: one pass over the repository of the domains, then one over the
// names log for the names of those that were kept. What waits for a round is added where it is asked for. A domain that
// was only linked to, or whose first URL waits for its round, has no name.
//
// Thread: one caller. Memory bound: about 100 bytes for each of K, and the names; with `rows` about 80 bytes for each
// domain that waits for a round, to kMaxRowDomains; with a filter about 40 for each match, to kMaxMatches. At the bound
// further ones are left out and the totals say so.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "reputation/domain_record.h"

namespace portolan {

struct DomainLine {
  uint64_t pld = 0;  // hash
  std::string name;  // empty: no URL of it came yet
  DomainRecord record;
  uint32_t budget = 0;
};

enum class DomainOrder : uint8_t { kInDegree, kPassed };

struct DomainListOptions {
  std::string star = "star";  // StarOptions::name
  DomainOrder order = DomainOrder::kInDegree;
  size_t count = 100;  // K
  bool rows = false;   // with what waits for a round of the domains
  // Only domains whose names have this in them (and so only those with a name). Empty: all. Totals are over all.
  std::string filter;

  static constexpr size_t kMaxRowDomains = size_t{1} << 20;
  static constexpr size_t kMaxMatches = size_t{1} << 20;
};

struct DomainTotals {
  uint64_t domains = 0;
  uint64_t linked = 0;  // of them with an in-degree
  uint64_t passed = 0;  // URLs
  uint64_t in_degrees = 0;
  uint64_t names = 0;
  uint64_t fetched = 0;  // URLs
  uint64_t failed = 0;
  uint64_t waiting = 0;
  uint64_t matches = 0;  // of the filter, as far as it was looked
  bool complete = true;  // no bound was met
};

// Calls `each` with the first K, the largest first (equal ones by the other number, then by hash), and returns the sums
// over all. A state without STAR has no domains. `sections` are those of a manifest in `dir`.
Result<DomainTotals> ForEachDomain(Env& env, const std::string& dir, std::span<const ManifestSection> sections,
                                   const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);
Result<DomainTotals> ForEachDomain(Env& env, const Manifest& manifest, const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);

// What is known of one domain, what waits for a round included; its name is left empty. None: nothing.
Result<std::optional<DomainLine>> FindDomain(Env& env, const Manifest& manifest, uint64_t pld,
                                             const std::string& star = "star");

}  // namespace portolan
