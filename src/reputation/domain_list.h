// The domains that STAR knows, for users: the first K by in-degree or by URLs, with their names.
//
// Reads the last committed state and changes nothing: one pass over the repository of the domains, then one over the
// names log for the names of the selected ones. Tuples that wait for a round are added on request. A domain that was
// only linked to, or whose first URL waits for its round, has no name.
//
// Thread: one caller. Memory bound: about 100 bytes for each of K, and the names; with `rows` about 80 bytes per domain
// that waits for a round, up to kMaxRowDomains; with a filter about 40 bytes per match, up to kMaxMatches. At the bound
// further ones are left out, and the totals say so.

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
  std::string name;  // empty: it has had no URL yet
  DomainRecord record;
  uint32_t budget = 0;
};

enum class DomainOrder : uint8_t { kInDegree, kPassed };

struct DomainListOptions {
  std::string star = "star";  // StarOptions::name
  DomainOrder order = DomainOrder::kInDegree;
  size_t count = 100;  // K
  bool rows = false;   // include tuples that wait for a round of the domains
  // Only domains whose names contain this (and so only those with a name). Empty: all. Totals are over all.
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
  uint64_t matches = 0;  // of the filter, as far as domains were examined
  bool complete = true;  // no bound was reached

  // Adds the totals of another shard.
  DomainTotals& operator+=(const DomainTotals& other) {
    for (uint64_t DomainTotals::* const count :
         {&DomainTotals::domains, &DomainTotals::linked, &DomainTotals::passed, &DomainTotals::in_degrees,
          &DomainTotals::names, &DomainTotals::fetched, &DomainTotals::failed, &DomainTotals::waiting,
          &DomainTotals::matches}) {
      this->*count += other.*count;
    }
    complete = complete && other.complete;
    return *this;
  }
};

// Calls `each` with the first K, the largest first (equal ones by the other number, then by hash), and returns the sums
// over all. A state without STAR has no domains. `sections` are those of a manifest in `dir`.
Result<DomainTotals> ForEachDomain(Env& env, const std::string& dir, std::span<const ManifestSection> sections,
                                   const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);
Result<DomainTotals> ForEachDomain(Env& env, const Manifest& manifest, const DomainListOptions& options,
                                   const std::function<void(const DomainLine&)>& each);

// What is known of one domain, including tuples that wait for a round; its name is left empty. Empty: nothing is known.
Result<std::optional<DomainLine>> FindDomain(Env& env, const Manifest& manifest, uint64_t pld,
                                             const std::string& star = "star");

}  // namespace portolan
