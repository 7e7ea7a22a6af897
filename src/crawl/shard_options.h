// What a shard is made with: the time that its events bring, the ports through which it acts, its options.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/hash_key.h"
#include "content/content_seen.h"
#include "content/duplicate_policy.h"
#include "content/near_seen.h"
#include "crawl/admission.h"
#include "crawl/exchange.h"
#include "crawl/limits.h"
#include "crawl/outage.h"
#include "crawl/refresh_options.h"
#include "crawl/scope.h"
#include "crawl/trap_park.h"
#include "crawl/turn_times.h"
#include "flow/fetch.h"
#include "flow/fetch_line.h"
#include "flow/page_result.h"
#include "frontier/frontier_options.h"
#include "gate/gate_types.h"
#include "io/executor.h"
#include "seen/url_seen.h"

namespace portolan {

struct Moment {
  int64_t now_ns = 0;   // steady
  int64_t unix_ns = 0;  // calendar; may jump
};

// Where results of fetches are written: the crawl's outputs (WARC, crawl log, …). Never blocks, never fails, never
// refuses. Disk errors are reported to the driver, which gives the shard no pages while the outputs have no room.
class OutputPort {
 public:
  virtual ~OutputPort() = default;
  // May move everything out of the result except its links.
  virtual void Write(PageResult& result, FetchLine&& about) = 0;
};

// Where rounds of DRUMs run. URLseen's rounds can take minutes and have a lane of their own, so that robots and
// reputations do not wait behind them.
struct MergeLanes {
  Executor& seen;
  Executor& others;

  MergeLanes(Executor& for_seen, Executor& for_others) : seen(for_seen), others(for_others) {}
  MergeLanes(Executor& for_all) : MergeLanes(for_all, for_all) {}  // NOLINT(google-explicit-constructor): both
};

// The interfaces that a shard acts through.
struct ShardPorts {
  FetchPort& fetch;
  OutputPort& outputs;
  ExchangePort* exchange = nullptr;  // this shard's; null if it is the only one
  TurnWatch* watch = nullptr;        // for statistics; null: turns are not measured
};

struct ShardOptions {
  ScopeOptions scope;
  HashKey key;          // the crawl's; used by all parts below
  uint32_t shards = 1;  // of the crawl
  uint32_t shard = 0;   // the index of this one
  bool alone = false;   // the only one in its directory and its engine; the others are in other processes
  // The crawl is divided by URLs and phases (frontier/phase_partition.h) and not by domains. `nodes` is set to
  // `shards`; 0 phases: as many as shards. Not possible with budgets, traps, rules that limit pages, and duplicates
  // that are skipped: what these know of a host or domain has one place.
  std::optional<PhasePartition::Options> phases = std::nullopt;
  uint32_t connections = 256;  // fetches in flight
  uint32_t max_links = 1000;   // of one PageResult; this many must fit into an empty URLseen and an empty STAR
  uint64_t max_pages = 0;      // 0: no limit; likewise in the next two lines
  uint64_t max_bytes = 0;      // received
  int64_t max_time_ns = 0;     // since the crawl began, pauses not counted
  uint16_t max_depth = 0;
  bool depth_limited = false;  // whether max_depth applies; it may be 0
  uint8_t max_hops = 10;       // redirects in a row
  bool follow_nofollow = false;
  bool follow_embeds = true;     // those in scope; requisites (scope.requisites) are followed anyway
  bool sitemaps = true;          // fetch the sitemaps that robots.txt names
  bool via = true;               // URLs carry the page on which they were found first, for the log and the archive
  bool give_up_quickly = false;  // see shard.h; false: only the gate decides when robots.txt is fetched again
  int64_t robots_retry_ns = 3600'000'000'000;  // with give_up_quickly: longest wait between two attempts
  FrontierOptions frontier;
  UrlSeenOptions seen{.pace = {.patience_ns = 200'000'000}};
  // With several shards one part in so many of URLseen's memory is for links that others were sent lately, which are
  // not sent again; 0: all are sent.
  uint64_t sent_share = 32;
  GateOptions gate;
  AdmissionOptions admission;
  uint64_t limits_memory = uint64_t{8} << 20;  // for the page limits of rules, if there are any
  bool content_seen = false;                   // payloads are compared; results then carry payload_sha1
  bool archived = false;                       // of them only those that are archived count
  DuplicatePolicy duplicates = DuplicatePolicy::kMark;
  ContentSeenOptions content;
  NearPolicy near_duplicates = NearPolicy::kKeep;  // otherwise results carry similarity
  NearSeenOptions near;
  TrapOptions traps;
  ShardRefresh refresh;
  OutageOptions outage;
  // Shared by all shards of the crawl, made from max_pages, max_bytes and max_time_ns; null: Open makes one.
  std::shared_ptr<Limits> limits = nullptr;

  // Its place among the shards of its directory and its engine: in names of sections and files, and in ids of fetches.
  uint32_t seat() const { return alone ? 0 : shard; }
};

}  // namespace portolan
