// Engine: the driver and the crawl's shards with real threads around them.
//
//   this thread        the driver: checkpoints, pauses, questions, the end (driver.h)
//   n shard threads    each with one shard, on an event loop
//   k fetch threads    each parses what it fetched and makes its WARC records (PageMaker)
//   1 resolver thread  c-ares
//   2n merge threads   DRUM rounds: those of URLseen, which may be long, and all others
//   1 checkpoint thread  syncs of the state's files, the manifest
//   writing threads    one per archive directory, one per log
//   1 thread           that reads block lists again when they change, if there are any
//
// The threads exchange only messages: fetch tasks, PageResult, Resolution, records to write, and what shards send to
// each other (exchange.h). Only the driver reads a shard from outside, between two of its turns, while it holds the
// shard's TurnLock. The memory of an answer is paid for at its socket out of one budget (options.answer_bytes) and
// given back when the last part of it is written or dropped. So when a shard or a disk falls behind, sockets are not
// read (fetch/receive_room.h).
//
// Run blocks until the crawl is done, a limit is reached or a stop is requested. Then everything is flushed and the
// manifest committed. A second request to stop cancels what is in flight. The driver handles a full disk.
//
// A process that sends the line "checkpoint" to options.control (a Unix-domain socket, local_socket.h) is answered "ok"
// when a checkpoint that began after the question is committed: then the files show the current state. If that is not
// possible the answer is "error …". Besides, the crawl log is written out once per second.
//
// Thread: Open, Run and the destructor on one thread; RequestStop from any.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "crawl/block_list_watcher.h"
#include "crawl/driver.h"
#include "crawl/exchange.h"
#include "crawl/fenced_port.h"
#include "crawl/hash_key_store.h"
#include "crawl/progress.h"
#include "crawl/shard.h"
#include "crawl/shard_routes.h"
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
#include "io/turn_lock.h"
#include "outputs/outputs.h"
#include "parse/page_maker.h"

namespace portolan {

// A file in the state directory, empty, locked by the process that works on the crawl.
inline constexpr std::string_view kStateLock = "lock";
// Creates the directory if it is missing. kBusy: another portolan process works on the crawl.
Result<std::unique_ptr<FileLock>> LockState(Env& env, const std::string& state_dir);

// For an engine whose only shard is one of several: the others are in other processes.
struct AloneOptions {
  Shard::Place place;
  // What the exchange needs of the engine.
  struct Parts {
    Env& env;  // of the state's structures
    const Manifest& manifest;
    // From any thread, until the exchange is destroyed:
    std::function<void()> wake_shard;   // it has something to take, or may send again
    std::function<void()> wake_driver;  // the exchange has news for the driver
  };
  std::function<Result<std::shared_ptr<ShardExchange>>(const Parts&)> make_exchange;
  // Whether the shard still belongs to this process. Asked before each fetch, on the shard's thread. If not, the engine
  // ends as after a crash: with kClosed, and without a checkpoint.
  std::function<bool()> may_act;
};

struct EngineOptions {
  std::string state_dir;
  // For a new crawl; if absent, a random one is made. A resumed crawl has its own, from the manifest.
  std::optional<HashKey> key;
  bool seed_list = false;  // shard.scope does not have all seeds: their list is in the state (seed_list.h)
  uint64_t max_seed_names = uint64_t{1} << 40;  // the most names of that list that the scope may hold
  bool locked = false;  // the caller holds the state's lock, and keeps it longer than the engine lives
  uint32_t shards = 1;  // of a new crawl; a resumed one keeps its number
  std::optional<AloneOptions> alone = {};
  ShardOptions shard;                           // of the whole crawl: divided among its shards (shard_share.h)
  uint64_t exchange_bytes = uint64_t{1} << 20;  // of links on their way to one shard
  FetchOptions fetch;
  PageMakerOptions page;
  PdfOptions pdf = {};     // of the maker that reads documents; page.pdf stays off
  std::string control;     // path of the socket; empty: none
  std::string index_file;  // the merged index of the archive, written when the crawl is done
  OutputsOptions outputs;
  int64_t checkpoint_ns = 30'000'000'000;
  int64_t show_ns = 200'000'000;
  uint64_t answer_bytes = uint64_t{256} << 20;  // that all answers together may hold, from the socket to the disk
  bool pages_are_goal = false;                  // the user set shard.max_pages; it is not just the default
  bool time_parse = false;                      // measure the CPU time of PageMaker, on a sample of the pages
  std::vector<std::string> block_lists;         // files, read again when they change; shard.scope has what is in them
  LoadedBlockList blocked;                      // what was read from them
  uint64_t max_block_names = 0;                 // the most names that they may have
  int64_t look_at_lists_ns = 1'000'000'000;     // how often it is checked whether they have changed
  uint64_t reserve_bytes = 0;                   // free bytes below which the crawl pauses
  int64_t retry_ns = 2'000'000'000;             // between two checks of a disk that is full
  int64_t stop_grace_ns = 3'000'000'000;        // after RequestStop; then what is in flight is cancelled
};

class Engine : private FetchHandler, private OutputPort, private Driver::Owner {
 public:
  using Show = std::function<void(const CrawlProgress&)>;

  // Opens the state that the manifest in state_dir describes, or a new one. If it fails because of what is in the
  // files, they are unchanged (recovery.h).
  static Result<std::unique_ptr<Engine>> Open(Env& env, const EngineOptions& options);
  ~Engine() override;

  // Canonical URLs; known ones are ignored. For tests and benchmarks: normally seeds are written to the state before it
  // is opened (SeedWriter). REQUIRES: before Run.
  Status AddSeeds(const std::vector<std::string>& seeds);

  // `show` is called on this thread, repeatedly and once at the end.
  Result<CrawlProgress> Run(const Show& show);

  void RequestStop();
  // While paused nothing new is fetched. Thread: any.
  void RequestPause(bool paused);
  // Ends the crawl with this error, as after a crash: what came after the last checkpoint is lost. Thread: any.
  void Abandon(const Error& why);

  // CPU time of the fetch threads that PageMaker has used so far, estimated; 0 without options.time_parse. Thread: any.
  int64_t parse_ns() const { return parse_ns_; }
  // REQUIRES: Run is not running.
  const Shard& shard(uint32_t index = 0) const { return *seats_[index]->shard; }
  // "max_pages" …; empty if no limit ended the crawl.
  std::string_view limit_reached() const { return shard().limit_reached(); }

 private:
  // A shard with its thread and its mailboxes.
  struct Seat {
    std::unique_ptr<EventLoop> loop;
    std::unique_ptr<Shard> shard;
    Mailbox<PageResult> pages{UINT64_MAX};  // bounded by the answers' budget
    Mailbox<Resolution> names{1 << 20};
    std::atomic<bool> has_pages{false};
    std::atomic<bool> woken{false};
    TurnLock turn;                   // its holder may look at the shard
    TurnClock times{Clock::Real()};  // of the turns in this run; guarded by turn
    // Used by the shard's thread only:
    EventLoop::Id timer{};
    int64_t timer_at_ns = 0;
    bool timer_set = false;
    // Created when the engine is opened, so that a lack of threads is found early. It waits until Run.
    std::thread thread;
    std::binary_semaphore begin{0};
  };

  Engine(Env& env, const EngineOptions& options)
      : env_(env), later_env_(env), options_(options), answers_(options.answer_bytes) {}
  Status CheckPlace() const;
  Status OpenShards(const ShardOptions& whole, uint32_t shards);
  Status MakeExchange(uint32_t shards);

  void OnResponse(FetchResponse&& response, size_t loop) override;
  void OnAnswersGiven(size_t loop) override;
  void Deliver(FetchResponse&& response, PageMaker& maker, bool timed);  // to its shard, as a page
  void OnResolved(Resolution&& resolution) override;
  void Write(PageResult& result, FetchLine&& about) override { outputs_->Write(result, std::move(about)); }

  // Driver::Owner:
  void WakeShard(uint32_t shard) override;
  void WakeDriver() override;
  void CancelFetches() override;
  void Hold(uint32_t shard) override { seats_[shard]->turn.lock(); }
  void Release(uint32_t shard) override { seats_[shard]->turn.unlock(); }
  void WakeShards();

  Moment Now() const { return {clock_.NowNs(), clock_.UnixNs()}; }
  void Turn(uint32_t shard);  // on the shard's thread
  void SetTurnTimer(uint32_t shard, int64_t at_ns, size_t in_flight);
  void MakeThread(uint32_t shard);
  void StartThreads();
  void StopThreads();
  void Tick();  // this and everything below: on the driver's thread
  void Listen();
  void OnAsked(LocalServer::ClientId client, const std::string& line);
  void WatchBlockLists();
  CrawlProgress Picture();

  Env& env_;
  SyncLater later_env_;  // for the shards' structures
  const EngineOptions options_;
  ByteBudget answers_;  // declared before everything that holds leases of it
  const Clock& clock_ = Clock::Real();
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<HashKeyStore> key_;
  std::unique_ptr<DiskQueue> seed_list_;  // null: there is none
  std::unique_ptr<Outputs> outputs_;
  std::shared_ptr<ShardExchange> exchange_;  // null: there is one shard
  std::vector<std::unique_ptr<Seat>> seats_;
  std::atomic<bool> threads_run_{false};
  std::vector<PageMaker> makers_;  // one per fetch loop
  // PDF documents are read on one thread of their own, if at all.
  std::shared_ptr<std::atomic<bool>> documents_stop_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<PageMaker> document_maker_;
  std::unique_ptr<WorkerPool> documents_;
  std::atomic<int64_t> parse_ns_{0};
  std::unique_ptr<FetchLoops> fetch_;
  std::unique_ptr<ShardRoutes> routes_;
  std::unique_ptr<FencedPort> fence_;  // null: no shard is alone
  std::thread cancelling_;  // runs FetchLoops::Stop, which waits for loops that may wait for a shard's mailbox
  // Last, so that they are destroyed first: their jobs use the shards' structures.
  std::unique_ptr<WorkerPool> merges_;
  std::unique_ptr<WorkerPool> seen_merges_;
  std::unique_ptr<WorkerPool> checkpoints_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<LocalServer> control_;
  std::unique_ptr<BlockListWatcher> watcher_;  // null: there are no block lists
  std::atomic<bool> watching_{false};          // a look is running
  std::unique_ptr<WorkerPool> watch_thread_;   // uses watcher_ and loop_

  std::atomic<bool> tick_woken_{false};
  EventLoop::Id tick_timer_{};
  int64_t tick_at_ns_ = Driver::kNever;  // kNever: no timer is set
  int64_t run_began_ns_ = 0;
  uint64_t block_names_ = 0;
  CrawlCounts session_start_;
};

}  // namespace portolan
