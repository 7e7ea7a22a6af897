#include "crawl/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <system_error>

#include "base/log.h"
#include "base/units.h"
#include "crawl/recovery.h"
#include "crawl/seed_list.h"
#include "io/process.h"

namespace portolan {
namespace {

constexpr int64_t kTimedOneIn = 8;               // pages: a look at a thread's CPU clock is a system call
constexpr size_t kManyInFlight = 64;             // fetches whose answers call the shard often enough by themselves
constexpr int64_t kSoonNs = 10'000'000;          // then a timer rings this late at most
constexpr int kLockAttempts = 100;               // a directory that vanishes so often is left to whoever removes it
constexpr int64_t kCancelRetryNs = 200'000'000;  // there was no thread for it
constexpr int64_t kCopyLaterNs = 1'000'000;      // the checkpoint's copies are being written: then the next ones

constexpr int64_t kShowLogNs = 1'000'000'000;
constexpr size_t kShownHosts = 5;       // of CrawlProgress
constexpr size_t kShownUrls = 5;        // likewise
constexpr uint64_t kToldTroubles = 50;  // hosts that do not answer, in the log for people; the crawl log has all

// What a page holds on its way, but its records.
uint64_t WeightOf(const PageResult& result) {
  return sizeof(PageResult) + result.links.text.capacity() + result.links.links.capacity() * sizeof(FoundLink) +
         (result.robots ? result.robots->rules.capacity() : 0);
}

// The page's lease, out of what its answer had: what is gone is given back, and what is new is taken.
void HandOver(ByteLease&& lease, PageResult& result) {
  uint64_t records = result.archive.bytes.capacity();
  for (const OutputItem& item : result.outputs) records += item.records.capacity();
  result.lease = std::move(lease);
  result.lease.Resize(WeightOf(result) + records);
  result.archive.lease = result.lease.Split(result.archive.bytes.capacity());
  for (OutputItem& item : result.outputs) item.lease = result.lease.Split(item.records.capacity());
}

// Secrets go to the servers of these, each kept by its name.
Status AddListedSeeds(Env& env, const Manifest& manifest, std::vector<std::string>& seeds) {
  RETURN_IF_ERROR(ForEachListedSeed(env, manifest, [&seeds](std::string_view url) {
    seeds.emplace_back(url);
    return seeds.size() <= kSeedsWithSecrets;
  }));
  if (seeds.size() <= kSeedsWithSecrets) return {};
  return portolan::Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("fetch.headers, fetch.cookies and fetch.login go to the seeds' servers alone, and more "
                  "than {} seeds are too many for that",
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
    // A crawl that could not begin takes its directory away again, maybe at this very moment.
    if (lock.error().code() != ErrorCode::kNotFound || attempt == kLockAttempts) return lock;
  }
}

Result<std::unique_ptr<Engine>> Engine::Open(Env& env, const EngineOptions& options) {
  std::unique_ptr<Engine> engine(new Engine(env, options));
  ASSIGN_OR_RETURN(engine->loop_, EventLoop::Create());
  if (!options.locked) {
    ASSIGN_OR_RETURN(engine->lock_, LockState(env, options.state_dir));
  }
  // Recovery removes what it does not know in there.
  ASSIGN_OR_RETURN(const std::string state, env.Identity(options.state_dir));
  for (const std::string& dir : options.outputs.Directories()) {
    RETURN_IF_ERROR(env.CreateDirs(dir));
    ASSIGN_OR_RETURN(const std::string identity, env.Identity(dir));
    if (identity != state) continue;
    return portolan::Fail(ErrorCode::kInvalidArgument, dir + ": holds the crawl's state and can hold nothing else");
  }
  RETURN_IF_ERROR(CheckBeforeRecovery(env, options));
  const std::string_view keep[] = {kStateLock};
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.state_dir, keep));
  engine->manifest_ = std::make_unique<Manifest>(std::move(manifest));
  // Before everything that hashes.
  ASSIGN_OR_RETURN(const HashKey fresh, options.key ? Result<HashKey>(*options.key) : HashKeyStore::Make());
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::ReadOr(*engine->manifest_, fresh));
  engine->key_ = std::make_unique<HashKeyStore>(key);

  Engine* const raw = engine.get();
  OutputsOptions outputs = options.outputs;
  outputs.on_error = [raw](const Error& error) { raw->loop_->Post([raw, error] { raw->OnDiskError(error); }); };
  outputs.on_room = [raw] { raw->Wake(); };
  ASSIGN_OR_RETURN(engine->outputs_, Outputs::Open(env, engine->clock_, *engine->manifest_, outputs));
  engine->merges_ = std::make_unique<WorkerPool>(1, "merge");
  engine->seen_merges_ = std::make_unique<WorkerPool>(1, "merge-seen");
  engine->checkpoints_ = std::make_unique<WorkerPool>(1, "checkpoint");
  engine->checkpointer_ =
      std::make_unique<Checkpointer>(*engine->manifest_, &engine->later_env_, *engine->checkpoints_);
  ShardOptions shard = options.shard;
  shard.max_links = options.page.max_links;
  shard.key = key;
  shard.seen.on_round_done = [raw] { raw->Wake(); };
  shard.gate.on_round_done = [raw] { raw->Wake(); };
  shard.admission.star.on_round_done = [raw] { raw->Wake(); };
  for (size_t i = 0; i < std::max<size_t>(1, options.fetch.loops); ++i) {
    PageMakerOptions page = options.page;
    page.link.key = key;
    if (page.seed) *page.seed += i;
    ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create(page));
    engine->makers_.push_back(std::move(maker));
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
  ASSIGN_OR_RETURN(engine->shard_, Shard::Open(engine->later_env_, *engine->manifest_,
                                               MergeLanes(*engine->seen_merges_, *engine->merges_), *engine->fetch_,
                                               *engine, shard, engine->Now()));
  return engine;
}

Engine::~Engine() {
  control_.reset();
  pages_.Close();
  names_.Close();
  if (cancelling_.joinable()) cancelling_.join();
  if (fetch_) fetch_->Stop();
  checkpointer_.reset();  // waits for what is being written
  shard_.reset();         // waits for its rounds
  merges_.reset();
  seen_merges_.reset();
  outputs_.reset();
}

Status Engine::AddSeeds(const std::vector<std::string>& seeds) {
  for (const std::string& seed : seeds) RETURN_IF_ERROR(shard_->AddSeed(seed, Now()));
  return {};
}

// ---- other threads

void Engine::OnResponse(FetchResponse&& response, size_t loop) {
  const bool timed = options_.time_parse && response.task.id % kTimedOneIn == 0;
  const int64_t begin = timed ? ThreadProcessorNs() : 0;
  PageResult result = makers_[loop].Make(std::move(response));
  if (timed) parse_ns_ += (ThreadProcessorNs() - begin) * kTimedOneIn;
  response.body = {};  // before what it held is given back
  HandOver(std::move(response.lease), result);
  pages_.TrySend(std::move(result), 0);  // always room: it is paid for; refused only at the end, when nobody listens
}

void Engine::OnResolved(Resolution&& resolution) {
  if (names_.Send(std::move(resolution), 1)) Wake();
}

void Engine::RequestStop() {
  loop_->Post([this] { OnStopRequest(); });
}

void Engine::Wake() {
  if (woken_.exchange(true)) return;
  loop_->Post([this] { Turn(); });
}

// ---- the shard's thread

void Engine::Turn() {
  woken_ = false;
  if (over_) return;
  const int64_t begin = clock_.NowNs();
  TakeTurn();
  turns_.Add(clock_.NowNs() - begin);
}

void Engine::TakeTurn() {
  std::vector<Resolution> names = names_.TryTake();
  for (const Resolution& resolution : names) {
    if (const Status status = shard_->OnResolved(resolution, Now()); !status) return Fail(status.error());
  }
  // What the outputs hold is bounded by their bytes; they call when there is room again.
  if (inbox_.empty() && outputs_->HasRoom()) inbox_.Add(pages_.TryTake());
  if (const Status status = inbox_.HandOver(*shard_, Now()); !status) return Fail(status.error());
  if (const Status status = shard_->OnTick(Now()); !status) return Fail(status.error());
  NoteOutage();
  NoteTroubles();
  EndIfOver();
  CheckpointIfDue();
  SetTimer();
}

void Engine::SetTimer() {
  if (over_) return;
  int64_t at = shard_->NextWake();
  const int64_t now = clock_.NowNs();
  if (at <= now) return Wake();
  // While many are fetched their answers call all the time, and what is due a moment later goes with them.
  if (shard_->in_flight() >= kManyInFlight && at < now + kSoonNs) at = now + kSoonNs;
  if (timer_set_ && timer_at_ns_ <= at && timer_at_ns_ > now) return;  // it comes early enough
  if (timer_set_) loop_->Cancel(timer_);
  timer_set_ = at != std::numeric_limits<int64_t>::max();
  if (!timer_set_) return;
  timer_at_ns_ = at;
  timer_ = loop_->AddTimer(at - now, [this] {
    timer_set_ = false;
    Turn();
  });
}

void Engine::OnStopRequest() {
  if (over_) return;
  ++stop_requests_;
  if (outputs_->stalled()) {  // there may never be room for what they hold
    return Fail(
        Error(ErrorCode::kNoSpace, state_name_ + "; what came after the last checkpoint will be fetched again"));
  }
  full_ = false;  // what is in flight and a last checkpoint are what the reserve is for
  SetPause();
  state_name_ = "stopping";
  shard_->Stop();
  if (stop_requests_ == 1) {
    loop_->AddTimer(options_.stop_grace_ns, [this] { CancelFetches(); });
  } else {
    CancelFetches();
  }
  Turn();
}

void Engine::CancelFetches() {
  if (over_ || cancelling_.joinable()) return;
  try {
    cancelling_ = std::thread([this] { fetch_->Stop(); });
  } catch (const std::system_error&) {  // no threads left: what is in flight goes on until there are, or ends by itself
    loop_->AddTimer(kCancelRetryNs, [this] { CancelFetches(); });
  }
}

void Engine::Fail(const Error& error) {
  if (!error_) error_ = std::make_unique<Error>(error);
  over_ = true;
  loop_->Stop();
}

void Engine::OnDiskError(const Error& error) {
  if (over_) return;
  if (error.code() != ErrorCode::kNoSpace) return Fail(error);
  PauseFull(error.message());
}

void Engine::PauseFull(const std::string& why) {
  if (full_ || over_) return;
  if (stop_requests_ > 0) {
    return Fail(Error(ErrorCode::kNoSpace, why + "; what came after the last checkpoint will be fetched again"));
  }
  full_ = true;
  paused_ns_ = clock_.NowNs();
  state_name_ = "paused: disk full: " + why;
  Log(LogLevel::kWarn, "the disk is full: paused until there is room", {{"why", why}});
  SetPause();
}

void Engine::LookForRoom() {
  if (over_ || stop_requests_ > 0) return;
  std::vector<std::string> dirs = options_.outputs.Directories();
  dirs.push_back(options_.state_dir);
  for (const std::string& dir : dirs) {
    const auto room = env_.FreeSpace(dir);
    // Half as much again to go on, so that it does not pause again with the next page.
    const uint64_t wanted = options_.reserve_bytes + (full_ ? options_.reserve_bytes / 2 : 0);
    if (!room || *room >= wanted) continue;
    return PauseFull(fmt::format("{} has {} free, {} are wanted", dir, FormatBytes(*room), FormatBytes(wanted)));
  }
  if (!full_) return;
  full_ = false;
  state_name_ = "running";
  Log(LogLevel::kInfo, "there is room again: going on", {{"paused_s", (clock_.NowNs() - paused_ns_) / 1'000'000'000}});
  outputs_->Resume();
  SetPause();
  Turn();
}

void Engine::NoteOutage() {
  if (const uint64_t shortages = shard_->counts().shortages; shortages > shortages_) {
    if (shortages_ == session_start_.shortages) {  // once a run
      Log(LogLevel::kWarn, "no descriptors for more connections: going on with fewer",
          {{"connections", shard_->connections()}});
    }
    shortages_ = shortages;
  }
  const std::string_view what = shard_->outage().what();
  if (what == outage_) return;
  const int64_t now = clock_.NowNs();
  if (outage_.empty()) outage_ns_ = now;
  if (!what.empty()) {
    Log(LogLevel::kWarn, "paused until the network is back", {{"why", what}});
  } else {
    Log(LogLevel::kInfo, "the network is back: going on", {{"paused_s", (now - outage_ns_) / 1'000'000'000}});
  }
  outage_ = what;
}

// On the open web dead hosts are nothing to tell anybody of.
void Engine::NoteTroubles() {
  const LogLevel level = options_.shard.give_up_quickly ? LogLevel::kWarn : LogLevel::kDebug;
  for (const HostTrouble& trouble : shard_->TakeTroubles()) {
    if (troubles_told_ > kToldTroubles) return;
    if (troubles_told_++ == kToldTroubles) {
      Log(level, "more hosts do not answer: the crawl log has them all", {});
    } else if (trouble.given_up) {
      Log(level, "a host is given up", {{"what", trouble.what}, {"why", trouble.why}, {"attempts", trouble.attempt}});
    } else {
      Log(level, "a host does not answer: it is asked again",
          {{"what", trouble.what}, {"why", trouble.why}, {"attempt", trouble.attempt}});
    }
  }
}

void Engine::EndIfOver() {
  if (shard_->state() == Shard::State::kRunning) return;
  over_ = true;
  state_name_ = shard_->state() == Shard::State::kDone ? "done" : "stopped";
  loop_->Stop();
}

void Engine::CheckpointIfDue() {
  if (!checkpoint_due_ || over_ || full_ || checkpointer_->active()) return;
  checkpoint_due_ = false;
  answering_.insert(answering_.end(), asked_.begin(), asked_.end());
  asked_.clear();
  const int64_t begin = clock_.NowNs();
  checkpointer_->Start(Checkpointables(), [this] { loop_->Post([this] { FinishCheckpoint(); }); });
  checkpoint_started_ns_ = clock_.NowNs();
  checkpoint_stop_ns_ = checkpoint_started_ns_ - begin;
  checkpoint_longest_ns_ = std::max(checkpoint_longest_ns_, checkpoint_stop_ns_);
  checkpoint_copy_ns_ = 0;
  loop_->Post([this] { ContinueCheckpoint(); });
}

// A part of the copying, then whatever else waits for this thread, then the next part.
void Engine::ContinueCheckpoint() {
  if (over_ || !checkpointer_->active()) return;  // Run does it
  const int64_t begin = clock_.NowNs();
  const Checkpointer::Step step = checkpointer_->Continue();
  const int64_t took = clock_.NowNs() - begin;
  checkpoint_copy_ns_ += took;
  checkpoint_longest_ns_ = std::max(checkpoint_longest_ns_, took);
  switch (step) {
    case Checkpointer::Step::kOver:
      return;
    case Checkpointer::Step::kMore:
      return loop_->Post([this] { ContinueCheckpoint(); });
    case Checkpointer::Step::kLater:
      loop_->AddTimer(kCopyLaterNs, [this] { ContinueCheckpoint(); });
      return;
  }
}

void Engine::FinishCheckpoint() {
  if (over_) return;  // Run does it
  const int64_t begin = clock_.NowNs();
  const Status status = checkpointer_->Finish();
  const int64_t took = clock_.NowNs() - begin;
  checkpoint_longest_ns_ = std::max(checkpoint_longest_ns_, took);
  Log(LogLevel::kDebug, "checkpoint",
      {{"started_us", checkpoint_stop_ns_ / 1000},
       {"copied_us", checkpoint_copy_ns_ / 1000},
       {"written_us", (begin - checkpoint_started_ns_) / 1000},
       {"finished_us", took / 1000}});
  if (!status) {
    // What was written of it is left behind and the next one is made anew.
    checkpoint_due_ = true;
    AnswerAsked(answering_, "error " + status.error().message());
    OnDiskError(status.error());
    return;
  }
  ++checkpoints_done_;
  AnswerAsked(answering_, "ok");
  CheckpointIfDue();
}

// ---- questions of other processes

// A crawl goes on without it: only that whoever looks at it sees its last checkpoint.
void Engine::Listen() {
  if (options_.control.empty()) return;
  auto server =
      LocalServer::Listen(*loop_, options_.control,
                          [this](LocalServer::ClientId client, const std::string& line) { OnAsked(client, line); });
  if (server) {
    control_ = *std::move(server);
  } else {
    Log(LogLevel::kWarn, "nobody can ask this crawl: no socket", {{"why", server.error().message()}});
  }
}

void Engine::OnAsked(LocalServer::ClientId client, const std::string& line) {
  if (line != "checkpoint") return control_->Answer(client, "error: not a question that is known here");
  if (full_) return control_->Answer(client, "error: " + state_name_);
  asked_.push_back(client);  // at most LocalServer::kMaxClients
  checkpoint_due_ = true;
  CheckpointIfDue();
}

void Engine::AnswerAsked(std::vector<LocalServer::ClientId>& clients, std::string_view answer) {
  for (const LocalServer::ClientId client : clients) control_->Answer(client, answer);
  clients.clear();
}

std::vector<Checkpointable*> Engine::Checkpointables() const {
  std::vector<Checkpointable*> all = shard_->Checkpointables();
  all.push_back(key_.get());
  if (seed_list_) all.push_back(seed_list_.get());
  for (Checkpointable* const output : outputs_->Checkpointables()) all.push_back(output);
  return all;
}

Status Engine::EndCheckpoint() {
  if (!checkpointer_->active()) return {};
  RETURN_IF_ERROR(checkpointer_->Finish());
  ++checkpoints_done_;
  return {};
}

Status Engine::Checkpoint() {
  RETURN_IF_ERROR(EndCheckpoint());
  RETURN_IF_ERROR(checkpointer_->Commit(Checkpointables()));
  ++checkpoints_done_;
  return {};
}

CrawlProgress Engine::Picture() const {
  const Moment now = Now();
  const Shard::Census census = shard_->TakeCensus();
  CrawlProgress picture;
  picture.state = state_name_;
  if (state_name_ == "running" && !outage_.empty()) {
    // Without name servers hosts whose address is known go on.
    const bool goes_on = !shard_->outage().connections_down() && census.in_flight > 0;
    picture.state = fmt::format("{}: {}", goes_on ? "running" : "paused", outage_);
  }
  picture.seconds = static_cast<double>(shard_->running_ns(now)) * 1e-9;
  picture.session_seconds = static_cast<double>(now.now_ns - run_began_ns_) * 1e-9;
  picture.counts = shard_->counts();
  picture.session_start = session_start_;
  picture.unanswered = census.unanswered;
  picture.urls_seen = shard_->seen().keys();
  picture.at_gate = census.gate;
  picture.waiting = census.frontier;
  picture.in_flight = census.in_flight;
  picture.hosts = shard_->frontier().counts().hosts;
  picture.rss_bytes = ResidentBytes();
  picture.checkpoints = checkpoints_done_;
  picture.checkpoint_longest_ms = static_cast<double>(checkpoint_longest_ns_) * 1e-6;
  picture.turns = turns_.count();
  picture.turn_p50_us = static_cast<double>(turns_.Quantile(0.5)) * 1e-3;
  picture.turn_p99_us = static_cast<double>(turns_.Quantile(0.99)) * 1e-3;
  picture.turn_max_ms = static_cast<double>(turns_.longest()) * 1e-6;
  picture.hosts_crawled = shard_->hosts().hosts();
  picture.hosts_counted = shard_->hosts().complete();
  picture.top_hosts = shard_->hosts().Top(kShownHosts);
  Frontier::Slowest slowest = shard_->SlowestHost();
  picture.slowest_host = std::move(slowest.host);
  picture.slowest_waiting = slowest.urls;
  picture.slowest_gap_s = static_cast<double>(slowest.gap_ns) * 1e-9;
  picture.flying = shard_->Flying(kShownUrls, now);
  picture.awaited = shard_->Awaited(kShownUrls, now);
  picture.unreachable_hosts = shard_->given_up();
  picture.left_out =
      LeftOutOf(picture.counts, {.max_depth = options_.shard.depth_limited ? options_.shard.max_depth : uint64_t{0},
                                 .max_redirects = options_.shard.max_hops,
                                 .max_url_length = options_.page.link.max_length,
                                 .max_links = options_.page.max_links,
                                 .max_body = options_.fetch.limits.max_body});
  picture.max_pages = options_.shard.max_pages;
  picture.goal_pages = options_.pages_are_goal ? options_.shard.max_pages : 0;
  picture.max_bytes = options_.shard.max_bytes;
  picture.max_seconds = static_cast<double>(options_.shard.max_time_ns) * 1e-9;
  return picture;
}

Result<CrawlProgress> Engine::Run(const Show& show) {
  run_began_ns_ = clock_.NowNs();
  session_start_ = shard_->counts();
  shortages_ = session_start_.shortages;
  // The outputs' files must not be there before a manifest that knows their directories. A crawl that goes on has one,
  // unless it was given more of them: it need not wait for the next.
  checkpoint_due_ = !outputs_->needs_commit();
  if (!checkpoint_due_) RETURN_IF_ERROR(Checkpoint());
  LookForRoom();
  loop_->AddTimer(options_.retry_ns, [this] { LookForRoom(); }, options_.retry_ns);
  loop_->AddTimer(options_.show_ns, [&] { show(Picture()); }, options_.show_ns);
  loop_->AddTimer(kShowLogNs, [this] { outputs_->Show(); }, kShowLogNs);
  Listen();
  loop_->AddTimer(
      options_.checkpoint_ns,
      [this] {
        checkpoint_due_ = true;
        CheckpointIfDue();
      },
      options_.checkpoint_ns);
  Wake();
  loop_->Run();

  if (error_) return std::unexpected(*error_);
  if (cancelling_.joinable()) cancelling_.join();
  fetch_->Stop();
  RETURN_IF_ERROR(EndCheckpoint());  // before the outputs flush again: it must know which state was committed
  RETURN_IF_ERROR(Checkpoint());
  AnswerAsked(answering_, "ok");
  AnswerAsked(asked_, "ok");
  control_.reset();
  if (shard_->state() == Shard::State::kDone) {
    // A manifest that says that all WARC files are finished says that the merged index stands, too: it comes last.
    RETURN_IF_ERROR(outputs_->Finish());
    if (!options_.index_file.empty()) {
      RETURN_IF_ERROR(MergeArchiveIndex(env_, options_.outputs.warc.directories, options_.index_file));
    }
    RETURN_IF_ERROR(Checkpoint());
  }
  RETURN_IF_ERROR(outputs_->FinishPacking());
  const CrawlProgress end = Picture();
  show(end);
  return end;
}

}  // namespace portolan
