// Atlas: the domains, hosts and pages, their names, and the properties of each host.
//
// Everything that is decided for a host is in one HostFacts, drawn when the world is made: answers, robots.txt and
// truth read the same field. Hosts have a number over all domains ("hid"); spam farms have none.
//
// Two trees make everything reachable: domain d has the children kDomainBranch·d+1 …, host h of a domain the children
// kHostBranch·h+1 … of the same domain; the parent's home page links to the home pages of the children. Faults that
// hide a host (DNS, TLS, robots.txt) affect only hosts without children.
//
// Memory: about 70 bytes per host, mostly its name. Thread: const after construction.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world/answer.h"
#include "sim/world/draw.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan::sim {

inline constexpr uint64_t kDomainBranch = 6;
inline constexpr uint64_t kHostBranch = 20;
inline constexpr uint64_t kPageBranch = 10;  // the tree of pages in a host, likewise

enum class RobotsKind : uint8_t {
  kMissing,    // 404
  kRules,      // for * and perhaps for named agents
  kEmpty,      // a file of no rules
  kForbidAll,  // Disallow: /
  kError,      // 503
  kNoAnswer,   // the connection closes
  kRedirect,   // one to four redirects, then rules
  kHuge,       // rules, then more than 500 KiB of nothing
  kGarbage,    // bytes that say nothing: all is allowed
};

enum class HostDns : uint8_t { kFine, kNotFound, kServFail, kSilent, kSlow, kPrivate };

enum TrapBit : uint8_t { kTrapCalendar = 1, kTrapSession = 2, kTrapLoop = 4, kTrapQuery = 8 };

enum class ContentCoding : uint8_t { kIdentity, kGzip, kDeflate, kBrotli, kZstd };

struct HostFacts {
  uint32_t domain = 0;
  uint32_t content = 0;  // the hid whose pages this host shows: its own, or the mirrored one's
  RobotsKind robots = RobotsKind::kMissing;
  HostDns dns = HostDns::kFine;
  Certificate certificate = Certificate::kGood;
  ContentCoding coding = ContentCoding::kIdentity;
  uint8_t traps = 0;     // TrapBits
  uint8_t mazes = 0;     // a bit for each MazeKind
  uint8_t language = 0;  // index into Languages()
  uint8_t charset = 0;   // index into its charsets
  uint8_t style = 0;     // of paths and markup
  bool tls : 1 = false;
  bool mirrored : 1 = false;  // has or is a mirror: its links within the host are spelt without the host
  bool forbids_traps : 1 = false;
  bool groups : 1 = false;         // robots.txt has groups for named agents
  bool robots_change : 1 = false;  // its rules change in time
  bool sitemap : 1 = false;
  bool sitemap_gz : 1 = false;
  bool http10 : 1 = false;
  bool validators : 1 = false;
  bool soft404 : 1 = false;
  bool charset_in_header : 1 = false;
};

class Atlas {
 public:
  Atlas(const WorldParams& params, uint64_t seed);

  uint32_t domains() const { return domains_; }
  uint32_t all_domains() const { return all_domains_; }
  uint32_t Hosts(uint32_t domain) const { return first_host_[domain + 1] - first_host_[domain]; }
  uint32_t hosts() const { return static_cast<uint32_t>(facts_.size()); }
  uint32_t Hid(HostId host) const { return first_host_[host.domain] + host.host; }
  HostId IdOf(uint32_t hid) const { return {facts_[hid].domain, hid - first_host_[facts_[hid].domain]}; }
  const HostFacts& facts(uint32_t hid) const { return facts_[hid]; }
  uint64_t FirstPage(uint32_t hid) const { return first_page_[hid]; }
  uint64_t Pages(uint32_t hid) const { return first_page_[hid + 1] - first_page_[hid]; }
  uint64_t total_pages() const { return first_page_.back(); }
  uint32_t HidOfPage(uint64_t dense) const;  // REQUIRES: dense < total_pages()

  std::string_view Name(uint32_t hid) const { return Origin(hid).substr(facts_[hid].tls ? 8 : 7, NameSize(hid)); }
  // With scheme and port.
  std::string_view Origin(uint32_t hid) const {
    return std::string_view(origins_).substr(origin_begin_[hid], origin_begin_[hid + 1] - origin_begin_[hid]);
  }
  std::optional<HostId> Find(std::string_view name) const;

  // Spam farms.
  bool IsWildcard(uint32_t domain) const;
  std::string SpamHostName(HostId host) const;
  void AppendSpamOrigin(std::string& out, HostId host) const;

  // A domain by popularity; a page of one, mostly its home page.
  uint32_t PopularDomain(uint64_t draw) const {
    const uint32_t low = popular_[draw >> 48];
    const uint32_t high = popular_[(draw >> 48) + 1];
    return low + static_cast<uint32_t>(Below(draw << 16, high - low + 1));
  }
  uint32_t Friends(uint32_t domain) const { return friends_[domain]; }

 private:
  void DrawSizes(const WorldParams& params);
  void DrawFacts(const WorldParams& params);
  void DrawMirrors(const WorldParams& params);
  void MakeNames(const WorldParams& params);
  void DrawPopularity(const WorldParams& params);
  size_t NameSize(uint32_t hid) const {
    return Origin(hid).size() - (facts_[hid].tls ? 8 + tls_tail_ : 7 + plain_tail_);
  }
  std::string DomainLabel(uint32_t domain) const;
  std::string HostLabel(HostId host) const;  // with its dot; empty for the bare domain

  uint64_t seed_;
  uint32_t domains_;
  uint32_t all_domains_;
  double wildcard_;
  size_t plain_tail_ = 0;  // ":8080" at the end of plain origins, and of the others
  size_t tls_tail_ = 0;
  std::string tail_text_;
  std::vector<uint32_t> first_host_;
  std::vector<HostFacts> facts_;
  std::vector<uint64_t> first_page_;
  std::vector<uint32_t> origin_begin_;
  std::string origins_;
  std::vector<uint32_t> popular_;  // quantiles of the popularity, 65,536 of them
  std::vector<uint32_t> friends_;
};

}  // namespace portolan::sim
