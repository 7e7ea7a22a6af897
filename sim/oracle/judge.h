// Judge: checks what a crawler does to the simulated web against the rules that it promised to keep.
//
// It knows the world (World) and the requests, and nothing about the crawler: no code is shared with it, so a bug in
// our URL parser or robots.txt matcher cannot hide itself. It is a HitSink: fed from a log through TimeOrder, or
// directly by the virtual world.
//
// How it interprets the rules (rules.h):
//   - robots.txt is judged by what the client could know: the rules at the time of the last request for it that was
//     answered when the page was asked for. A client that never asked is judged by the current rules.
//   - Crawl-delay counts between two requests that both came after the answer that contained it.
//   - Retry-After of a 429 or 503 binds the whole host, from the end of that answer on.
//   - Connections at once are two different things. Requests in progress at a host (Rules::connections): those whose
//     times from unix_ns to end_ns overlap. The log is written so that this shows however fast the answers are
//     (hit_log.h), so no slack is subtracted. Connections open to a host (Rules::open_connections): idle ones too, each
//     from its first request to the host until the client has closed it.
//   - What browsers request from any host by themselves (/favicon.ico, /.well-known/, /apple-touch-icon…) is not part
//     of the web, and not an invented URL: it is counted separately, and only its pace is judged.
//   - A request that failed (5xx, 429, no answer, a fault on the wire) may be repeated, up to Rules::tries_per_url.
//
// REQUIRES: events in the order of time, requests by their beginning.
// Memory: 6 bytes per numbered page, 4 more per page that was born during the crawl; about 200 bytes per host name that
// was requested or looked up in DNS, about 100 per address, up to Options::max_hosts of either (requests beyond are
// counted as unjudged, and their pace is not judged); about 300 per open connection; nothing for pages of traps and
// farms. Thread: one owner.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/oracle/account.h"
#include "sim/oracle/open_connections.h"
#include "sim/oracle/pace.h"
#include "sim/oracle/page_ledger.h"
#include "sim/oracle/rules.h"
#include "sim/world/hit_log.h"
#include "sim/world/world.h"

namespace portolan::sim {

class Judge : public HitSink {
 public:
  struct Options {
    Rules rules;
    uint64_t max_hosts = uint64_t{1} << 24;
    size_t offences_a_kind = 20;  // kept as examples; all are counted
    // Freshness is measured each time this much time has passed (one pass over the pages each), at most 1000 times. 0:
    // only at the end.
    int64_t freshness_every_ns = 0;
  };

  // `world` outlives the judge.
  Judge(const World& world, Options options);

  void OnHit(const Hit& hit) override;
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) override;
  void OnClose(int64_t unix_ns, uint64_t connection) override;
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override;

  // Compares with the set of reachable, allowed pages: `each_reachable` calls its argument with the dense number of
  // each. Missed ones are violations when the rules say that the crawl is complete. Once, at the end.
  using EachPage = std::function<void(const std::function<void(uint64_t)>&)>;
  void Cover(const EachPage& each_reachable, const std::function<void(const std::string& url)>& each_missed = nullptr);

  Freshness MeasureFreshness(int64_t unix_ns) const;
  // Of the pages that were born since the first request.
  Discovery MeasureDiscovery(int64_t unix_ns) const;

  // The account so far.
  const Account& account() const { return account_; }
  // The account, with freshness as it is at `unix_ns`.
  Account Finish(int64_t unix_ns);

  const PageLedger& pages() const { return pages_; }

 private:
  struct RobotsState {
    int64_t asked_ns = -1;  // -1: never
    int64_t end_ns = -1;
    bool unreachable = false;
  };
  struct HostRecord {
    Pace pace;
    RobotsState robots;       // the last answered one
    RobotsState robots_next;  // asked for, and not yet known to be answered
    int64_t held_from_ns = -1;
    int64_t held_until_ns = -1;
    uint32_t fetches = 0;
    uint32_t robots_fetches = 0;
    uint32_t dns_questions = 0;
  };
  struct AddressRecord {
    Pace pace;
    uint32_t fetches = 0;
  };

  HostRecord* HostOf(std::string_view name);
  AddressRecord* AddressOf(std::string_view address);
  void JudgePace(const Hit& hit, const Place& place, HostRecord& host);
  void JudgeIpPace(const Hit& hit, AddressRecord& address);
  void JudgeRobots(const Hit& hit, const Place& place, const HostRecord& host);
  void JudgePage(const Hit& hit, const Place& place);
  void NoteCopy(const Hit& hit, const Place& place, uint64_t page);
  void JudgeOpenConnections(const Hit& hit);
  void NoteAnswer(const Hit& hit, const Place& place, HostRecord* host);
  // What the Retry-After of this answer says, in nanoseconds; -1 for none.
  int64_t RetryAfterNs(const Hit& hit, const Place& place);
  bool DeservesRetry(const Hit& hit, const Place& place) const;
  void Offend(Violation kind, const Hit& hit, std::string detail);

  const World& world_;
  Options options_;
  Account account_;
  PageLedger pages_;
  std::vector<uint32_t> delays_s_;  // from birth to the first copy, of pages born since the first request
  std::unordered_map<uint64_t, HostRecord> hosts_;         // by Hash64 of the name
  std::unordered_map<uint64_t, AddressRecord> addresses_;  // by Hash64 of the text
  OpenConnections to_addresses_;                           // from accepting on
  OpenConnections to_hosts_;                               // from the first request on
  int64_t next_freshness_ns_ = -1;
};

}  // namespace portolan::sim
