// Frontier: decides when each URL is fetched. URLs go in as the gate lets them pass, and come out when their host and
// their address may be hit.
//
//   Add → FrontQueues (F on disk, by priority) → biased selector → BackQueue (one host each; RAM, rest in SpillLog)
//       → Workbench (host clock tau_h, address clock tau_s) → Next
//
// The scheme is Mercator's (Heydon and Najork; Manning et al., 20.2.3), with BUbiNG's workbench for the two clocks and
// a spill, so that a host with ten million URLs costs as much RAM as one with a thousand and delays nobody.
//
// The life of a URL here: Add; Next gives it out with a slot (kFetch); the slot ends by Finish or Skip (the URL is
// gone), or by Retry (it stays). Or Next says that it fails without a fetch (kFail), and it is gone.
//
// Invariants (CheckInvariants): a URL is in exactly one place; a back queue holds URLs of one host; a host has at most
// `connections_per_host` URLs in flight; a host with URLs that could have one more is in exactly one of: the workbench,
// the line for an address, a timer, the line of those that fail. While the front has URLs and there is room, the number
// of hosts with URLs does not fall below `back_queues`.
// Thread: one owner, inside the deterministic shard: no clock, no randomness but the seed. The same calls give the same
// dispatches.
// Memory bound: options.memory for hosts, addresses and URLs, exceeded by at most a few blocks for a moment; at the
// bound the longest queues are spilled, and when that does not help nothing more is pulled: URLs wait on disk. Beside
// it two blocks a front queue and 2 MiB of readers. No bound on URLs but the disk's. While a snapshot is taken: copies
// that wait to be written, 1 MiB each (the checkpointer says how many), and those of hosts that changed meanwhile.
// Durability: Checkpointables() are part of each commit. After a crash the state is that of the last commit; URLs that
// were in flight then stand first in their host's queue. The snapshot is of the moment of StartFlush: hosts are copied
// in parts of kCopyBytes between events, and each before it changes; encoding and writing is the writer's.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/fetch.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
#include "frontier/front_queues.h"
#include "frontier/frontier_options.h"
#include "frontier/host_table.h"
#include "frontier/snapshot.h"
#include "frontier/snapshot_copy.h"
#include "frontier/spill_compactor.h"
#include "frontier/spill_log.h"
#include "frontier/timed_heap.h"
#include "frontier/workbench.h"
#include "io/env.h"

namespace portolan {

struct Dispatch {
  enum class Kind : uint8_t {
    kWait,      // nothing before `until_ns`, unless Add, OnResolved or the end of a slot change that
    kMoreWork,  // nothing yet, but call again soon: URLs are on their way from disk
    kResolve,   // ask for `name`; OnResolved when it is known
    kFetch,     // fetch `record.url` at `address`; `slot` is open until Finish, Skip or Retry
    kFail,      // `record` is done with `outcome`, without a fetch
  };
  Kind kind = Kind::kWait;
  int64_t until_ns = Workbench::kNever;
  SlotId slot = 0;
  uint64_t host = 0;  // HostKey
  // Of kFetch: valid until a slot of its host ends, or the next call of Next; of kFail: until the next call of Next.
  UrlRecord record;
  Address address;
  FetchOutcome outcome = FetchOutcome::kAnswered;
  std::string_view name;  // valid until the next call of Next
};

// What a hit was like, for the clocks.
struct Hit {
  int64_t duration_ns = 0;
  int64_t retry_after_ns = 0;  // from the answer; 0: none
  bool ok = true;              // the host answered as it should: its back-off ends
  bool host_ill = false;       // Retry::kHostLater: all of it waits, longer each time in a row
  // With host_ill: before the second attempt (Follow::first_wait_ms), doubled for each further one; 0: 60 s.
  // Without: how long the URL that comes back waits (kTail), or its host (kHead).
  int64_t wait_ns = 0;
  FetchOutcome outcome = FetchOutcome::kUnreachable;  // with host_ill: its URLs fail with this if it is given up
  int64_t later_ns = 0;                               // with kTail: how long the URL waits, instead of wait_ns
  bool other_address = false;                         // nobody answered there: the host's next address may be better
};

enum class Where : uint8_t { kHead, kTail };

class Frontier : private Checkpointable {
 public:
  // As the manifest says, or empty. `now_ns` is steady time, `unix_ns` the calendar, here and everywhere.
  static Result<std::unique_ptr<Frontier>> Open(Env& env, const Manifest& manifest, const FrontierOptions& options,
                                                int64_t now_ns, int64_t unix_ns);
  ~Frontier() override;

  // It takes any number of URLs: at the bound of memory they wait on disk.
  static constexpr uint64_t Room() { return ~uint64_t{0}; }

  // kInvalidArgument for a URL without host. On an error the URL was not taken.
  Status Add(const UrlRecord& record);

  // What to do now. On an error nothing was given out and nothing is lost.
  Result<Dispatch> Next(int64_t now_ns, int64_t unix_ns);

  // An answer to kResolve. One for a host that does not wait for it is ignored.
  void OnResolved(const Resolution& resolution, int64_t now_ns);

  // A slot ends. REQUIRES: it is open. Each host is ready again when its clock has passed.
  void Skip(SlotId slot);                                    // not fetched at all: the clocks are as they were
  void Finish(SlotId slot, const Hit& hit, int64_t now_ns);  // fetched; the URL is done
  // Fetched, and the URL (as `record`, which may still be the slot's own) comes back: first or last of its host.
  void Retry(SlotId slot, const UrlRecord& record, Where where, const Hit& hit, int64_t now_ns);
  // Something else (robots.txt) was fetched in its place.
  void ReturnToHead(SlotId slot, const UrlRecord& record, const Hit& hit, int64_t now_ns) {
    Retry(slot, record, Where::kHead, hit, now_ns);
  }

  // Kept as long as the host has URLs or its clock runs; ignored for a host that is not here.
  void SetCrawlDelay(uint64_t host, int64_t delay_ns);

  struct Counts {
    uint64_t front = 0;      // URLs in the front queues and at their gate
    uint64_t back_ram = 0;   // URLs in back queues, in RAM
    uint64_t back_disk = 0;  // … in the spill
    uint64_t back_near = 0;  // of both, the first HostTable::kNear of each host
    uint64_t in_flight = 0;
    uint32_t hosts = 0;         // known now
    uint32_t active_hosts = 0;  // of them with URLs or in flight
    uint32_t resolving = 0;
    uint32_t failing_hosts = 0;
    size_t ips = 0;
    size_t ram_bytes = 0;      // hosts, addresses and URLs
    uint64_t spill_bytes = 0;  // on disk
    uint64_t waiting() const { return front + back_ram + back_disk; }
    uint64_t near() const { return front + back_near; }
    uint64_t urls() const { return waiting() + in_flight; }
  };
  Counts counts() const;
  // There is room for more hosts, and those that are here run dry: whoever holds URLs back should let them go at once.
  bool Hungry() const;
  // When Next may have something to say without a further event: a host's clock, a timer. kNever: not before an event.
  int64_t NextEventTime() const;
  static constexpr int64_t kNever = Workbench::kNever;

  // Of the end of a crawl (frontier_waits.cc). Is nothing left but URLs that failed before and wait for another
  // attempt, and none in flight? Looks at every host; false where there are more than `max_hosts`.
  bool OnlyWaits(uint32_t max_hosts) const;
  // REQUIRES: OnlyWaits. Shortens their waits to kQuickNs by how often they failed, from now. The clocks of politeness
  // (host delay, Crawl-delay, Retry-After, a third of the back-off of a host that says it has had enough) hold.
  void Hurry(int64_t now_ns);
  static constexpr int64_t kQuickNs[] = {1'000'000'000, 3'000'000'000, 10'000'000'000};

  // Something that waits because it failed, for people.
  struct Wait {
    std::string url;        // the one that is tried next
    uint64_t key = 0;       // of the record's URL, by options.key; of a name: HostKey
    uint32_t failures = 0;  // of that URL, or of the name
    uint64_t urls = 0;      // of its host, waiting
    int64_t until_ns = 0;
  };
  // The first `max` in the order of time, of those among the first `look` hosts.
  std::vector<Wait> Waits(size_t max, uint32_t look) const;
  // The host whose URLs take longest: how many it has waiting, and the gap that it is left alone between two of them.
  struct Slowest {
    std::string host;
    uint64_t urls = 0;
    int64_t gap_ns = 0;
  };
  Slowest SlowestHost(uint32_t look) const;

  // All of them, in every commit, in this order.
  std::vector<Checkpointable*> Checkpointables();

  // Everything that must hold, counted again from scratch: O(hosts). For tests and after recovery.
  Status CheckInvariants() const;

  static constexpr std::string_view kKind = "frontier";

 private:
  class Restorer;
  struct Saving;

  Frontier(Env& env, std::string dir, const FrontierOptions& options);

  // Checkpointable: the snapshot.
  Status Flush() override;
  void StartFlush(std::function<void(Status)> done) override;
  bool ContinueFlush(Executor& writer) override;
  ManifestSection Describe() const override;
  Status Committed() override;
  void CopyHost(const Host& host, int64_t now_ns);
  Status Check(bool records) const;  // CheckInvariants; without what needs every record decoded
  Status Restore(const ManifestSection& section, int64_t now_ns, int64_t unix_ns);

  uint32_t active_hosts() const { return hosts_.size() - lingering_; }
  size_t ram_bytes() const { return hosts_.ram_bytes() + bench_.ram_bytes(); }
  int64_t ReadyTime(const Host& host) const;
  // The host of an open slot, off the workbench so that its clock and address may change.
  Host& OpenHost(SlotId slot, uint32_t& id);
  // The slot is closed and forgotten.
  Flight TakeFlight(Host& host, SlotId slot);
  // After the end of a slot: the host goes where it belongs, if it is nowhere.
  void Resettle(uint32_t id, int64_t now_ns);

  // From the front to the back queues. `max` URLs, or until `wanted` hosts have some. Returns how many were moved.
  Result<uint32_t> Pull(uint32_t max, uint32_t wanted);
  Result<bool> Route(std::string_view record);  // false: no room for its host
  Status KeepWithinMemory();

  // A host goes where its queue, verdict and address say. REQUIRES: it is nowhere now.
  void Settle(uint32_t id, int64_t now_ns);
  void Await(uint32_t id);
  void Reposition(uint32_t id);  // its clock or its queue changed while it stands somewhere
  int64_t LeaveTime(const Host& host, int64_t now_ns) const;  // when it has no URLs
  void Leave(uint32_t id);
  void ExpireTimers(int64_t now_ns);
  void SetTimer(uint32_t id, int64_t time_ns);
  void ClearTimer(uint32_t id);
  // A hit ended: clocks, health of the host. The caller resettles it.
  void NoteIllness(Host& host, FetchOutcome outcome, int64_t now_ns);
  void EndHit(uint32_t id, SlotId slot, const Hit& hit, int64_t wait_ns, int64_t now_ns);

  Result<Dispatch> GiveFetch(uint32_t id, int64_t now_ns);
  Result<Dispatch> GiveFail();
  Dispatch GiveResolve();

  auto HostPlace() {
    return [this](uint32_t id) -> uint32_t& { return hosts_.place(id); };
  }

  Env& env_;
  const std::string dir_;
  const FrontierOptions options_;
  const BackQueue::Limits limits_;

  std::unique_ptr<FrontQueues> front_;
  std::unique_ptr<SpillLog> spill_;
  SpillCompactor compactor_;
  bool spilling_ = false;  // the memory was full, and is not yet down to where it may fill again
  HostTable hosts_;
  Workbench bench_;
  TimedHeap timers_;               // hosts that linger, or ask for their address again
  std::deque<uint32_t> awaiting_;  // hosts that need an address
  std::deque<uint32_t> failing_;   // hosts whose URLs come out as failures
  uint32_t resolving_ = 0;
  uint32_t lingering_ = 0;
  uint32_t in_flight_ = 0;
  uint32_t next_slot_ = 0;
  bool fail_turn_ = false;
  uint64_t sequence_ = 0;
  int64_t now_ns_ = 0;                                  // of the last call
  int64_t calendar_offset_ns_ = 0;                      // unix_ns - now_ns, of the last call that had both
  int64_t quiet_until_ns_ = Workbench::kFreeSinceEver;  // new hosts are not hit before: see Restore
  std::string failed_;                                  // the record of the last kFail
  std::string scratch_;

  uint64_t next_snapshot_ = 1;
  SnapshotCopy copy_;               // what is not yet with the writer
  std::shared_ptr<Saving> saving_;  // the last snapshot, until it is committed; its writer's until that is done
  std::vector<std::string> retired_;
  ManifestSection described_;  // committed
};

}  // namespace portolan
