// Frontier: decides when each URL is fetched. URLs come in when the gate lets them pass, and go out when their host and
// their address may be contacted (a "hit").
//
//   Add → FrontQueues (F on disk, by priority) → biased selector → BackQueue (one host each; RAM, rest in SpillLog)
//       → Workbench (host clock tau_h, address clock tau_s) → Next
//
// The scheme is Mercator's (Heydon and Najork; Manning et al., 20.2.3), with BUbiNG's workbench for the two clocks and
// a spill, so that a host with ten million URLs costs as much RAM as one with a thousand and delays no other host.
//
// The life of a URL here: Add; Next returns it with a slot (kFetch); the slot ends by Finish or Skip (the URL is gone),
// or by Retry (it stays). Or Next says that it fails without a fetch (kFail), and it is gone.
//
// Invariants (CheckInvariants): a URL is in exactly one place; a back queue holds URLs of one host; a host has at most
// `connections_per_host` URLs in flight; a host with URLs that could have one more in flight is in exactly one of: the
// workbench, the line for an address, a timer, the line of those that fail. While the front has URLs and there is room,
// the number of hosts with URLs does not fall below `back_queues`.
// Thread: one owner, inside the deterministic shard: no clock, no randomness except the seed. The same calls give the
// same dispatches.
// Memory bound: options.memory for hosts, addresses and URLs, exceeded by at most a few blocks for a moment. At the
// bound the longest queues are spilled; if that does not help, nothing more is pulled and URLs wait on disk. In
// addition: two blocks per front queue and 2 MiB of readers. The number of URLs is limited only by the disk. While a
// snapshot is taken: copies that wait to be written, 1 MiB each (the checkpointer says how many), and those of hosts
// that changed meanwhile.
// Durability: Checkpointables() are part of each commit. After a crash the state is that of the last commit; URLs that
// were in flight then are first in their host's queue. The snapshot shows the moment of StartFlush: hosts are copied in
// parts of kCopyBytes between events, and each before it changes; the writer's thread encodes and writes.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/address_notice.h"
#include "flow/fetch.h"
#include "flow/outcome.h"
#include "flow/url_record.h"
#include "frontier/address_book.h"
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
    kWait,      // nothing before `until_ns`, unless Add, OnResolved or the end of a slot changes that
    kMoreWork,  // nothing yet, but call again soon: URLs are on their way from disk
    kResolve,   // look up `name`, then call OnResolved
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

// How a hit went, for the clocks.
struct Hit {
  int64_t duration_ns = 0;
  int64_t retry_after_ns = 0;  // from the answer; 0: none
  bool ok = true;              // the host answered properly: its back-off ends
  bool host_ill = false;       // Retry::kHostLater: the whole host waits, longer each time in a row
  // With host_ill: the wait before the second attempt (Follow::first_wait_ms), doubled for each further one; 0: 60 s.
  // Without: how long the URL that comes back waits (kTail), or its host (kHead).
  int64_t wait_ns = 0;
  FetchOutcome outcome = FetchOutcome::kUnreachable;  // with host_ill: its URLs fail with this if it is given up
  int64_t later_ns = 0;                               // with kTail: how long the URL waits, instead of wait_ns
  bool other_address = false;                         // no answer from this address: try the host's next one
};

enum class Where : uint8_t { kHead, kTail };

class Frontier : private Checkpointable {
 public:
  // Opens what the manifest describes, or an empty one. `now_ns` is always steady time, `unix_ns` calendar time.
  static Result<std::unique_ptr<Frontier>> Open(Env& env, const Manifest& manifest, const FrontierOptions& options,
                                                int64_t now_ns, int64_t unix_ns);
  ~Frontier() override;

  // Any number of URLs is taken: at the bound of memory they wait on disk.
  static constexpr uint64_t Room() { return ~uint64_t{0}; }

  // kInvalidArgument for a URL without host. On an error the URL was not taken.
  Status Add(const UrlRecord& record);

  // With phases: what the phases' clock says, as time to be added to the steady clock. Hosts whose turn was reckoned by
  // another clock are put right when that turn comes. REQUIRED before the first Next.
  void SetPhaseClock(int64_t offset_ns) { phase_offset_ns_ = offset_ns; }

  // What to do now. On an error nothing was dispatched and nothing is lost.
  Result<Dispatch> Next(int64_t now_ns, int64_t unix_ns);

  // The answer to kResolve. Ignored if the host does not wait for it.
  void OnResolved(const Resolution& resolution, int64_t now_ns);

  // For crawls with several shards: a notice of another shard about an address, and the notices for other shards. These
  // must be sent in this order, after each turn and at NextReturn: also while nothing is fetched.
  void OnAddressNotice(uint32_t from, const AddressNotice& notice, int64_t now_ns);
  std::vector<AddressMail> TakeAddressMail(int64_t now_ns);
  int64_t NextReturn() const { return bench_.NextReturn(); }

  // These end a slot. REQUIRES: it is open. The host is ready again when its clock has passed.
  void Skip(SlotId slot);                                    // not fetched at all: the clocks are as they were
  void Finish(SlotId slot, const Hit& hit, int64_t now_ns);  // fetched; the URL is done
  // Fetched, and the URL (as `record`, which may be the slot's own) comes back as the first or last of its host.
  void Retry(SlotId slot, const UrlRecord& record, Where where, const Hit& hit, int64_t now_ns);
  // Something else (robots.txt) was fetched in its place.
  void ReturnToHead(SlotId slot, const UrlRecord& record, const Hit& hit, int64_t now_ns) {
    Retry(slot, record, Where::kHead, hit, now_ns);
  }

  // Stored as long as the host has URLs or its clock runs; ignored for a host that is not here. `delay_ns` is what its
  // robots.txt asks for, `rule_ns` what the operator does: this one is kept also where Crawl-delay is not obeyed.
  void SetCrawlDelay(uint64_t host, int64_t delay_ns, int64_t rule_ns = 0);

  struct Counts {
    uint64_t front = 0;      // URLs in the front queues, those drawn from them included
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
  // True if there is room for more hosts and the present ones run out of URLs: URLs that are held back should come now.
  bool Hungry() const;
  // When Next may have something to do without a further event: a host's clock, a timer. kNever: only after an event.
  int64_t NextEventTime() const;
  static constexpr int64_t kNever = Workbench::kNever;

  // For the end of a crawl (frontier_waits.cc). True if nothing is left but URLs that failed before and wait for
  // another attempt, and none is in flight. Looks at every host; false if there are more than `max_hosts`.
  bool OnlyWaits(uint32_t max_hosts) const;
  // REQUIRES: OnlyWaits. Shortens their waits to kQuickNs, by how often they failed, counted from now. The politeness
  // delays (host delay, Crawl-delay, Retry-After, a third of the back-off of a host that answered) still apply.
  void Hurry(int64_t now_ns);
  static constexpr int64_t kQuickNs[] = {1'000'000'000, 3'000'000'000, 10'000'000'000};

  // Something that waits because it failed, for displays.
  struct Wait {
    std::string url;        // the one that is tried next
    uint64_t key = 0;       // hash of the record's URL by options.key; for a name: HostKey
    uint32_t failures = 0;  // of that URL, or of the name
    uint64_t urls = 0;      // of its host, waiting
    int64_t until_ns = 0;
  };
  // The first `max` in the order of time, among the first `look` hosts.
  std::vector<Wait> Waits(size_t max, uint32_t look) const;
  // The host whose URLs take longest: how many wait, and the delay between two of them.
  struct Slowest {
    std::string host;
    uint64_t urls = 0;
    int64_t gap_ns = 0;
  };
  Slowest SlowestHost(uint32_t look) const;

  // All of them must be in every commit, in this order.
  std::vector<Checkpointable*> Checkpointables();

  // Checks all invariants by counting everything again: O(hosts). For tests and after recovery.
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
  Status Check(bool records) const;  // CheckInvariants; `records`: decode every record, too
  Status Restore(const ManifestSection& section, int64_t now_ns, int64_t unix_ns);

  uint32_t active_hosts() const { return hosts_.size() - lingering_; }
  size_t ram_bytes() const { return hosts_.ram_bytes() + bench_.ram_bytes(); }
  int64_t ReadyTime(const Host& host) const;
  // The host of an open slot, taken off the workbench so that its clock and address may change.
  Host& OpenHost(SlotId slot, uint32_t& id);
  // Closes and removes the slot.
  Flight TakeFlight(Host& host, SlotId slot);
  // To be called at the end of a slot: schedules the host, if it was waiting for one.
  void Reschedule(uint32_t id, int64_t now_ns);

  // Moves URLs from the front to the back queues: `max` URLs, or until `wanted` hosts have some. Returns how many.
  Result<uint32_t> Pull(uint32_t max, uint32_t wanted);
  Result<bool> Route(std::string_view record);  // false: no room for its host
  Status KeepWithinMemory();

  // Puts the host where it belongs: a timer, a line or the workbench. REQUIRES: it is nowhere.
  void Schedule(uint32_t id, int64_t now_ns);
  void Await(uint32_t id);
  void Reposition(uint32_t id);  // to be called when the clock or queue of a scheduled host changed
  int64_t LeaveTime(const Host& host, int64_t now_ns) const;  // of a host without URLs
  void Leave(uint32_t id);
  void ExpireTimers(int64_t now_ns);
  void SetTimer(uint32_t id, int64_t time_ns);
  void ClearTimer(uint32_t id);
  // A failed hit is counted: the host is given up after give_up_after of them in a row.
  void NoteIllness(Host& host, FetchOutcome outcome, int64_t now_ns);
  // Ends a hit: updates the clocks and the health of the host. The caller must Reschedule it.
  void EndHit(uint32_t id, SlotId slot, const Hit& hit, int64_t wait_ns, int64_t now_ns);

  // Passes notices between workbench and book, and to other shards.
  void PassNotices(int64_t now_ns);
  void TakeNotice(uint32_t from, const AddressNotice& notice, int64_t now_ns);
  uint32_t OwnerOf(const Address& address) const;

  uint32_t TopHost(int64_t now_ns);
  // With phases: when it is this shard's turn to fetch from the host, not before `time_ns`. Otherwise that time.
  int64_t TurnTime(const Host& host, int64_t time_ns) const;
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
  bool spilling_ = false;  // memory was full, and is still above the lower mark
  std::optional<PhasePartition> phases_;
  HostTable hosts_;
  Workbench bench_;
  AddressBook book_;                 // of the addresses that this shard owns
  std::vector<AddressMail> outbox_;  // to other shards
  TimedHeap timers_;                 // hosts that linger, or look up their address again later
  std::deque<uint32_t> awaiting_;    // hosts that need an address
  std::deque<uint32_t> failing_;     // hosts whose URLs are dispatched as kFail
  uint32_t resolving_ = 0;
  uint32_t lingering_ = 0;
  uint32_t in_flight_ = 0;
  uint32_t next_slot_ = 0;
  bool fail_turn_ = false;
  uint64_t sequence_ = 0;
  int64_t now_ns_ = 0;                                  // of the last call
  int64_t calendar_offset_ns_ = 0;                      // unix_ns - now_ns, of the last call that had both
  std::optional<int64_t> phase_offset_ns_;              // time of the phases' clock - now_ns
  int64_t quiet_until_ns_ = Workbench::kFreeSinceEver;  // new hosts are not hit before this time: see Restore
  std::string failed_;                                  // the record of the last kFail
  std::string scratch_;

  uint64_t next_snapshot_ = 1;
  SnapshotCopy copy_;               // what the writer does not have yet
  std::shared_ptr<Saving> saving_;  // the last snapshot, until committed; used by the writer until it is written
  std::vector<std::string> retired_;
  ManifestSection described_;  // committed
};

}  // namespace portolan
