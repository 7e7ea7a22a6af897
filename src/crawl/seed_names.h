// SeedNames: what the scope needs to know of the seeds, as hashes: their registered domains, their hosts, or their
// directories.
//
// A crawl may have ten million seeds. A name takes 8 bytes here, however long it is, and a name that many seeds share
// is stored once. The hashes are keyed (base/hash_key.h), so no attacker can find another name with the same hash.
//
// A directory is a URL up to its last slash before the query. To find out whether a URL is below one of them, each of
// the URL's own directories is looked up, down to the depth of the seeds' deepest one.
//
// Thread: one owner while names are added; const after Finish. Memory bound: 8 bytes per name; while names are added
// twice that, and three times for a moment.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/config.h"
#include "url/domain.h"

namespace portolan {

class SeedNames {
 public:
  static Result<SeedNames> Create(ScopeMode mode, const HashKey& key);

  // Adds a seed; `url` is canonical.
  void Add(std::string_view url);
  // REQUIRES: called before Has and HasDirectoryOf.
  void Finish() { Compact(); }

  // For kHost: is it the host of a seed? For kDomain: is it the registered domain of a seed?
  bool Has(std::string_view name) const;
  // For kPrefix.
  bool HasDirectoryOf(std::string_view url) const;

  // The registered domain of a host; an address, or a name below which no domain can be registered, is its own.
  std::string_view DomainOf(std::string_view host) const;

  ScopeMode mode() const { return mode_; }
  size_t size() const { return keys_.size(); }

 private:
  SeedNames(ScopeMode mode, const HashKey& key, PublicSuffixes suffixes)
      : mode_(mode), key_(key), suffixes_(std::move(suffixes)) {}
  void Compact();  // sorts and removes duplicates

  ScopeMode mode_;
  HashKey key_;
  PublicSuffixes suffixes_;
  std::vector<uint64_t> keys_;
  size_t compact_at_ = 1024;  // number of keys at which duplicates are removed next
  size_t deepest_ = 0;        // slashes in the deepest directory
};

}  // namespace portolan
