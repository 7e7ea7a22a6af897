// PayLevelDomains: which pay-level domain a host belongs to, by hash, for every link of every page.
//
// The public suffix list takes a microsecond a host, and neighbouring links share theirs: a table of the last hosts
// answers nearly all. Being full it forgets; the answer is the same.
//
// Thread: one owner. Memory bound: kEntries × 16 bytes.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "url/domain.h"

namespace portolan {

class PayLevelDomains {
 public:
  static Result<PayLevelDomains> Create();

  // Of a canonical URL, and its HostKey.
  uint64_t Key(std::string_view url, uint64_t host_key) {
    Entry& entry = entries_[host_key % kEntries];
    if (entry.host != host_key || entry.domain == 0) entry = {host_key, KeyOf(url)};
    return entry.domain;
  }
  // Never empty for a host: an address or a public suffix is its own domain.
  std::string_view Name(std::string_view host) const;

 private:
  static constexpr size_t kEntries = 8192;
  struct Entry {
    uint64_t host = 0;
    uint64_t domain = 0;
  };

  uint64_t KeyOf(std::string_view url) const;

  explicit PayLevelDomains(PublicSuffixes suffixes) : suffixes_(std::move(suffixes)), entries_(kEntries) {}

  PublicSuffixes suffixes_;
  std::vector<Entry> entries_;
};

}  // namespace portolan
