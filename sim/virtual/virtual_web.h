// VirtualWeb: the simulated web behind the fetch interface, without sockets and without waiting.
//
// Fetch and Resolve put an event into VirtualTime; when its moment comes, the handler gets a PageResult or a
// Resolution, as it would from the event loops of production. Two ways to make an answer, both from the same World:
//   - from the truth (the default): status, links, flags and fingerprint are taken from the world; no HTML is written
//     and none is parsed. This makes millions of pages per minute possible.
//   - rendered: the handler gets the bytes (FetchResponse), for parse/ to read.
// robots.txt is rendered and parsed in both, since the shard wants compiled rules.
//
// Every request is reported to a HitSink (the oracle's Judge) at its beginning, together with its end, which is known
// here. Connections are not modelled: no OnOpen, no OnClose.
//
// Faults of the wire become outcomes by FetchLimits, as a fetcher with these limits would see them. A task whose
// address is not one of the host's is refused and counted: production would have met another server there.
//
// With Options::outages the network itself fails for a while.
//
// Thread: one owner. Memory: the tasks in flight, and some 30 bytes for each flaky page that was asked for.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash_key.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "sim/virtual/exchange.h"
#include "sim/virtual/truth_result.h"
#include "sim/virtual/virtual_time.h"
#include "sim/world/hit_log.h"
#include "sim/world/world.h"

namespace portolan::sim {

// Receives the answers. Called from VirtualTime::Step, never inside Fetch or Resolve.
class FetchEvents {
 public:
  virtual ~FetchEvents() = default;
  virtual void OnPage(PageResult&& result) = 0;
  virtual void OnResolved(Resolution&& resolution) = 0;
  // Instead of OnPage, with Options::render.
  virtual void OnResponse(FetchResponse&& /*response*/) {}
};

class VirtualWeb : public FetchPort {
 public:
  struct Options {
    std::string agent = "portolan";  // product token, for robots.txt and X-Robots-Tag
    std::string user_agent = "portolan/0 (+https://portolan.test/)";
    FetchLimits limits;
    double bytes_per_second = 2e6;  // of one connection
    bool render = false;
    // Times (steady) in which the crawler's own network is down. Silence is noticed after the time of the limits.
    struct Outage {
      int64_t begin_ns = 0;
      int64_t end_ns = 0;
      bool connections = true;  // no connection can be made, and answers in progress are lost
      bool names = true;        // no name server answers
      bool silent = true;       // false: failures come at once (no route, SERVFAIL)
    };
    std::vector<Outage> outages;
    bool visits = false;     // the crawl comes back: results have PageResult::visit, and sitemaps name their pages
    HashKey key;             // the crawl's: links come with their hashes
    size_t descriptors = 0;  // the most requests in progress; more end in kShortage. 0: any number
  };
  struct Counts {
    uint64_t fetches = 0;
    uint64_t resolves = 0;
    uint64_t wrong_address = 0;  // tasks refused because their address is not the host's
    uint64_t rendered = 0;       // answers that needed their bytes
    uint64_t lost = 0;           // fetches and questions that an outage ended
  };

  // All must outlive this. `hits` may be null.
  VirtualWeb(const World& world, VirtualTime& time, FetchEvents& handler, HitSink* hits, Options options);

  void Fetch(FetchTask&& task) override;
  void Resolve(ResolveTask&& task) override;

  // Everything in progress ends now, as cancelled.
  void CancelFetches();

  const Counts& counts() const { return counts_; }

 private:
  void DeliverAt(int64_t time_ns, uint32_t slot);
  uint32_t Keep(Exchange&& exchange);
  Exchange Plan(FetchTask&& task);
  const Options::Outage* OutageAt(int64_t time_ns) const;
  // Applies an outage to an exchange that is in progress when it begins.
  void Lose(Exchange& exchange);
  // Times and status of a request that is answered from the truth, or from bytes.
  void PlanAnswer(Exchange& exchange);
  bool NeedsBytes(const Exchange& exchange) const;
  uint32_t EarlierOf(const Exchange& exchange);
  bool IsAddressOf(std::string_view host_name, const Address& address) const;
  void Tell(const Exchange& exchange);
  void Deliver(uint32_t slot);

  const World& world_;
  VirtualTime& time_;
  FetchEvents& handler_;
  HitSink* hits_;
  Options options_;
  Counts counts_;
  TruthResult truth_;
  uint64_t connection_ = 0;
  std::unordered_map<uint64_t, uint32_t> earlier_;                          // of flaky pages, by dense number
  std::vector<Exchange> under_way_;                                         // by slot
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  // the time may outlive this
  std::vector<uint32_t> deliveries_;                                        // by slot: which one is awaited, 0: none
  uint32_t next_delivery_ = 1;
  std::vector<uint32_t> free_;
};

}  // namespace portolan::sim
