#include "crawl/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <system_error>

#include "base/log.h"
#include "crawl/picture.h"
#include "crawl/recovery.h"
#include "crawl/seed_list.h"
#include "crawl/shard_share.h"
#include "io/process.h"
#include "parse/pdf_handler.h"

namespace portolan {
namespace {

constexpr int64_t kTimedOneIn = 8;               // one page in so many: reading a thread's CPU clock is a system call
constexpr size_t kManyInFlight = 64;             // with so many fetches, answers wake the shard often enough
constexpr int64_t kSoonNs = 10'000'000;          // then a timer may be late by this much
constexpr int kLockAttempts = 100;               // a directory that is removed so often is left alone
constexpr int64_t kCancelRetryNs = 200'000'000;  // if there was no thread for it

// The memory of a page on its way, without its records.
uint64_t WeightOf(const PageResult& result) {
  return sizeof(PageResult) + result.links.text.capacity() + result.links.links.capacity() * sizeof(FoundLink) +
         (result.robots ? result.robots->rules.capacity() : 0) +
         (result.visit ? sizeof(Visit) + result.visit->hints.capacity() * sizeof(LinkHint) : 0);
}

// Makes the page's lease from its answer's: what is freed is given back, and what is new is added.
void HandOver(ByteLease&& lease, PageResult& result) {
  const uint64_t archived = result.archive.bytes.capacity() + result.archive.revisit.capacity();
  uint64_t records = archived;
  for (const OutputItem& item : result.outputs) records += item.records.capacity();
  result.lease = std::move(lease);
  result.lease.Resize(WeightOf(result) + records);
  result.archive.lease = result.lease.Split(archived);
  for (OutputItem& item : result.outputs) item.lease = result.lease.Split(item.records.capacity());
}

// Adds the listed seeds, to whose servers secrets may be sent. Each server is stored by name.
Status AddListedSeeds(Env& env, const Manifest& manifest, std::vector<std::string>& seeds) {
  RETURN_IF_ERROR(ForEachListedSeed(env, manifest, [&seeds](std::string_view url) {
    seeds.emplace_back(url);
    return seeds.size() <= kSeedsWithSecrets;
  }));
  if (seeds.size() <= kSeedsWithSecrets) return {};
  return portolan::Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("fetch.headers, fetch.cookies and fetch.login are sent only to the seeds' servers, and "
                  "with them at most {} seeds are allowed: use fewer seeds, or none of these settings",
                  kSeedsWithSecrets));
}

}  // namespace

Result<std::unique_ptr<FileLock>> LockState(Env& env, const std::string& state_dir) {
  const std::string path = JoinPath(state_dir, kStateLock);
  for (int attempt = 0;; ++attempt) {
    RETURN_IF_ERROR(env.CreateDirs(state_dir));
    auto lock = env.Lock(path);
    if (lock) return lock;
    if (lock.error().code() == ErrorCode::kBusy) {
      return portolan::Fail(ErrorCode::kBusy, state_dir + ": another portolan works on this crawl");
    }
    // A crawl that could not begin removes its directory again, possibly at this moment.
    if (lock.error().code() != ErrorCode::kNotFound || attempt == kLockAttempts) return lock;
  }
}

Result<std::unique_ptr<Engine>> Engine::Open(Env& env, const EngineOptions& options) {
  std::unique_ptr<Engine> engine(new Engine(env, options));
  ASSIGN_OR_RETURN(engine->loop_, EventLoop::Create());
  if (!options.locked) {
    ASSIGN_OR_RETURN(engine->lock_, LockState(env, options.state_dir));
  }
  // Recovery removes files that it does not know in the state's directory, so outputs must not be there.
  ASSIGN_OR_RETURN(const std::string state, env.Identity(options.state_dir));
  for (const std::string& dir : options.outputs.Directories()) {
    RETURN_IF_ERROR(env.CreateDirs(dir));
    ASSIGN_OR_RETURN(const std::string identity, env.Identity(dir));
    if (identity != state) continue;
    return portolan::Fail(ErrorCode::kInvalidArgument,
                          dir + ": holds the crawl's state and can hold nothing else: choose another directory");
  }
  RETURN_IF_ERROR(CheckBeforeRecovery(env, options));
  const std::string_view keep[] = {kStateLock};
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.state_dir, keep));
  engine->manifest_ = std::make_unique<Manifest>(std::move(manifest));
  // Needed by everything that hashes.
  ASSIGN_OR_RETURN(const HashKey fresh, options.key ? Result<HashKey>(*options.key) : HashKeyStore::Make());
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::ReadOr(*engine->manifest_, fresh));
  engine->key_ = std::make_unique<HashKeyStore>(key);

  Engine* const raw = engine.get();
  OutputsOptions outputs = options.outputs;
  outputs.on_error = [raw](const Error& error) {
    raw->loop_->Post([raw, error] {
      raw->driver_->OnDiskError(error);
      raw->Tick();
    });
  };
  outputs.on_room = [raw] { raw->WakeShards(); };
  ASSIGN_OR_RETURN(engine->outputs_, Outputs::Open(env, engine->clock_, *engine->manifest_, outputs));
  RETURN_IF_ERROR(engine->CheckPlace());
  ASSIGN_OR_RETURN(const uint32_t had, Shard::CountIn(*engine->manifest_));
  const uint32_t shards = had > 0 ? had : options.shards;
  engine->merges_ = std::make_unique<WorkerPool>(shards, "merge");
  engine->seen_merges_ = std::make_unique<WorkerPool>(shards, "merge-seen");
  engine->checkpoints_ = std::make_unique<WorkerPool>(1, "checkpoint");
  engine->checkpointer_ =
      std::make_unique<Checkpointer>(*engine->manifest_, &engine->later_env_, *engine->checkpoints_);
  ShardOptions shard = options.shard;
  shard.max_links = options.page.max_links;
  shard.key = key;
  for (size_t i = 0; i < std::max<size_t>(1, options.fetch.loops); ++i) {
    PageMakerOptions page = options.page;
    page.link.key = key;
    if (page.seed) *page.seed += i;
    ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create(page));
    engine->makers_.push_back(std::move(maker));
  }
  if (options.pdf.enabled) {
    PageMakerOptions page = options.page;
    page.link.key = key;
    if (page.seed) *page.seed += engine->makers_.size();
    page.pdf = options.pdf;
    page.pdf.stop = engine->documents_stop_;
    ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create(page));
    engine->document_maker_ = std::make_unique<PageMaker>(std::move(maker));
    engine->documents_ = std::make_unique<WorkerPool>(1, "documents");
  }
  FetchOptions fetch = options.fetch;
  fetch.dns.key = key;
  fetch.budget = &engine->answers_;
  ASSIGN_OR_RETURN(const ManifestSection* list, engine->manifest_->Find(kSeedList, DiskQueue::kKind));
  if (list != nullptr) {
    ASSIGN_OR_RETURN(engine->seed_list_, DiskQueue::Open(engine->later_env_, *engine->manifest_, {.name = kSeedList}));
  }
  if (options.seed_list) {
    ASSIGN_OR_RETURN(SeedNames names,
                     ReadSeedNames(env, *engine->manifest_, shard.scope.mode, key, options.max_seed_names));
    shard.scope.listed = std::make_shared<const SeedNames>(std::move(names));
    if (fetch.for_seeds.wanted()) RETURN_IF_ERROR(AddListedSeeds(env, *engine->manifest_, fetch.for_seeds.seeds));
  }
  ASSIGN_OR_RETURN(engine->fetch_, FetchLoops::Create(fetch, *engine));
  engine->routes_ = std::make_unique<ShardRoutes>(*engine->fetch_, shards);
  RETURN_IF_ERROR(engine->OpenShards(shard, shards));
  return engine;
}

// A directory with one shard of several stays that, and with the same number.
Status Engine::CheckPlace() const {
  ASSIGN_OR_RETURN(const std::optional<Shard::Place> place, Shard::AloneIn(*manifest_));
  ASSIGN_OR_RETURN(const uint32_t had, Shard::CountIn(*manifest_));
  const std::optional<Shard::Place> wanted = options_.alone ? std::optional(options_.alone->place) : std::nullopt;
  if (had == 0 || place == wanted) return {};
  const auto words = [](const std::optional<Shard::Place>& which) {
    return which ? fmt::format("shard {} of a crawl with {}", which->shard, which->shards) : "a whole crawl";
  };
  return portolan::Fail(ErrorCode::kInvalidArgument,
                        fmt::format("{}: holds {}, not {}", options_.state_dir, words(place), words(wanted)));
}

Status Engine::MakeExchange(uint32_t shards) {
  if (options_.alone) {
    if (options_.alone->place.shards == 1) return {};
    const AloneOptions::Parts parts{.env = later_env_,
                                    .manifest = *manifest_,
                                    .wake_shard = [this] { WakeShard(0); },
                                    .wake_driver = [this] { WakeDriver(); }};
    ASSIGN_OR_RETURN(exchange_, options_.alone->make_exchange(parts));
    return {};
  }
  if (shards == 1) return {};
  exchange_ = std::make_shared<MemoryExchange>(MemoryExchange::Options{
      .shards = shards, .bytes = options_.exchange_bytes, .wake = [this](uint32_t to) { WakeShard(to); }});
  return {};
}

Status Engine::OpenShards(const ShardOptions& whole, uint32_t shards) {
  // All of them before any shard is opened: an interrupted round begins again when its shard opens, and wakes it.
  for (uint32_t i = 0; i < shards; ++i) {
    seats_.push_back(std::make_unique<Seat>());
    ASSIGN_OR_RETURN(seats_.back()->loop, EventLoop::Create());
    MakeThread(i);
  }
  RETURN_IF_ERROR(MakeExchange(shards));
  Driver::Parts parts{.env = env_,
                      .clock = clock_,
                      .checkpointer = *checkpointer_,
                      .outputs = *outputs_,
                      .shards = {},
                      .exchange = exchange_.get(),
                      .others = {key_.get()}};
  if (seed_list_) parts.others.push_back(seed_list_.get());
  ShardOptions all = whole;
  if (options_.alone) {
    all.alone = true;
    all.shard = options_.alone->place.shard;
    all.shards = options_.alone->place.shards;
    if (options_.alone->may_act) {
      fence_ = std::make_unique<FencedPort>(routes_->port(0), options_.alone->may_act, [this] {
        Abandon(Error(ErrorCode::kClosed, "the shard does not belong to this process any more"));
      });
    }
  }
  all.limits = std::make_shared<Limits>(Limits::Options{all.max_pages, all.max_bytes, all.max_time_ns});
  for (uint32_t i = 0; i < shards; ++i) {
    ShardOptions shard = ShareOf(all, i, shards);
    shard.seen.on_round_done = shard.gate.on_round_done = shard.content.on_round_done =
        shard.admission.star.on_round_done = [this, i] { WakeShard(i); };
    FetchPort& port = fence_ ? static_cast<FetchPort&>(*fence_) : routes_->port(i);
    const ShardPorts ports{port, *this, exchange_ ? &exchange_->port(shard.shard) : nullptr, &seats_[i]->times};
    ASSIGN_OR_RETURN(seats_[i]->shard,
                     Shard::Open(later_env_, *manifest_, MergeLanes(*seen_merges_, *merges_), ports, shard, Now()));
    parts.shards.push_back(seats_[i]->shard.get());
  }
  DriverOptions driver{.directories = options_.outputs.Directories(),
                       .reserve_bytes = options_.reserve_bytes,
                       .retry_ns = options_.retry_ns,
                       .checkpoint_ns = options_.checkpoint_ns,
                       .stop_grace_ns = options_.stop_grace_ns,
                       .tell_troubles = options_.shard.give_up_quickly};
  driver.directories.push_back(options_.state_dir);
  Driver::Owner& owner = *this;
  driver_ = std::make_unique<Driver>(owner, parts, driver);
  return {};
}

Engine::~Engine() {
  control_.reset();
  watch_thread_.reset();
  StopThreads();
  for (const auto& seat : seats_) {
    seat->pages.Close();
    seat->names.Close();
  }
  if (cancelling_.joinable()) cancelling_.join();
  if (fetch_) fetch_->Stop();
  *documents_stop_ = true;
  documents_.reset();
  checkpointer_.reset();                                // waits for what is being written
  for (const auto& seat : seats_) seat->shard.reset();  // waits for its rounds
  exchange_.reset();                                    // may have threads, which wake the seats
  merges_.reset();
  seen_merges_.reset();
  outputs_.reset();
}

Status Engine::AddSeeds(const std::vector<std::string>& seeds) {
  for (const std::string& seed : seeds) RETURN_IF_ERROR(seats_[0]->shard->AddSeed(seed, Now()));
  return {};
}

// ---- other threads

void Engine::OnResponse(FetchResponse&& response, size_t loop) {
  if (documents_ && MayBePdf(response)) {
    // Reading it takes another process and up to seconds, and a fetch thread has other connections to serve. What waits
    // here counts as in flight and holds its lease, so it is bounded like everything that is being fetched.
    documents_->Submit([this, waiting = std::move(response)]() mutable {
      const uint32_t shard = ShardOfFetch(waiting.task.id);
      Deliver(std::move(waiting), *document_maker_, /*timed=*/false);
      seats_[shard]->has_pages = false;
      WakeShard(shard);
    });
    return;
  }
  const bool timed = options_.time_parse && response.task.id % kTimedOneIn == 0;
  Deliver(std::move(response), makers_[loop], timed);
}

void Engine::Deliver(FetchResponse&& response, PageMaker& maker, bool timed) {
  const int64_t begin = timed ? ThreadProcessorNs() : 0;
  PageResult result = maker.Make(std::move(response));
  if (timed) parse_ns_ += (ThreadProcessorNs() - begin) * kTimedOneIn;
  response.body = {};  // freed before its lease is given back
  HandOver(std::move(response.lease), result);
  Seat& seat = *seats_[ShardOfFetch(result.id)];
  // There is always room; refused only at the end, when no thread reads it any more.
  seat.pages.TrySend(std::move(result), 0);
  seat.has_pages = true;
}

void Engine::OnAnswersGiven(size_t /*loop*/) {
  for (uint32_t shard = 0; shard < seats_.size(); ++shard) {
    if (seats_[shard]->has_pages.exchange(false)) WakeShard(shard);
  }
}

void Engine::OnResolved(Resolution&& resolution) {
  const uint32_t shard = routes_->TakeAsker(resolution);
  if (seats_[shard]->names.Send(std::move(resolution), 1)) WakeShard(shard);
}

void Engine::RequestStop() {
  loop_->Post([this] {
    driver_->RequestStop();
    Tick();
  });
}

void Engine::RequestPause(bool paused) {
  loop_->Post([this, paused] {
    driver_->RequestPause(paused);
    Tick();
  });
}

void Engine::Abandon(const Error& why) {
  loop_->Post([this, why] {
    driver_->Abandon(why);
    Tick();
  });
}

void Engine::WakeShard(uint32_t shard) {
  Seat& seat = *seats_[shard];
  if (seat.woken.exchange(true)) return;
  seat.loop->Post([this, shard] { Turn(shard); });
}

void Engine::WakeShards() {
  for (uint32_t shard = 0; shard < seats_.size(); ++shard) WakeShard(shard);
}

void Engine::WakeDriver() {
  if (tick_woken_.exchange(true)) return;
  loop_->Post([this] { Tick(); });
}

// ---- a shard's thread

void Engine::Turn(uint32_t shard) {
  Seat& seat = *seats_[shard];
  seat.woken = false;
  if (driver_->over()) return;
  int64_t next_ns = 0;
  size_t in_flight = 0;
  {
    const std::lock_guard lock(seat.turn);
    seat.times.Begin();
    for (const Resolution& resolution : seat.names.TryTake()) driver_->OnResolved(shard, resolution);
    // The outputs bound what they hold by bytes, and wake the shard when they have room again.
    if (driver_->WantsPages(shard)) driver_->AddPages(shard, seat.pages.TryTake());
    driver_->Turn(shard);
    next_ns = driver_->NextTurn(shard);
    in_flight = seat.shard->in_flight();
    seat.times.End();
  }
  SetTurnTimer(shard, next_ns, in_flight);
}

void Engine::SetTurnTimer(uint32_t shard, int64_t at_ns, size_t in_flight) {
  if (driver_->over()) return;
  Seat& seat = *seats_[shard];
  const int64_t now = clock_.NowNs();
  if (at_ns <= now) return WakeShard(shard);
  // With many fetches in flight, answers wake the shard all the time. What is due a moment later is done with them.
  if (in_flight >= kManyInFlight && at_ns < now + kSoonNs) at_ns = now + kSoonNs;
  if (seat.timer_set && seat.timer_at_ns <= at_ns && seat.timer_at_ns > now) return;  // early enough
  if (seat.timer_set) seat.loop->Cancel(seat.timer);
  seat.timer_set = at_ns != Driver::kNever;
  if (!seat.timer_set) return;
  seat.timer_at_ns = at_ns;
  seat.timer = seat.loop->AddTimer(at_ns - now, [this, shard] {
    seats_[shard]->timer_set = false;
    Turn(shard);
  });
}

// ---- the driver's thread

void Engine::MakeThread(uint32_t shard) {
  Seat& seat = *seats_[shard];
  seat.thread = std::thread([this, &seat, shard] {
    NameThread(fmt::format("shard-{}", shard));
    seat.begin.acquire();
    if (threads_run_) seat.loop->Run();
  });
}

void Engine::StartThreads() {
  threads_run_ = true;
  for (const auto& seat : seats_) seat->begin.release();
}

void Engine::StopThreads() {
  const bool ran = threads_run_.exchange(false);
  for (const auto& seat : seats_) {
    if (!seat->thread.joinable()) continue;
    if (ran) {
      seat->loop->Stop();
    } else {
      seat->begin.release();
    }
    seat->thread.join();
  }
}

void Engine::Tick() {
  tick_woken_ = false;
  driver_->Tick();
  if (driver_->over()) return loop_->Stop();
  const int64_t at_ns = driver_->NextTick();
  if (at_ns == tick_at_ns_) return;
  if (tick_at_ns_ != Driver::kNever) loop_->Cancel(tick_timer_);
  tick_at_ns_ = at_ns;
  if (at_ns == Driver::kNever) return;
  tick_timer_ = loop_->AddTimer(std::max<int64_t>(0, at_ns - clock_.NowNs()), [this] {
    tick_at_ns_ = Driver::kNever;
    Tick();
  });
}

void Engine::CancelFetches() {
  if (cancelling_.joinable()) return;
  *documents_stop_ = true;
  try {
    cancelling_ = std::thread([this] { fetch_->Stop(); });
  } catch (const std::system_error&) {  // no thread: fetches go on until there is one, or end by themselves
    loop_->AddTimer(kCancelRetryNs, [this] { CancelFetches(); });
  }
}

// The crawl works without the socket; then other processes see its last checkpoint instead of its current state.
void Engine::Listen() {
  if (options_.control.empty()) return;
  auto server =
      LocalServer::Listen(*loop_, options_.control,
                          [this](LocalServer::ClientId client, const std::string& line) { OnAsked(client, line); });
  if (server) {
    control_ = *std::move(server);
  } else {
    Log(LogLevel::kWarn, "the crawl has no control socket: 'status' and 'why' will show its last checkpoint",
        {{"why", server.error().message()}});
  }
}

void Engine::OnAsked(LocalServer::ClientId client, const std::string& line) {
  if (line != "checkpoint") return control_->Answer(client, "error: unknown question; the only one is checkpoint");
  // At most LocalServer::kMaxClients wait.
  driver_->AskForCheckpoint([this, client](const Status& status) {
    control_->Answer(client, status ? "ok" : "error " + status.error().message());
  });
}

// A look may read long files: the thread of its own posts what it found, and the driver tells the shards.
void Engine::WatchBlockLists() {
  if (options_.block_lists.empty()) return;
  watcher_ = std::make_unique<BlockListWatcher>(env_, options_.block_lists, options_.max_block_names, options_.blocked);
  block_names_ = options_.blocked.list ? options_.blocked.list->size() : 0;
  watch_thread_ = std::make_unique<WorkerPool>(1, "block-lists");
  const auto look = [this] {
    if (watching_.exchange(true)) return;
    watch_thread_->Submit([this] {
      if (std::shared_ptr<const BlockList> list = watcher_->Look()) {
        loop_->Post([this, list = std::move(list)] {
          block_names_ = list->size();
          driver_->SetBlockList(list);
        });
      }
      watching_ = false;
    });
  };
  loop_->AddTimer(options_.look_at_lists_ns, look, options_.look_at_lists_ns);
}

CrawlProgress Engine::Picture() {
  CrawlProgress picture;
  const Moment now = Now();
  TurnTimes turns;
  bool connections_down = false;
  for (uint32_t i = 0; i < seats_.size(); ++i) {
    const std::lock_guard lock(seats_[i]->turn);
    AddShard(*seats_[i]->shard, now, picture);
    connections_down = connections_down || seats_[i]->shard->outage().connections_down();
    turns.Add(seats_[i]->times.times());
  }
  FinishPicture(picture);
  picture.state = driver_->state();
  if (picture.state == "running" && !driver_->outage().empty()) {
    // Without name servers, hosts with a known address are still fetched.
    const bool goes_on = !connections_down && picture.in_flight > 0;
    picture.state = fmt::format("{}: {}", goes_on ? "running" : "paused", driver_->outage());
  }
  picture.shards = static_cast<uint32_t>(seats_.size());
  picture.session_seconds = static_cast<double>(now.now_ns - run_began_ns_) * 1e-9;
  picture.session_start = session_start_;
  picture.rss_bytes = ResidentBytes();
  picture.checkpoints = driver_->checkpoints();
  picture.checkpoint_longest_ms = static_cast<double>(driver_->checkpoint_longest_ns()) * 1e-6;
  AddTurns(turns, picture);
  picture.left_out =
      LeftOutOf(picture.counts, {.max_depth = options_.shard.depth_limited ? options_.shard.max_depth : uint64_t{0},
                                 .max_redirects = options_.shard.max_hops,
                                 .max_url_length = options_.page.link.max_length,
                                 .max_links = options_.page.max_links,
                                 .max_body = options_.fetch.limits.max_body});
  picture.block_names = block_names_;
  if (watcher_) picture.block_list_trouble = watcher_->Trouble();
  picture.max_pages = options_.shard.max_pages;
  picture.goal_pages = options_.pages_are_goal ? options_.shard.max_pages : 0;
  picture.max_bytes = options_.shard.max_bytes;
  picture.max_seconds = static_cast<double>(options_.shard.max_time_ns) * 1e-9;
  return picture;
}

Result<CrawlProgress> Engine::Run(const Show& show) {
  run_began_ns_ = clock_.NowNs();
  session_start_ = driver_->counts();
  RETURN_IF_ERROR(driver_->Begin());
  loop_->AddTimer(options_.show_ns, [&] { show(Picture()); }, options_.show_ns);
  Listen();
  WatchBlockLists();
  StartThreads();
  WakeShards();
  WakeDriver();
  loop_->Run();
  StopThreads();
  watch_thread_.reset();

  RETURN_IF_ERROR(driver_->status());
  if (cancelling_.joinable()) cancelling_.join();
  fetch_->Stop();
  RETURN_IF_ERROR(driver_->End([this] {
    return options_.index_file.empty()
               ? Status()
               : MergeArchiveIndex(env_, options_.outputs.warc.directories, options_.index_file);
  }));
  control_.reset();
  const CrawlProgress end = Picture();
  show(end);
  return end;
}

}  // namespace portolan
