// Scope: which URLs belong to the crawl. It is asked once per link, so answers for hosts are stored in a small cache.
//
//   domain   the registered domains of the seeds (example.org: www.example.org, shop.example.org)
//   host     the hosts of the seeds
//   prefix   the seeds' own directories ("https://example.org/docs/" and below)
//   any      everything
//
// In addition: domains that are included or excluded by name, and globs that exclude whole URLs.
// With requisites (docs/requisites.md) a URL that a page needs to be shown passes on any host, unless it is excluded.
//
// Thread: one owner. Memory bound: the lists given, 8 bytes per name of a seed, and kCache entries of 16 bytes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/config.h"
#include "crawl/seed_names.h"
#include "flow/url_record.h"

namespace portolan {

struct ScopeOptions {
  ScopeMode mode = ScopeMode::kDomain;
  std::vector<std::string> seeds;             // canonical URLs
  std::shared_ptr<const SeedNames> listed;    // names of seeds that are too many to be listed in `seeds`; null: none
  std::vector<std::string> include_domains;   // in addition to the seeds', with everything below them
  std::vector<std::string> include_prefixes;  // of URLs
  std::vector<std::string> exclude_domains;
  std::vector<std::string> exclude_urls;  // globs: * is any run of bytes, ? any one byte; "*.zip", "*/calendar/*"
  HashKey key;                            // the crawl's
  bool requisites = false;                // what pages in scope need to be shown belongs to the crawl, on any host
};

class Scope {
 public:
  static Result<Scope> Create(const ScopeOptions& options);

  // `host` is HostKey of the canonical `url`.
  bool Contains(std::string_view url, uint64_t host);

  // True if it may be fetched: it is in scope, or a requisite. `host` is the HostKey of its URL.
  bool Admits(const UrlRecord& record, uint64_t host) {
    return Contains(record.url, host) || (requisites_ && record.requisite > 0 && !Excludes(record.url));
  }

  // True if it is excluded by name or by a glob, whatever else the scope says.
  bool Excludes(std::string_view url) const;
  // True if nothing of that origin ("https://example.org") may be fetched, whatever the path.
  bool ExcludesOrigin(std::string_view origin) const;

  // Globs: '*' is any run of bytes, all else itself. Linear in both for one star, their product at worst.
  static bool Matches(std::string_view glob, std::string_view text);

 private:
  struct Known {
    uint64_t host = 0;
    bool inside = false;
  };
  static constexpr size_t kCache = 1 << 14;

  Scope(const ScopeOptions& options, SeedNames names)
      : mode_(options.mode),
        requisites_(options.requisites),
        names_(std::move(names)),
        listed_(options.listed),
        cache_(kCache) {}
  bool HostInside(std::string_view host) const;
  bool IsSeeds(std::string_view name) const { return names_.Has(name) || (listed_ && listed_->Has(name)); }
  bool MatchesAny(std::string_view url) const;  // any of globs_
  static bool Below(std::string_view host, const std::vector<std::string>& domains);

  ScopeMode mode_;
  bool requisites_;
  SeedNames names_;
  std::shared_ptr<const SeedNames> listed_;
  std::vector<std::string> include_;
  std::vector<std::string> include_prefixes_;
  std::vector<std::string> exclude_;
  std::vector<std::string> globs_;
  std::vector<Known> cache_;
};

}  // namespace portolan
