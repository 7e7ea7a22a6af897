// VirtualCrawl: the real shard, crawling the simulated web in virtual time, in one thread, judged as it goes.
//
// Nothing but the shard's own code decides what is fetched and when; the web, its DNS and the clock are simulated,
// merges run at once or take a stated time, and files are whatever Env is given. The same
// options give the same crawl, event by event: OrderHash() is a hash over every request in its order.
//
// With Options::archive_dir and so on it also writes the outputs as the engine does, a small record a page, so that a
// test can cut the power anywhere and see what a resumed crawl makes of all of it together.
//
// Thread: one. Memory: the shard's, and the judge's (six bytes a page of the world).

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "crawl/hash_key_store.h"
#include "crawl/inbox.h"
#include "crawl/shard.h"
#include "disk/checkpointer.h"
#include "disk/manifest.h"
#include "disk/sync_later.h"
#include "io/env.h"
#include "io/executor.h"
#include "outputs/outputs.h"
#include "sim/oracle/judge.h"
#include "sim/virtual/virtual_time.h"
#include "sim/virtual/virtual_web.h"
#include "sim/world/hit_log.h"
#include "sim/world/world.h"
#include "warc/writer.h"

namespace portolan::sim {

class VirtualCrawl : private FetchEvents, private OutputPort, private HitSink {
 public:
  struct Options {
    std::string state_dir = "state";
    ShardOptions shard;  // its key is that of a new crawl; one that goes on has its own
    VirtualWeb::Options web;
    Judge::Options judge;
    int64_t begin_unix_ns = 1'780'000'000'000'000'000;  // 2026-05-28
    // A checkpoint each time so much virtual time has passed; 0: none.
    int64_t checkpoint_ns = 0;
    // Sees every request, as the judge does.
    std::function<void(const Hit& hit)> on_hit;
    // The work of a checkpoint that is not the shard's is done so much later, in two parts; 0: at once.
    int64_t checkpoint_step_ns = 0;
    // A merge is done so much later; 0: at once.
    int64_t merge_ns = 0;
    std::string archive_dir;                       // empty: nothing is kept
    std::string log_dir;                           // likewise
    std::string links_dir;                         // likewise, of the link log
    std::string text_dir;                          // likewise, of the text log
    uint64_t log_file_size = uint64_t{256} << 20;  // of all three
    // Called after each event, with the number of events so far. An error ends the crawl.
    std::function<Status(uint64_t events)> after_event;
  };

  // Goes on where the manifest in state_dir stands. `judge` (a Judge, or who tells one later) and `time` outlive this,
  // so that a crawl that is cut and resumed is judged as one.
  static Result<std::unique_ptr<VirtualCrawl>> Open(Env& env, const World& world, VirtualTime& time, HitSink& judge,
                                                    const Options& options);
  ~VirtualCrawl() override;

  // The world's seeds, when the crawl is new.
  Status Seed();
  // Until the crawl is done or stopped, or `max_events` have passed.
  Status Run(uint64_t max_events = ~uint64_t{0});
  Status Checkpoint();  // all of it now
  // The end, as the engine makes it: the archive's files are closed and everything is committed.
  Status Finish();

  Shard& shard() { return *shard_; }
  uint64_t OrderHash() const { return order_hash_; }
  uint64_t events() const { return events_; }
  // Events after which results waited for room.
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
  Moment Now() const { return {time_.NowNs(), time_.UnixNs()}; }
  void SetWake();
  void SetBackground();
  void RunBackground();    // all of it, and what of a checkpoint is not copied
  Status EndCheckpoint();  // the one that is going on, if any
  std::vector<Checkpointable*> Checkpointables();
  ArchiveItem ItemOf(const FetchLine& about);
  void AddRecords(PageResult& result, const FetchLine& about) const;

  // Hands results over and lets the shard work.
  void Tick();

  // Merges that take time.
  class Merges : public DeferredExecutor {
   public:
    explicit Merges(VirtualCrawl& crawl) : crawl_(crawl) {}
    void Submit(Job job) override;

   private:
    VirtualCrawl& crawl_;
  };
  // Runs one job each time that the driver's clock says so.
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
  SyncLater env_;
  WarcWriter writer_ = WarcWriter::Create({}).value();
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<HashKeyStore> key_;
  Merges merges_{*this};
  std::unique_ptr<Outputs> outputs_;
  std::unique_ptr<VirtualWeb> web_;
  std::unique_ptr<Shard> shard_;
  Inbox inbox_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // events of a crawl that was cut must not reach it
  Status status_;
  int64_t wake_ns_ = -1;
  int64_t next_checkpoint_ns_ = 0;
  uint64_t events_ = 0;
  uint64_t events_waited_ = 0;
  uint64_t order_hash_ = 0;
  bool begun_ = false;
  Background background_{*this};
  std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace portolan::sim
