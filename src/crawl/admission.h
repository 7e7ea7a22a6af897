// Admission: which new URLs go on to the robots loop now, and which later. It is STAR and BEAST together.
//
//   Add (a URL that URLseen called new) → Star (standing of its domain) → Beast (a queue, or Q_F) → Pop → gate
//                                            ▲                                  │ a re-scan
//                                            └──────────────────────────────────┘
//
// Each URL costs its domain's budget a price: 1, or more where the host or the directory yields little that is new
// (YieldTable, TrapPark), or where the domain has more hosts than its budget allows (HostAllowance). The budget is
// stored in the record, because the frontier's delays depend on it.
//
// Thread: one owner, the shard. No clock, no randomness. Invariant: a URL that Add took is in Star, in Beast, or was
// returned by Pop; waiting() counts those in Star and Beast.
// Memory bound: Star's, Beast's, the two tables', 1 MiB of recent budgets, the content cache, EndCounts'.
// Room: Star's. Beast's queues take any number, so Pump can always move Star's answers on and make room. A re-scan of
// Q_F reads as much as Star has room for. Durability: Checkpointables(), all in one manifest.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "budget/beast.h"
#include "budget/host_allowance.h"
#include "budget/yield_table.h"
#include "crawl/end_counts.h"
#include "crawl/pay_level.h"
#include "disk/recent_keys.h"
#include "flow/page_result.h"
#include "flow/url_record.h"
#include "reputation/star.h"

namespace portolan {

struct AdmissionOptions {
  bool enabled = false;  // false: every new URL goes on at once
  HashKey key;           // the crawl's; hashes hosts, domains and directories
  StarOptions star;
  BeastOptions beast;
  YieldTable::Options yield;
  HostAllowance::Options hosts;
  // A further price of a URL (trap_park.h); null: 1.
  std::function<uint32_t(std::string_view url, uint64_t host_key)> price_of;
  std::string ends_name = "ends";               // name of its manifest section
  uint64_t content_memory = uint64_t{1} << 20;  // fingerprints of recent pages, 8 bytes each
};

class Admission {
 public:
  static Result<std::unique_ptr<Admission>> Open(Env& env, const Manifest& manifest, Executor& executor,
                                                 const AdmissionOptions& options);

  // How many new URLs, and how many vouches, can be added now without being refused.
  uint64_t Room() const { return star_->UrlRoom(); }
  uint64_t VouchRoom() const { return star_->EdgeRoom(); }
  uint64_t EmptyVouchRoom() const { return star_->EmptyEdgeRoom(); }

  // A new URL.
  Status Add(const UrlRecord& record);
  // A page of one domain links to another one.
  Status Vouch(uint64_t source_pld, uint64_t target_pld) { return star_->AddEdge(source_pld, target_pld); }
  // Another shard reports that one of its domains vouches for `pld`.
  Status RaiseFromElsewhere(uint64_t pld) { return star_->RaiseFromElsewhere(pld); }
  // Another shard reports the in-degrees of its domains (Star::TakeRanks).
  Status TakeRanks(uint32_t shard, std::string_view histogram) { return star_->TakeRanks(shard, histogram); }
  uint64_t PayLevelKey(std::string_view url, uint64_t host_key) { return domains_.Key(url, host_key); }

  // Learns from a fetch that ended; `host_key` is the HostKey of the URL.
  void Observe(std::string_view url, uint64_t host_key, const PageResult& result);
  // A URL ended without a fetch: robots.txt forbids it or could not be fetched, or its host is given up.
  void OnDenied(std::string_view url) { CountEnd(url, HostKey(url, key_), /*fetched=*/false); }

  // Moves what is ready, about `max` URLs; returns how many it looked at.
  Result<uint64_t> Pump(uint64_t max, int64_t now_ns);
  // Up to `max` records whose turn has come. None if the queues are empty or every URL is still being judged.
  Result<std::vector<std::string>> Pop(size_t max) { return beast_->Pop(max); }
  // Pop would return something now.
  bool HasQueued() const { return beast_->counts().queued > 0; }
  bool Ready() const { return star_->ResultsReady(); }

  int64_t NextRoundTime(int64_t now_ns, bool hungry) { return star_->NextRoundTime(now_ns, hungry); }
  Result<bool> StartRound(int64_t now_ns, bool hungry) { return star_->StartRound(now_ns, hungry); }

  uint64_t waiting() const;
  const Star& star() const { return *star_; }
  const Beast& beast() const { return *beast_; }
  const EndCounts& ends() const { return *ends_; }

  std::vector<Checkpointable*> Checkpointables();

 private:
  static constexpr size_t kBatch = 256;
  static constexpr size_t kHeardEntries = 1 << 16;

  struct Heard {
    uint64_t pld = 0;
    uint32_t budget = 0;
  };
  class StandingToBeast;

  Admission(PayLevelDomains domains, const AdmissionOptions& options)
      : key_(options.key),
        price_of_(options.price_of),
        domains_(std::move(domains)),
        content_(options.content_memory),
        heard_(kHeardEntries) {}
  Status AddToStar(const UrlRecord& record, std::string_view bytes, bool fresh);
  Status Rebudget();
  void CountEnd(std::string_view url, uint64_t host_key, bool fetched) {
    ends_->Add(*star_, PayLevelKey(url, host_key), fetched);
  }

  const HashKey key_;
  const std::function<uint32_t(std::string_view, uint64_t)> price_of_;
  PayLevelDomains domains_;
  std::unique_ptr<Star> star_;
  std::unique_ptr<Beast> beast_;
  std::unique_ptr<YieldTable> yield_;
  std::unique_ptr<HostAllowance> hosts_;
  std::unique_ptr<EndCounts> ends_;
  RecentKeys content_;
  std::vector<Heard> heard_;  // by pld: the budget that the domain's last URL was given
  std::string encoded_;
};

}  // namespace portolan
