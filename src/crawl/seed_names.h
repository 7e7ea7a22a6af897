// SeedNames: what of the seeds the scope goes by, as hashes: their registered domains, their hosts, or their
// directories.
//
// A crawl may have ten million seeds. A name takes 8 bytes here however long it is, and names that many seeds share are
// there once. The hashes are keyed (base/hash_key.h), so nobody can find a name that is taken for a seed's.
//
// A directory is a URL up to its last slash before the query. Whether a URL is below one of them is asked of each of
// its own directories, as deep as the deepest of the seeds.
//
// Thread: one owner while names are added; const after Finish. Memory bound: 8 bytes for each name; while names are
// added twice that, and for a moment thrice.

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

  // A seed, canonical.
  void Add(std::string_view url);
  // REQUIRES: before any question.
  void Finish() { Compact(); }

  // kHost: a host's name; kDomain: a registered domain's.
  bool Has(std::string_view name) const;
  // kPrefix.
  bool HasDirectoryOf(std::string_view url) const;

  // The registered domain of a host; an address, or a name that nobody can register below, is its own.
  std::string_view DomainOf(std::string_view host) const;

  ScopeMode mode() const { return mode_; }
  size_t size() const { return keys_.size(); }

 private:
  SeedNames(ScopeMode mode, const HashKey& key, PublicSuffixes suffixes)
      : mode_(mode), key_(key), suffixes_(std::move(suffixes)) {}
  void Compact();  // sorted, each once

  ScopeMode mode_;
  HashKey key_;
  PublicSuffixes suffixes_;
  std::vector<uint64_t> keys_;
  size_t compact_at_ = 1024;  // keys: then those that are there twice go
  size_t deepest_ = 0;        // slashes of a directory
};

}  // namespace portolan
