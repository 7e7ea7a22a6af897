// Driver: what happens between the events of a crawl: turns of its shards, checkpoints, the pause while a disk is full,
// stop, cancel and the end. The engine runs it with real threads, the simulation in virtual time. It has no threads,
// no sockets and no timers of its own, and says when it wants to be called next.
//
//   Turn(shard)   gives the shard what came for it (results, messages of other shards), lets it work, and delivers what
//                 it sent
//   Tick          does everything that belongs to the crawl and not to one shard; NextTick says when it is due
//
// A full disk pauses the crawl before it can do harm: as long as a directory has less than reserve_bytes free, nothing
// new is fetched and no checkpoint is begun. The crawl continues when there is room. If a structure of a shard met a
// full disk before that, or the crawl ended while an output waited for room, the crawl is over with kNoSpace, and its
// owner may open it again from the last checkpoint. Any other disk error ends the crawl with that error.
//
// A request to pause holds until it is taken back; checkpoints go on. Abandon ends the crawl as a crash would.
//
// A request to stop: nothing new is fetched; after stop_grace_ns, or with a second request, what is in flight is
// cancelled. The crawl is over when nothing is in flight.
//
// A checkpoint shows all shards at one moment: each is held between two turns while the structures hand over their
// state (checkpointer.h), and messages on their way between shards move to their receivers' queues of arrivals.
//
// The crawl is done when no shard has anything left and nothing is on its way between them (checked while all shards
// are held), or when a limit is reached and nothing is in flight. If some shards are in other processes, the exchange
// says when all are done; it decides that by what was committed, so a checkpoint is written soon after the shards here
// have become idle, but so rarely that these checkpoints take a twentieth of the time.
//
// A crawl with phases needs a clock for them (frontier/phase_partition.h). If all of the crawl is in this process, that
// is the steady clock from the calendar of the moment when it was opened, so setting the calendar swaps nothing.
//
// Thread: Turn(i), WantsPages(i), AddPages(i), OnResolved(i) and NextTurn(i) run on the thread of shard i, which the
// owner stops while the shard is held (Owner::Hold). Everything else runs on the driver's thread. The two threads may
// be the same.
// Memory bound: results that wait for room in a shard (inbox.h), which are paid for by the answers' budget.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "crawl/counts.h"
#include "crawl/exchange.h"
#include "crawl/inbox.h"
#include "crawl/shard.h"
#include "disk/checkpointer.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "io/clock.h"
#include "io/env.h"
#include "outputs/outputs.h"

namespace portolan {

struct DriverOptions {
  std::vector<std::string> directories;  // checked for free space
  uint64_t reserve_bytes = 0;            // free bytes below which the crawl pauses
  int64_t retry_ns = 2'000'000'000;      // between two looks at the disks
  int64_t checkpoint_ns = 0;             // 0: only checkpoints that are asked for
  int64_t show_log_ns = 1'000'000'000;  // how often new lines of the crawl log become readable; 0: when a block is full
  int64_t stop_grace_ns = 3'000'000'000;  // after the first request to stop; then what is in flight is cancelled
  bool tell_troubles = false;             // log a warning about hosts that do not answer
};

class Driver {
 public:
  // What the driver needs its owner to do.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void WakeShard(uint32_t shard) = 0;  // Turn soon. From any thread.
    virtual void WakeDriver() = 0;               // Tick soon. From any thread.
    virtual void CancelFetches() = 0;            // what is in flight ends soon
    // Between these two calls that shard has no turn.
    virtual void Hold(uint32_t /*shard*/) {}
    virtual void Release(uint32_t /*shard*/) {}
    // The driver is about to wait for a job that the checkpointer gave to its executor. An owner without a thread for
    // such jobs runs them now.
    virtual void RunBackground() {}
  };

  struct Parts {
    Env& env;
    const Clock& clock;
    Checkpointer& checkpointer;
    Outputs& outputs;
    std::vector<Shard*> shards;
    ShardExchange* exchange = nullptr;         // null: there is one shard
    std::vector<Checkpointable*> others = {};  // structures that belong to no shard and no output
  };

  // REQUIRES: all parts outlive the driver.
  Driver(Owner& owner, const Parts& parts, const DriverOptions& options);

  // ---- a shard's turn

  // True if the shard can be given results of fetches. While it is false they wait where they are.
  bool WantsPages(uint32_t shard) const { return seats_[shard].inbox.empty() && outputs_.HasRoom(); }
  void AddPages(uint32_t shard, std::vector<PageResult>&& pages) { seats_[shard].inbox.Add(std::move(pages)); }
  void OnResolved(uint32_t shard, const Resolution& resolution);
  void Turn(uint32_t shard);
  // When the next Turn is wanted (steady clock); as soon as possible if that is not after now.
  int64_t NextTurn(uint32_t shard) const { return shards_[shard]->NextWake(); }
  bool inbox_waits(uint32_t shard) const { return !seats_[shard].inbox.empty(); }

  // ---- the crawl as a whole

  // To be called before the first turn.
  Status Begin();
  void Tick();
  // kNever: only when something happens.
  int64_t NextTick() const;
  void RequestStop();
  void RequestPause(bool paused);
  // No checkpoint is written any more, and End fails with this error.
  void Abandon(const Error& why);
  // Called for an error of an output's thread: it pauses or ends the crawl.
  void OnDiskError(const Error& error);
  // Gives the shards the block lists of now.
  void SetBlockList(const std::shared_ptr<const BlockList>& list);
  // Asks for a checkpoint that begins after this call. `answer` is called once, possibly from inside the call.
  void AskForCheckpoint(std::function<void(const Status&)> answer);
  Status CheckpointNow();  // waits for it

  // True: there are no more turns. From any thread.
  bool over() const { return over_; }
  Status status() const { return error_ ? Status(std::unexpected(*error_)) : Status(); }
  // Writes the last checkpoint. If the crawl is done, the outputs are finished and `when_done` is called before a
  // manifest says that it is done. REQUIRES: over, and no fetch is running.
  Status End(const std::function<Status()>& when_done);

  // ---- for displays

  // "running", "stopping", "done", "stopped", "paused: disk full: …"
  const std::string& state() const { return state_; }
  bool full() const { return full_; }
  std::string_view outage() const { return outage_; }  // in words; empty: there is none
  CrawlCounts counts() const;                          // of all shards. REQUIRES: they are held, or no turn is running
  uint64_t checkpoints() const { return checkpoints_done_; }
  int64_t checkpoint_longest_ns() const {
    return checkpoint_longest_ns_;
  }  // the longest time for which one held up the shards

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

 private:
  struct Seat {
    Inbox inbox;
    Status status;      // of its turns
    bool took = false;  // its last turn took something that other shards had sent
    // What the driver's thread last saw of the shard:
    Shard::State state = Shard::State::kRunning;
    bool only_waits = false;
    bool limited = false;
    std::string_view outage;
    uint64_t shortages = 0;
    bool down = false;  // it is in an outage that the other shards know of
  };
  class Held;

  Moment Now() const { return {clock_.NowNs(), clock_.UnixNs()}; }
  Status TakeTurn(uint32_t shard, Moment now);
  bool HasNews(uint32_t shard);
  void Fail(const Error& error);
  void WakeShards();
  void LookAtShards();
  void LookElsewhere();
  PhaseTime PhaseClock() const;
  void NotePhaseClock();
  bool Idle() const;
  void NoteTroubles(Shard& shard);
  void ShareOutage();
  void NoteOutage(std::string_view what);
  void EndIfOver();
  void HurryIfAllWait();
  void PauseFull(const std::string& why);
  void LookForRoom();
  void SetPause();
  void Cancel();

  std::vector<Checkpointable*> Checkpointables() const;
  // Stores messages that are on their way between shards; `idle`, if the shards are idle and there were none.
  Status KeepArrivals(bool* idle);
  void CheckpointIfDue();
  void ContinueCheckpoint();
  void FinishCheckpoint();
  Status EndCheckpoint();  // waits for the one that is being written, if any
  void AnswerAsked(std::vector<std::function<void(const Status&)>>& asked, const Status& status);
  void NoteHold(int64_t took_ns) { checkpoint_longest_ns_ = std::max(checkpoint_longest_ns_, took_ns); }

  Owner& owner_;
  Env& env_;
  const Clock& clock_;
  Checkpointer& checkpointer_;
  Outputs& outputs_;
  const std::vector<Shard*> shards_;
  ShardExchange* const exchange_;
  const std::vector<Checkpointable*> others_;
  const DriverOptions options_;
  const PhaseTime own_phase_time_;  // from the calendar of the moment when the crawl was opened
  std::vector<Seat> seats_;
  std::unordered_map<const Checkpointable*, uint32_t>
      shard_of_;  // for structures that belong to a shard; never iterated

  std::atomic<bool> over_{false};
  std::optional<Error> error_;
  std::string state_ = "running";
  bool done_ = false;
  bool full_ = false;  // a disk is full, and the crawl is paused because of it
  bool pause_asked_ = false;
  bool all_wait_ = false;
  bool limited_ = false;
  int stop_requests_ = 0;
  int64_t cancel_at_ns_ = kNever;
  int64_t look_at_ns_ = kNever;
  int64_t show_at_ns_ = kNever;

  int64_t checkpoint_at_ns_ = kNever;
  int64_t copy_at_ns_ = kNever;  // when the next part of a checkpoint is copied
  bool checkpoint_due_ = false;
  int64_t wanted_at_ns_ = kNever;  // other processes wait for a checkpoint: when it may begin
  int64_t wanted_after_ns_ = 0;    // not before
  int64_t checkpoint_started_ns_ = 0;
  int64_t checkpoint_stop_ns_ = 0;  // how long Start held up the shards
  int64_t checkpoint_copy_ns_ = 0;  // how long copying held up the shards, all parts together
  uint64_t checkpoints_done_ = 0;
  int64_t checkpoint_longest_ns_ = 0;
  std::vector<std::function<void(const Status&)>> asked_;      // callers that want a checkpoint which has not begun
  std::vector<std::function<void(const Status&)>> answering_;  // callers that want the one that is being written

  int64_t paused_ns_ = 0;  // since when
  std::string outage_;
  int64_t outage_ns_ = 0;  // since when
  bool shortage_told_ = false;
  bool phase_clock_good_ = true;  // what was told of it
  int64_t phase_clock_ns_ = 0;    // since when it is not
  uint64_t troubles_told_ = 0;
};

// While this object lives, one shard or all of them have no turn.
class Driver::Held {
 public:
  Held(Driver& driver, uint32_t first, uint32_t end) : owner_(driver.owner_), first_(first), end_(end) {
    for (uint32_t shard = first_; shard < end_; ++shard) owner_.Hold(shard);
  }
  Held(Driver& driver, uint32_t shard) : Held(driver, shard, shard + 1) {}
  explicit Held(Driver& driver) : Held(driver, 0, static_cast<uint32_t>(driver.shards_.size())) {}
  ~Held() {
    for (uint32_t shard = end_; shard > first_; --shard) owner_.Release(shard - 1);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Owner& owner_;
  const uint32_t first_;
  const uint32_t end_;
};

}  // namespace portolan
