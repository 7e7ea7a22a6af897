// PayLevelDomains: which pay-level domain a host belongs to, by hash, for every link of every page.
//
// A look-up in the public suffix list takes a microsecond per host, and neighbouring links often have the same host: a
// table of recent hosts answers nearly all. A host that was overwritten in the table is looked up again.
//
// Thread: one owner. Memory bound: kEntries × 24 bytes.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "url/domain.h"

namespace portolan {

class PayLevelDomains {
 public:
  static Result<PayLevelDomains> Create(const HashKey& key);

  struct Domain {
    uint64_t key = 0;        // keyed hash of its name
    uint32_t name_size = 0;  // the name is the end of the host
  };
  // For a canonical URL and its HostKey with the same key.
  Domain Find(std::string_view url, uint64_t host_key) {
    Entry& entry = entries_[host_key % kEntries];
    if (entry.host != host_key || entry.domain.name_size == 0) entry = {host_key, DomainOf(url)};
    return entry.domain;
  }
  uint64_t Key(std::string_view url, uint64_t host_key) { return Find(url, host_key).key; }
  // Never empty for a host: an address or a public suffix is its own domain.
  std::string_view Name(std::string_view host) const;

 private:
  static constexpr size_t kEntries = 32768;
  struct Entry {
    uint64_t host = 0;
    Domain domain;
  };

  Domain DomainOf(std::string_view url) const;

  PayLevelDomains(PublicSuffixes suffixes, const HashKey& key)
      : suffixes_(std::move(suffixes)), key_(key), entries_(kEntries) {}

  PublicSuffixes suffixes_;
  HashKey key_;
  std::vector<Entry> entries_;
};

}  // namespace portolan
