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
// Rules (rules/rule_set.h) and block lists go before the mode: what `exclude_*` names is out in any case; then the
// first include or exclude of the rules decides, then the block lists, then the mode with what is included by name.
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
#include "rules/block_list.h"
#include "rules/rule_set.h"

namespace portolan {

struct ScopeOptions {
  ScopeMode mode = ScopeMode::kDomain;
  std::vector<std::string> seeds;             // canonical URLs
  std::shared_ptr<const SeedNames> listed;    // names of seeds that are too many to be listed in `seeds`; null: none
  std::vector<std::string> include_domains;   // in addition to the seeds', with everything below them
  std::vector<std::string> include_prefixes;  // of URLs
  std::vector<std::string> exclude_domains;
  std::vector<std::string> exclude_urls;     // globs: * is any run of bytes, ? any one byte; "*.zip", "*/calendar/*"
  HashKey key;                               // the crawl's
  bool requisites = false;                   // what pages in scope need to be shown belongs to the crawl, on any host
  std::shared_ptr<const RuleSet> rules;      // null: none
  std::shared_ptr<const BlockList> blocked;  // likewise
};

enum class ScopeAnswer : uint8_t {
  kInside,
  kOutside,
  kRule,     // a rule excludes it
  kBlocked,  // its host is on a block list
};

// The answer, and the rules that hold for the URL; null: none does, or the answer did not need them.
struct ScopeVerdict {
  ScopeAnswer answer = ScopeAnswer::kOutside;
  RuleVerdict rules;

  bool inside() const { return answer == ScopeAnswer::kInside; }
};

class Scope {
 public:
  static Result<Scope> Create(const ScopeOptions& options);

  // `host` is HostKey of the canonical `url`.
  bool Contains(std::string_view url, uint64_t host);

  // May it be fetched: is it in scope, or a requisite? `host` is the HostKey of its URL. `seed`: seeds are in scope by
  // definition, unless they are excluded.
  ScopeVerdict Judge(const UrlRecord& record, uint64_t host, bool seed = false);
  bool Admits(const UrlRecord& record, uint64_t host) { return Judge(record, host).inside(); }
  // The rule that keeps an answer out of the archive and its links from being followed; null: none does.
  const Rule* ExcludesAnswer(const UrlRecord& record, const RuleAnswer& answer) const;
  bool judges_answers() const { return rules_ && rules_->judges_answers(); }

  // True if it is excluded by name or by a glob, whatever else the scope says.
  bool Excludes(std::string_view url) const;
  // True if nothing of that origin ("https://example.org") may be fetched, whatever the path.
  bool ExcludesOrigin(std::string_view origin) const;

  // Null: none.
  void SetBlocked(std::shared_ptr<const BlockList> blocked);
  const RuleSet* rules() const { return rules_.get(); }

  // Globs: '*' is any run of bytes, all else itself. Linear in both for one star, their product at worst.
  static bool Matches(std::string_view glob, std::string_view text);

 private:
  struct Known {
    uint64_t host = 0;
    bool inside = false;
    bool blocked = false;
  };
  static constexpr size_t kCache = 1 << 14;

  Scope(const ScopeOptions& options, SeedNames names)
      : mode_(options.mode),
        requisites_(options.requisites),
        names_(std::move(names)),
        listed_(options.listed),
        rules_(options.rules),
        blocked_(options.blocked),
        cache_(kCache) {}
  const Known& KnownOf(std::string_view url, uint64_t host);
  static RuleUrl ForRules(const UrlRecord& record);
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
  std::shared_ptr<const RuleSet> rules_;
  std::shared_ptr<const BlockList> blocked_;
  std::vector<Known> cache_;
};

}  // namespace portolan
