// BfsCrawler: the simplest crawler. Breadth-first, one queue per host, hashes of seen URLs in a table in memory; polite
// to hosts and addresses, obeys robots.txt. It shows that the simulated web can be crawled completely, and is the rival
// without any defence against traps and spam.
//
// A host has at most one request in progress, and the next one begins no sooner than host_gap after the last one began
// (or Crawl-delay, or Retry-After). An address's next free time is reserved when a host is scheduled, so hosts that
// share an address do not compete for it.
//
// Thread: one owner. Memory: not bounded: about 50 bytes per seen URL, 100 and the text per waiting URL.
// Options::max_fetches ends it.
// Deterministic: the order of its queues never depends on that of a hash table.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flow/fetch.h"
#include "flow/page_result.h"
#include "sim/virtual/virtual_time.h"
#include "sim/virtual/virtual_web.h"

namespace portolan::sim {

class BfsCrawler : public FetchEvents {
 public:
  struct Options {
    int64_t host_gap_ns = kSecond;
    int64_t ip_gap_ns = 0;
    bool obey_robots = true;
    bool crawl_delay = true;
    bool retry_after = true;       // and leave a host that says 429 or 503 alone for a while
    bool follow_nofollow = false;  // links and pages that say nofollow
    int max_redirects = 10;
    uint64_t max_fetches = UINT64_MAX;  // requests for pages
  };
  struct Counts {
    uint64_t pages = 0;   // answered
    uint64_t failed = 0;  // given up
    uint64_t retries = 0;
    uint64_t forbidden = 0;  // by robots.txt
    uint64_t links = 0;
    uint64_t seen = 0;  // different URLs
    uint64_t hosts = 0;
  };

  BfsCrawler(VirtualTime& time, Options options) : time_(time), options_(options) {}

  // Call it before Seed. The web sends its answers to this crawler, so the two must be connected after construction.
  void Attach(FetchPort& port) { port_ = &port; }
  void Seed(const std::vector<std::string>& urls);

  // The crawl is over when VirtualTime has no more events.
  void OnPage(PageResult&& result) override;
  void OnResolved(Resolution&& resolution) override;

  const Counts& counts() const { return counts_; }

 private:
  struct Url {
    std::string text;
    uint8_t attempts = 0;
    uint8_t hops = 0;
  };
  enum class Stage : uint8_t { kNew, kResolving, kRobots, kReady, kDead };
  struct Host {
    Stage stage = Stage::kNew;
    bool busy = false;  // a request is in progress, or a moment for one is reserved
    std::string name;
    std::string origin;
    Address address;
    std::string rules;  // compiled; empty: all is allowed
    std::string robots_url;
    int64_t next_ns = 0;
    int64_t gap_ns = 0;
    int64_t begin_ns = 0;
    uint8_t attempts = 0;  // of DNS, then of robots.txt
    uint8_t robots_hops = 0;
    std::deque<Url> queue;
    Url current;
  };

  void Add(std::string_view url, uint64_t hash, uint64_t host_key, uint8_t hops);
  void Pump(uint64_t host_key, Host& host);
  void Reserve(uint64_t host_key, Host& host);
  void Begin(uint64_t host_key);
  void Send(uint64_t host_key, const Host& host, UrlKind kind, const std::string& url);
  void OnRobots(uint64_t host_key, Host& host, PageResult&& result);
  void Kill(Host& host);
  bool Allowed(const Host& host, const std::string& url) const;

  VirtualTime& time_;
  Options options_;
  FetchPort* port_ = nullptr;
  Counts counts_;
  uint64_t sent_ = 0;
  std::unordered_set<uint64_t> seen_;
  std::unordered_map<uint64_t, Host> hosts_;       // by HostKey; never iterated
  std::unordered_map<uint64_t, int64_t> next_ip_;  // by Address::Hash: its next free moment
};

}  // namespace portolan::sim
