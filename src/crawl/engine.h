// Engine: the shard with real threads around it.
//
//   this thread        the shard, on an event loop
//   k fetch threads    each parses what it fetched and makes its WARC records (PageMaker)
//   1 resolver thread  c-ares
//   2 merge threads    DRUM rounds: those of URLseen, which may be long, and all others
//   1 checkpoint thread  syncs of the state's files, the manifest
//   writing threads    one per archive directory, one per log
//
// Everything between them is a message: tasks out, PageResult and Resolution in, what is to be written out. What an
// answer holds is paid for at its socket out of one budget (options.answer_bytes) and given back when the last of it is
// written or dropped: when the shard or a disk falls behind, sockets are not read (fetch/receive_room.h).
//
// Run blocks until the crawl is done, a limit is reached or somebody asks to stop; then everything is flushed and the
// manifest committed. A second request to stop cancels what is in flight.
//
// A full disk pauses the crawl before it can do harm: as long as a directory has less than options.reserve_bytes free,
// nothing new is fetched, checkpoints and the outputs' threads try again every retry_ns, and everything goes on when
// there is room. Where a structure of the shard met the end of the disk before that, or the crawl came to its end while
// an output waited for room, Run ends with kNoSpace, and the owner may open another Engine on the last
// checkpoint and wait there. Any other error of a disk ends Run with it.
//
// Who asks at options.control (a Unix-domain socket, local_socket.h) with the line "checkpoint" is answered "ok" when a
// checkpoint stands that was begun after the question: then the state on disk is that of now. "error …" where that
// cannot be. The crawl log is written out once a second besides.
//
// Without a network the shard pauses by itself (outage.h); here it is only said.
//
// Thread: Open, Run and the destructor on one thread; RequestStop from any.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "crawl/hash_key_store.h"
#include "crawl/inbox.h"
#include "crawl/progress.h"
#include "crawl/shard.h"
#include "crawl/turn_times.h"
#include "disk/checkpointer.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "disk/sync_later.h"
#include "fetch/fetch_loops.h"
#include "io/byte_budget.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/event_loop.h"
#include "io/executor.h"
#include "io/local_socket.h"
#include "io/mailbox.h"
#include "outputs/outputs.h"
#include "parse/page_maker.h"

namespace portolan {

// In the state's folder: locked by whoever works on the crawl, and empty.
inline constexpr std::string_view kStateLock = "lock";
// Makes the folder where there is none. kBusy: another portolan works on the crawl.
Result<std::unique_ptr<FileLock>> LockState(Env& env, const std::string& state_dir);

struct EngineOptions {
  std::string state_dir;
  // Of a new crawl; none: one of the system's random source. One that goes on has its own, from the manifest.
  std::optional<HashKey> key;
  bool seed_list = false;  // the seeds are not all in shard.scope: the state has their list (seed_list.h)
  uint64_t max_seed_names = uint64_t{1} << 40;  // of that list, for the scope
  bool locked = false;  // the owner has the state's lock, and keeps it longer than the engine lives
  ShardOptions shard;
  FetchOptions fetch;
  PageMakerOptions page;
  std::string control;     // the socket's path; empty: none
  std::string index_file;  // all indexes of the archive merged, when the crawl is done
  OutputsOptions outputs;
  int64_t checkpoint_ns = 30'000'000'000;
  int64_t show_ns = 200'000'000;
  uint64_t answer_bytes = uint64_t{256} << 20;  // that answers may hold together, from the socket to the disk
  bool pages_are_goal = false;                  // shard.max_pages is what somebody asked for, not a default
  bool time_parse = false;                      // CPU time of PageMaker is taken, of a part of the pages
  uint64_t reserve_bytes = 0;                   // free bytes below which the crawl pauses
  int64_t retry_ns = 2'000'000'000;             // between two looks at a disk that is full
  int64_t stop_grace_ns = 3'000'000'000;        // after RequestStop: then what is in flight is cancelled
};

class Engine : private FetchHandler, private OutputPort {
 public:
  using Show = std::function<void(const CrawlProgress&)>;

  // As the manifest in state_dir says, or from nothing. Where it fails for what is in the files, they are as they were
  // (recovery.h).
  static Result<std::unique_ptr<Engine>> Open(Env& env, const EngineOptions& options);
  ~Engine() override;

  // Canonical URLs. Those that are known already change nothing. For tests and benchmarks: a crawl's seeds are in its
  // state before it is opened (SeedWriter).
  Status AddSeeds(const std::vector<std::string>& seeds);

  // `show` is called on this thread, now and then and once at the end.
  Result<CrawlProgress> Run(const Show& show);

  void RequestStop();

  // What PageMaker took of the fetch threads' CPU time so far, about; 0 without options.time_parse. Thread: any.
  int64_t parse_ns() const { return parse_ns_; }
  const Shard& shard() const { return *shard_; }

 private:
  Engine(Env& env, const EngineOptions& options)
      : env_(env),
        later_env_(env),
        options_(options),
        answers_(options.answer_bytes),
        pages_(UINT64_MAX),
        names_(1 << 20) {}

  void OnResponse(FetchResponse&& response, size_t loop) override;
  void OnAnswersGiven(size_t /*loop*/) override { Wake(); }
  void OnResolved(Resolution&& resolution) override;
  void Write(PageResult& result, FetchLine&& about) override { outputs_->Write(result, std::move(about)); }

  Moment Now() const { return {clock_.NowNs(), clock_.UnixNs()}; }
  void Wake();  // from any thread: Turn soon
  void Turn();  // takes the mail, lets the shard work, sets the timer; timed
  void TakeTurn();
  void SetTimer();
  void OnStopRequest();
  void CancelFetches();
  void Fail(const Error& error);
  // An error of an output's thread, or of a checkpoint: a pause or the end.
  void OnDiskError(const Error& error);
  void PauseFull(const std::string& why);
  // Pauses or goes on, by the room that there is.
  void LookForRoom();
  void SetPause() { shard_->Pause(full_); }
  std::vector<Checkpointable*> Checkpointables() const;
  Status Checkpoint();     // blocks
  Status EndCheckpoint();  // the one that is going on, if any; blocks
  void CheckpointIfDue();
  void ContinueCheckpoint();
  void FinishCheckpoint();
  void Listen();
  void OnAsked(LocalServer::ClientId client, const std::string& line);
  void AnswerAsked(std::vector<LocalServer::ClientId>& clients, std::string_view answer);
  void NoteOutage();    // says when one begins and ends
  void NoteTroubles();  // says which hosts do not answer
  CrawlProgress Picture() const;
  void EndIfOver();

  Env& env_;
  SyncLater later_env_;  // of the shard's structures
  const EngineOptions options_;
  ByteBudget answers_;  // before everything that holds leases of it
  const Clock& clock_ = Clock::Real();
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<HashKeyStore> key_;
  std::unique_ptr<DiskQueue> seed_list_;  // null: there is none
  std::unique_ptr<Outputs> outputs_;
  std::unique_ptr<Shard> shard_;
  std::vector<PageMaker> makers_;  // one a fetch loop
  Mailbox<PageResult> pages_;
  Inbox inbox_;  // from there, until the shard has room
  Mailbox<Resolution> names_;
  std::atomic<int64_t> parse_ns_{0};
  std::atomic<bool> woken_{false};
  std::unique_ptr<FetchLoops> fetch_;
  std::thread cancelling_;  // FetchLoops::Stop: it waits for loops that may wait for this thread's mailbox
  // Last: their jobs touch the shard's structures until they are gone.
  std::unique_ptr<WorkerPool> merges_;
  std::unique_ptr<WorkerPool> seen_merges_;

  std::unique_ptr<WorkerPool> checkpoints_;
  std::unique_ptr<Checkpointer> checkpointer_;

  std::unique_ptr<LocalServer> control_;
  std::vector<LocalServer::ClientId> asked_;      // for a checkpoint that has not begun
  std::vector<LocalServer::ClientId> answering_;  // for the one that is being written

  EventLoop::Id timer_{};
  int64_t timer_at_ns_ = 0;
  bool timer_set_ = false;
  bool checkpoint_due_ = false;
  int64_t checkpoint_started_ns_ = 0;
  int64_t checkpoint_stop_ns_ = 0;     // of its Start
  int64_t checkpoint_copy_ns_ = 0;     // of its copying, all parts together
  uint64_t checkpoints_done_ = 0;      // of this run
  int64_t checkpoint_longest_ns_ = 0;  // for which one of them held up the shard
  TurnTimes turns_;                    // of the shard's thread, in this run
  bool over_ = false;
  bool full_ = false;  // a disk is, and the crawl is paused for it
  int stop_requests_ = 0;
  int64_t paused_ns_ = 0;    // since when
  uint64_t shortages_ = 0;   // of the shard's counts, that were looked at
  std::string_view outage_;  // what it was, when last looked at; empty: none
  int64_t outage_ns_ = 0;    // and since when
  uint64_t troubles_told_ = 0;
  int64_t run_began_ns_ = 0;
  CrawlCounts session_start_;
  std::unique_ptr<Error> error_;
  std::string state_name_ = "running";
};

}  // namespace portolan
