// The domains that STAR knows, for people: the first K by in-degree or by URLs, with their names.
//
// Reads the last committed state and changes nothing: one pass over the repository of the domains, then one over the
// names log for the names of those that were kept. What waits for a round is not in it. A domain that was only linked
// to has no name.
//
// Thread: one caller. Memory bound: about 100 bytes for each of K, and the names.

#pragma once

#include <cstdint>
#include <functional>
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
};

struct DomainTotals {
  uint64_t domains = 0;
  uint64_t linked = 0;  // of them with an in-degree
  uint64_t passed = 0;  // URLs
  uint64_t in_degrees = 0;
  uint64_t names = 0;
};

// Calls `each` with the first K, the largest first (equal ones by the other number, then by hash), and returns the sums
// over all. A state without STAR has no domains. `sections` are those of a manifest in `dir`.
Result<DomainTotals> ForEachDomain(Env& env, const std::string& dir, std::span<const ManifestSection> sections,
                                   const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);
Result<DomainTotals> ForEachDomain(Env& env, const Manifest& manifest, const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);

}  // namespace portolan
