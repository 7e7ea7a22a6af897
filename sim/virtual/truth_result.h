// TruthResult: the PageResult of an exchange, straight from the world's truth, as fetch/ and parse/ together would have
// made it from the bytes. Links in the order of the page, each URL once; no HTML is written and none is read.
//
// Thread: one owner (scratch memory: the URLs of the page with the most links, and 64 KiB).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_key.h"
#include "flow/page_result.h"
#include "sim/virtual/exchange.h"
#include "sim/world/world.h"

namespace portolan::sim {

class TruthResult {
 public:
  // `agent`: our product token; `key` is the crawl's; `visits`: the crawl comes back. `world` outlives this.
  TruthResult(const World& world, std::string agent, const HashKey& key, bool visits = false)
      : world_(world), agent_(std::move(agent)), key_(key), visits_(visits), shown_(256) {}

  PageResult Make(const Exchange& exchange);

 private:
  static constexpr size_t kKnownHosts = 4096;

  void AddLinks(const Exchange& exchange, PageResult& result);
  void AddTarget(const Exchange& exchange, PageResult& result);
  void AddSitemap(const Exchange& exchange, PageResult& result);
  void AddVisit(const Exchange& exchange, PageResult& result);
  void AddRobots(const Exchange& exchange, PageResult& result);
  bool ShowOnce(uint64_t hash);
  // HostKey(url), without looking for the host in it where the same host was linked to lately.
  uint64_t HostKeyOf(HostId host, std::string_view url);
  uint64_t FingerprintOf(const Exchange& exchange) const;
  // 64 bits that differ in at most two places from those of pages with nearly the same text.
  uint64_t SimilarityOf(const Exchange& exchange) const;

  const World& world_;
  std::string agent_;
  const HashKey key_;
  const bool visits_;
  // URLs that this page has shown: open addressing, the entries of other pages told apart by their stamp.
  std::vector<std::pair<uint64_t, uint64_t>> shown_;
  size_t shown_count_ = 0;
  struct KnownHost {
    HostId host;
    uint64_t key = 0;  // 0: an empty entry
  };
  std::vector<KnownHost> known_hosts_ = std::vector<KnownHost>(kKnownHosts);  // one place for each remainder
  uint64_t stamp_ = 0;
};

}  // namespace portolan::sim
