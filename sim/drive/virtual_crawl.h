// VirtualCrawl: the real shards under the real driver, crawling the simulated web in virtual time, in one thread,
// judged while they run.
//
// Only the crawler's own code decides what is fetched and when. The web, its DNS and the clock are simulated, merges
// run at once or take a stated time, and files are in the given Env. The same options give the same crawl, event by
// event: OrderHash() is a hash over every request in order.
//
// With Options::archive_dir and so on it also writes the outputs as the engine does, one small record per page. So a
// test can cut the power anywhere and check what a resumed crawl does with all of it together.
//
// Thread: one. Memory: the shard's, and the judge's (six bytes per page of the world).

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/driver.h"
#include "crawl/exchange.h"
#include "crawl/hash_key_store.h"
#include "crawl/shard.h"
#include "crawl/shard_routes.h"
#include "disk/checkpointer.h"
#include "disk/manifest.h"
#include "disk/sync_later.h"
#include "io/env.h"
#include "io/executor.h"
#include "outputs/outputs.h"
#include "sim/drive/machine_clock.h"
#include "sim/oracle/judge.h"
#include "sim/virtual/virtual_time.h"
#include "sim/virtual/virtual_web.h"
#include "sim/world/hit_log.h"
#include "sim/world/world.h"
#include "warc/writer.h"

namespace portolan::sim {

class VirtualCrawl : private FetchEvents, private OutputPort, private HitSink, private Driver::Owner {
 public:
  struct Options {
    std::string state_dir = "state";
    // For each shard. The key is used for a new crawl; a resumed one has its own.
    ShardOptions shard;
    uint32_t shards = 1;
    // If set, only this one of those shards is here, and `make_exchange` gives its exchange, which may call these until
    // it is destroyed.
    std::optional<uint32_t> alone = {};
    const MachineClock* clock = nullptr;  // of the machine; null: virtual time itself. It outlives the crawl
    struct Wakes {
      std::function<void()> shard;
      std::function<void()> driver;
    };
    std::function<Result<std::unique_ptr<ShardExchange>>(Env& env, const Manifest& manifest, const Wakes& wakes)>
        make_exchange = {};
    uint64_t exchange_bytes = uint64_t{1} << 20;
    VirtualWeb::Options web;
    Judge::Options judge;
    int64_t begin_unix_ns = 1'780'000'000'000'000'000;  // 2026-05-28
    // Virtual time between checkpoints; 0: none.
    int64_t checkpoint_ns = 0;
    uint64_t reserve_bytes = 0;             // free bytes below which the crawl pauses
    int64_t stop_grace_ns = 3'000'000'000;  // after RequestStop; then what is in flight is cancelled
    // Sees every request, as the judge does.
    std::function<void(const Hit& hit)> on_hit;
    // Sees every message (crawl/crossing.h) that one shard sends to another.
    std::function<void(uint32_t from, uint32_t to, std::string_view message)> on_message;
    // Delay of the part of a checkpoint that the shard does not do itself, in two parts; 0: at once.
    int64_t checkpoint_step_ns = 0;
    // How long a merge takes; 0: it is done at once.
    int64_t merge_ns = 0;
    std::string archive_dir;                       // empty: no archive is written
    std::string log_dir;                           // likewise
    std::string links_dir;                         // likewise, for the link log
    std::string text_dir;                          // likewise, for the text log
    uint64_t log_file_size = uint64_t{256} << 20;  // of all three
    // Called after each event, with the number of events so far. An error ends the crawl.
    std::function<Status(uint64_t events)> after_event;
  };

  // Continues from the manifest in state_dir. `judge` (a Judge, or a sink that passes the hits to one later) and `time`
  // outlive this, so that a crawl that is cut and resumed is judged as one.
  static Result<std::unique_ptr<VirtualCrawl>> Open(Env& env, const World& world, VirtualTime& time, HitSink& judge,
                                                    const Options& options);
  ~VirtualCrawl() override;

  // Adds the world's seeds, if the crawl is new.
  Status Seed();
  // For an owner with several crawls at one time: Begin, then AfterEvent after each event of VirtualTime, whosever it
  // was.
  Status Begin();
  Status AfterEvent();
  // Runs until the crawl is over, or `max_events` have passed.
  Status Run(uint64_t max_events = ~uint64_t{0});
  void RequestStop() { driver_->RequestStop(); }
  bool over() const { return driver_->over(); }
  Status Checkpoint();  // writes a whole checkpoint now
  // Ends the crawl as the engine does: the archive's files are closed and everything is committed.
  Status Finish();

  Shard& shard(uint32_t index = 0) { return *shards_[index]; }
  Driver& driver() { return *driver_; }
  uint64_t OrderHash() const { return order_hash_; }
  uint64_t events() const { return events_; }
  // The number of events after which results waited for room.
  uint64_t events_waited() const { return events_waited_; }
  const VirtualWeb::Counts& web_counts() const { return web_->counts(); }

 private:
  VirtualCrawl(Env& env, const World& world, VirtualTime& time, HitSink& judge, const Options& options);

  void OnPage(PageResult&& result) override;
  void OnResolved(Resolution&& resolution) override;
  void Write(PageResult& result, FetchLine&& about) override;
  void OnHit(const Hit& hit) override;
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) override;
  void OnClose(int64_t unix_ns, uint64_t connection) override;
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override;
  uint32_t SeatOf(uint32_t shard) const { return options_.alone ? 0 : shard; }
  Moment Now() const { return {clock_.NowNs(), clock_.UnixNs()}; }
  void WakeShard(uint32_t shard) override { WakeAt(shard, clock_.NowNs()); }
  void WakeDriver() override { tick_wanted_ = true; }
  void CancelFetches() override { web_->CancelFetches(); }
  void RunBackground() override;  // runs all jobs, and copies the rest of a checkpoint
  void WakeAt(uint32_t shard, int64_t machine_ns);
  void Turn(uint32_t shard);
  void TickIfDue();
  void SetBackground();
  ArchiveItem ItemOf(const FetchLine& about, const std::array<char, 20>& sha1);
  void AddRecords(PageResult& result, const FetchLine& about) const;

  // Merges that take time.
  class Merges : public DeferredExecutor {
   public:
    explicit Merges(VirtualCrawl& crawl) : crawl_(crawl) {}
    void Submit(Job job) override;

   private:
    VirtualCrawl& crawl_;
  };
  // Runs one job whenever the driver's clock says so.
  class Background : public DeferredExecutor {
   public:
    explicit Background(VirtualCrawl& crawl) : crawl_(crawl) {}
    void Submit(Job job) override {
      DeferredExecutor::Submit(std::move(job));
      crawl_.SetBackground();
    }

   private:
    VirtualCrawl& crawl_;
  };

  const World& world_;
  VirtualTime& time_;
  HitSink& judge_;
  const Options options_;
  const MachineClock own_clock_;
  const MachineClock& clock_;
  SyncLater env_;
  WarcWriter writer_ = WarcWriter::Create({}).value();
  WarcWriter plain_writer_ = WarcWriter::Create({.gzip = false}).value();
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<HashKeyStore> key_;
  Merges merges_{*this};
  std::unique_ptr<Outputs> outputs_;
  std::unique_ptr<VirtualWeb> web_;
  std::unique_ptr<ShardRoutes> routes_;
  std::unique_ptr<ShardExchange> exchange_;
  std::vector<std::unique_ptr<ExchangePort>> ports_;  // by shard, if there is an exchange
  std::vector<std::unique_ptr<Shard>> shards_;
  // Pending events of a crawl that was cut must not reach it.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::vector<int64_t> wake_ns_;  // by shard: when its next turn is scheduled; in the past: none is
  int64_t tick_ns_ = -1;          // likewise for the driver
  bool tick_wanted_ = false;
  uint64_t idle_ticks_ = 0;  // of the driver, since anything else happened
  uint64_t events_ = 0;
  uint64_t events_waited_ = 0;
  uint64_t order_hash_ = 0;
  bool begun_ = false;
  Background background_{*this};
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Driver> driver_;
};

}  // namespace portolan::sim
