// The types that the gate's callers use: options, time, answers, counts; and the special values for origins without
// rules.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/block_format.h"
#include "disk/round_pace.h"
#include "flow/url_record.h"

namespace portolan {

// The time of a call: the steady clock for pace, the calendar for what is kept over restarts.
struct GateNow {
  int64_t ns = 0;
  uint32_t unix_s = 0;
};

// Special values of RobotsRef positions, which are not places in the RulesStore. On disk: never renumber.
inline constexpr uint64_t kRobotsAllowAll = 0;
// Unreachable for the first time; 2 … 7: that many times in a row. Nothing may be fetched for now.
inline constexpr uint64_t kRobotsUnreachable = 1;
inline constexpr uint64_t kRobotsUnreachableMost = 7;
inline constexpr uint64_t kRobotsAsked = 15;  // asked, no answer yet; only in RAM

enum class DenyReason : uint8_t {
  kRules,        // robots.txt says so
  kUnreachable,  // robots.txt could not be fetched, unreachable_tries times in a row
};

enum class Verdict : uint8_t {
  kAllowed,
  kDenied,
  kStale,  // no fresh copy of the rules, or the origin is unreachable for now: give it to Add again
};

class GateSink {
 public:
  virtual ~GateSink() = default;
  // Records are valid only during the call. `record.robots` is the reference that decided. An error ends the gate's
  // call that gave the record and is returned by it; the record counts as not taken and stays in the gate.
  virtual Status OnAllowed(const UrlRecord& record) = 0;
  virtual Status OnDenied(const UrlRecord& record, DenyReason reason) = 0;
  // A record of kind kRobots to be fetched before others: its URL is as in robots_request.h, its hops count redirects.
  virtual Status OnRobotsWanted(const UrlRecord& request) = 0;
};

struct GateOptions {
  // The beginning of the names of everything on disk.
  std::string name = "robots";
  // Half for RobotsCache, a quarter for opened rules, an eighth each for RobotsRequested and for KnownOrigins. Beside
  // it: two blocks of 32 KiB for each of the two queues.
  uint64_t memory = uint64_t{64} << 20;
  // What may wait in the two DRUMs: three quarters and one quarter. The queues are bounded by the disk alone.
  uint64_t disk = uint64_t{16} << 30;
  Codec codec = Codec::kLz4;
  HashKey key;  // the crawl's: of origins

  uint32_t robots_ttl_s = 24 * 3600;  // RFC 9309 section 2.4: at most a day
  uint32_t unreachable_ttl_s = 3600;  // then it is asked again
  uint32_t unreachable_tries = 3;     // answers in a row after which its URLs are given up: 1 … 7
  uint32_t request_timeout_s = 1800;  // a request without an answer is made again; at most either of the two above
  uint64_t rules_segment = uint64_t{64} << 20;
  uint64_t pass_answers =
      1000;  // after this many robots.txt answers a pass through Q_R starts even if the caller is not hungry
  bool use_known_origins = true;  // false: everything goes through the disk

  // Of both DRUMs. New hosts must not wait long even if the caller is not hungry.
  RoundPace::Options pace{.patience_ns = 500'000'000};
  // On the executor's thread when a round is merged: post an event to the owner.
  std::function<void()> on_round_done;

  static constexpr uint64_t kMinMemory = uint64_t{2} << 20;
};

struct GateCounts {
  uint64_t entered = 0;
  uint64_t allowed = 0;
  uint64_t denied_rules = 0;
  uint64_t denied_unreachable = 0;
  uint64_t known = 0;   // of all these, decided in RAM without the disk
  uint64_t wanted = 0;  // robots.txt asked for, redirects not counted
  uint64_t redirects = 0;
  uint64_t answers = 0;
  uint64_t passes = 0;  // through Q_R and Q_U
};

}  // namespace portolan
