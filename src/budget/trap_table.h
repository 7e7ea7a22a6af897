// TrapTable: which groups of URLs have stopped to give anything new, and how many of their URLs should still be
// fetched.
//
// A calendar, a shop under ever new session ids, a symbolic link to its own directory: a web site may have URLs without
// end, whose pages say nothing new. Their form does not tell: "/2031/07/" may be a calendar or an archive of news. What
// tells is what came of fetching them. So for each group of URLs (url_shape.h) this table counts fetches and what was
// new. It is the thesis' own suggestion (IRLbot, 8.2: budgets below the level of domains), and Mercator's and KSpider's
// traps of symbolic links are one case of it.
//
//   an observation  a fetch that says something: a page (2xx), or a redirect that a redirect of the same form led to.
//                   Other errors and redirects say nothing: they end by themselves.
//   new             the page's text was not seen before: neither its bytes nor a text that differs in at most three
//   bits
//                   of 64 (IsNew). Counts 8.
//   credit          a page of another form that was found first on this one turned out to be new. Counts 1, so a list
//                   whose own text is always the same is worth its fetches if it leads to one new page each.
//
// A group is known after `evidence` observations. Known groups that got less than `least_percent` of 8 per observation
// are suspect. n and the points are halved when n reaches kWindow, so that old ones fade and a group can recover.
//
// Which group decides about a URL: the narrowest that is known, where a query's name that is suspect decides, too. Wide
// groups (directory, host, domain) stand for what is not known yet: a narrower one counts in them only with its first
// kShare observations. So one large trap does not make its host suspect, but three different ones do, until something
// else on the host is found to be new.
//
// Of the URLs of a suspect group the 8th, 16th, 32nd … are fetched all the same (Probe): n URLs of a trap cost log2(n)
// fetches. When a probe finds something new, counting begins again.
//
// New hosts: a wildcard in the DNS invents them faster than any can be judged, and each costs a robots.txt. So a domain
// may have kFreeHosts hosts of which nothing is known yet, and two more for each one whose first page was new
// (AdmitHost): a domain of real hosts doubles with each round, one whose hosts repeat each other stops.
//
// Thread: one owner. Deterministic, integers only. Memory bound: Options::memory: a quarter each for points and for
// counts of URLs, half for texts. At the bound the least recently used are forgotten: a group that was forgotten is
// unknown and good, so forgetting costs `evidence` fetches; a text that was forgotten counts as new again.
// Durability: Checkpointables (group_cache.h; docs/formats/budget.md).

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "budget/url_shape.h"
#include "disk/group_cache.h"

namespace portolan {

struct TrapVerdict {
  bool suspect = false;
  uint32_t price = 1;   // units of its domain's budget: 1 … TrapTable::kMaxPrice
  size_t group = 0;     // which group of the shape decided, if `known`
  bool known = false;   // false: no group is known
  uint32_t seen = 0;    // its observations that count now …
  uint32_t points = 0;  // … and what they brought, in eighths of a new page
};

class TrapTable {
 public:
  static constexpr uint32_t kMaxPrice = 64;
  static constexpr uint32_t kNew = 8;    // points of a new page; a credit is 1
  static constexpr uint32_t kShare = 4;  // observations that a narrower group counts in a wider one
  static constexpr uint32_t kWindow = 32;
  static constexpr uint32_t kFirstProbe = 8;
  static constexpr uint32_t kFreeHosts = 8;
  static constexpr uint32_t kHostsPerHost = 2;
  static constexpr int kNearBits = 3;

  struct Options {
    std::string name = "traps";
    uint64_t memory = uint64_t{8} << 20;
    uint32_t evidence = 12;
    uint32_t least_percent = 12;
  };
  static Result<std::unique_ptr<TrapTable>> Open(Env& env, const Manifest& manifest, const Options& options);

  // False as long as no group was ever suspect: then Judge would find none.
  bool any_suspect() const { return any_suspect_; }
  // A hint that the groups of this shape are asked for soon.
  void WillNeed(const UrlShape& shape) const;
  TrapVerdict Judge(const UrlShape& shape) const;
  // Counts a URL that a suspect group decided about; true if this one is to be fetched.
  bool Probe(const UrlShape& shape, const TrapVerdict& verdict);

  // True if the URL's host is known, or may be looked at now; then it counts.
  bool AdmitHost(const UrlShape& shape);
  // Nothing can be learnt from the host that was admitted: it does not answer, or sends elsewhere.
  void GiveHostBack(const UrlShape& shape);

  // True if neither the bytes nor a similar text were seen on this domain before; stores them. `similarity` 0: unknown.
  bool IsNew(uint64_t domain_key, uint64_t fingerprint, uint64_t similarity);
  enum class Effect : uint8_t {
    kNone,
    kNewHost,   // the first page of a host, and it was new
    kRecovers,  // it was new in a group that was suspect
  };
  // An observation of a URL of this shape.
  Effect Observe(const UrlShape& shape, bool is_new);
  // A page that was found first on one of this shape was new. True if that group was suspect.
  bool Credit(const UrlShape& shape);

  std::vector<Checkpointable*> Checkpointables() { return {groups_.get(), counts_.get(), texts_.get()}; }
  uint64_t known() const { return groups_->used(); }

  // For another process that reads a committed state: the size is the one that it was written with.
  static Result<std::unique_ptr<TrapTable>> OpenCommitted(Env& env, const Manifest& manifest, Options options);

 private:
  explicit TrapTable(const Options& options) : options_(options) {}
  static uint64_t HostOf(const UrlShape& shape) { return shape.groups[shape.count - 2].key; }
  static uint64_t DomainOf(const UrlShape& shape) { return shape.groups[shape.count - 1].key; }
  bool Known(const GroupCache::Entry& entry) const { return entry.first >= options_.evidence; }
  bool Suspect(const GroupCache::Entry& entry) const {
    return Known(entry) && uint64_t{entry.second} * 100 < uint64_t{entry.first} * kNew * options_.least_percent;
  }

  const Options options_;
  bool any_suspect_ = false;
  std::unique_ptr<GroupCache> groups_;  // first: observations, second: points
  // Number: URLs of a suspect group; 1 or 2 for a host that was admitted or given back. Of a domain first: hosts
  // admitted, second: of them those whose first page was new.
  std::unique_ptr<GroupCache> counts_;
  std::unique_ptr<GroupCache> texts_;  // fingerprints; and similarities, by quarter
};

}  // namespace portolan
