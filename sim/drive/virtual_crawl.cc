#include "sim/drive/virtual_crawl.h"

#include <algorithm>

#include "base/hash.h"
#include "flow/output_records.h"
#include "warc/warc_time.h"

namespace portolan::sim {
namespace {

// A shard's port, with somebody who looks at what is sent.
class WatchedPort : public ExchangePort {
 public:
  using Watch = std::function<void(uint32_t from, uint32_t to, std::string_view message)>;
  WatchedPort(ExchangePort& port, uint32_t from, const Watch& watch) : port_(port), from_(from), watch_(watch) {}
  bool HasRoom(uint32_t to) const override { return port_.HasRoom(to); }
  void Send(uint32_t to, std::string_view message) override {
    if (watch_) watch_(from_, to, message);
    port_.Send(to, message);
  }
  void Raise(uint32_t to, uint64_t pld) override { port_.Raise(to, pld); }
  void Tell(uint32_t to, const AddressNotice& notice) override { port_.Tell(to, notice); }

 private:
  ExchangePort& port_;
  const uint32_t from_;
  const Watch& watch_;
};

}  // namespace

VirtualCrawl::VirtualCrawl(Env& env, const World& world, VirtualTime& time, HitSink& judge, const Options& options)
    : world_(world),
      time_(time),
      judge_(judge),
      options_(options),
      own_clock_(time),
      clock_(options.clock == nullptr ? own_clock_ : *options.clock),
      env_(env) {}

VirtualCrawl::~VirtualCrawl() {
  *alive_ = false;
  merges_.RunAll();
  if (checkpointer_) RunBackground();  // the checkpointer waits for it
}

Result<std::unique_ptr<VirtualCrawl>> VirtualCrawl::Open(Env& env, const World& world, VirtualTime& time,
                                                         HitSink& judge, const Options& options) {
  std::unique_ptr<VirtualCrawl> crawl(new VirtualCrawl(env, world, time, judge, options));
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.state_dir));
  crawl->manifest_ = std::make_unique<Manifest>(std::move(manifest));
  ShardOptions shard = options.shard;
  ASSIGN_OR_RETURN(shard.key, HashKeyStore::ReadOr(*crawl->manifest_, options.shard.key));
  crawl->key_ = std::make_unique<HashKeyStore>(shard.key);
  VirtualWeb::Options web = options.web;
  web.key = shard.key;
  FetchEvents& events = *crawl;
  HitSink& hits = *crawl;
  crawl->web_ = std::make_unique<VirtualWeb>(world, time, events, &hits, web);
  OutputsOptions outputs;
  if (!options.archive_dir.empty()) outputs.warc.directories = {options.archive_dir};
  outputs.warc.files.file_size = 8 << 10;  // a few pages, so that files are closed during the crawl
  outputs.warc.files.index_memory = 64 << 10;
  outputs.warc.files.seed = world.seed();
  outputs.log.files.dir = options.log_dir;
  outputs.links.files.dir = options.links_dir;
  outputs.links.enabled = !options.links_dir.empty();
  outputs.text.files.dir = options.text_dir;
  outputs.text.enabled = !options.text_dir.empty();
  for (LogOutputOptions* const log : {&outputs.log, &outputs.links, &outputs.text}) {
    log->files.file_size = options.log_file_size;
  }
  outputs.threads = false;
  outputs.on_error = [raw = crawl.get()](const Error& error) { raw->driver_->OnDiskError(error); };
  ASSIGN_OR_RETURN(crawl->outputs_, Outputs::Open(env, crawl->clock_, *crawl->manifest_, outputs));
  crawl->checkpointer_ = std::make_unique<Checkpointer>(*crawl->manifest_, &crawl->env_, crawl->background_);
  const uint32_t shards = options.alone ? 1 : options.shards;
  crawl->routes_ = std::make_unique<ShardRoutes>(*crawl->web_, shards);
  crawl->wake_ns_.assign(shards, -1);
  if (options.alone) {
    const Options::Wakes wakes{.shard = [raw = crawl.get()] { raw->WakeShard(0); },
                               .driver = [raw = crawl.get()] { raw->WakeDriver(); }};
    ASSIGN_OR_RETURN(crawl->exchange_, options.make_exchange(crawl->env_, *crawl->manifest_, wakes));
  } else if (shards > 1) {
    crawl->exchange_ = std::make_unique<MemoryExchange>(MemoryExchange::Options{
        .shards = shards, .bytes = options.exchange_bytes, .wake = [raw = crawl.get()](uint32_t to) {
          raw->WakeShard(to);
        }});
  }
  shard.shards = options.shards;
  shard.limits = std::make_shared<Limits>(Limits::Options{shard.max_pages, shard.max_bytes, shard.max_time_ns});
  OutputPort& writes = *crawl;
  Driver::Parts parts{.env = env,
                      .clock = crawl->clock_,
                      .checkpointer = *crawl->checkpointer_,
                      .outputs = *crawl->outputs_,
                      .shards = {},
                      .exchange = crawl->exchange_.get(),
                      .others = {crawl->key_.get()}};
  for (uint32_t seat = 0; seat < shards; ++seat) {
    shard.shard = options.alone.value_or(seat);
    if (crawl->exchange_) {
      crawl->ports_.push_back(
          std::make_unique<WatchedPort>(crawl->exchange_->port(shard.shard), shard.shard, crawl->options_.on_message));
    }
    const ShardPorts ports{crawl->routes_->port(seat), writes, crawl->exchange_ ? crawl->ports_.back().get() : nullptr};
    ASSIGN_OR_RETURN(auto opened,
                     Shard::Open(crawl->env_, *crawl->manifest_, crawl->merges_, ports, shard, crawl->Now()));
    parts.shards.push_back(opened.get());
    crawl->shards_.push_back(std::move(opened));
  }
  DriverOptions driver;
  driver.directories = {options.state_dir};
  for (const std::string& dir : outputs.Directories()) driver.directories.push_back(dir);
  driver.reserve_bytes = options.reserve_bytes;
  driver.checkpoint_ns = options.checkpoint_ns;
  driver.stop_grace_ns = options.stop_grace_ns;
  driver.show_log_ns = 0;  // so that only events write
  Driver::Owner& owner = *crawl;
  crawl->driver_ = std::make_unique<Driver>(owner, parts, driver);
  return crawl;
}

Status VirtualCrawl::Seed() {
  for (const std::string& seed : world_.Seeds()) RETURN_IF_ERROR(shards_[0]->AddSeed(seed, Now()));
  return {};
}

void VirtualCrawl::OnPage(PageResult&& result) {
  const uint32_t shard = SeatOf(ShardOfFetch(result.id));
  std::vector<PageResult> pages;
  pages.push_back(std::move(result));
  driver_->AddPages(shard, std::move(pages));
  WakeShard(shard);
}

void VirtualCrawl::OnResolved(Resolution&& resolution) {
  const uint32_t shard = routes_->TakeAsker(resolution);
  driver_->OnResolved(shard, resolution);
  WakeShard(shard);
}

void VirtualCrawl::OnHit(const Hit& hit) {
  order_hash_ = Mix64(order_hash_ ^ static_cast<uint64_t>(hit.unix_ns)) ^ Hash64(hit.path_and_query, Hash64(hit.host));
  judge_.OnHit(hit);
  if (options_.on_hit) options_.on_hit(hit);
}

void VirtualCrawl::OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) {
  judge_.OnOpen(unix_ns, connection, address, port);
}
void VirtualCrawl::OnClose(int64_t unix_ns, uint64_t connection) { judge_.OnClose(unix_ns, connection); }
void VirtualCrawl::OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) {
  judge_.OnDns(unix_ns, name, type, rcode);
}

// The record that parse/ would have made from the bytes, with the URL in place of the page.
ArchiveItem VirtualCrawl::ItemOf(const FetchLine& about, const std::array<char, 20>& sha1) {
  ArchiveItem item;
  WarcRecordSpec spec;
  spec.type = WarcType::kResponse;
  spec.id = {.high = Hash64(about.url), .low = static_cast<uint64_t>(clock_.UnixNs())};
  spec.date = {.seconds = clock_.UnixNs() / kSecond};
  spec.target_uri = about.url;
  spec.http_head = "HTTP/1.1 200 OK\r\n\r\n";
  spec.payload = about.url;
  if (about.duplicate_unix_ms != 0 || std::ranges::any_of(sha1, [](char byte) { return byte != 0; })) {
    spec.payload_sha1 = item.payload_sha1 = sha1;
  }
  item.response_length = static_cast<uint32_t>(writer_.Append(spec, item.bytes).length);
  if (about.revisit) {
    spec.type = WarcType::kRevisit;
    spec.payload = {};
    plain_writer_.Append(spec, item.revisit);
    item.refers_at = static_cast<uint32_t>(RefersToPlace(item.revisit));
  }
  item.key = about.url;
  item.unix_seconds = spec.date.seconds;
  item.url = about.url;
  return item;
}

// As the stages of parse/ would do.
void VirtualCrawl::AddRecords(PageResult& result, const FetchLine& about) const {
  const int64_t unix_ms = result.times.begin_unix_ns / 1'000'000;
  if (!options_.links_dir.empty()) {
    OutputItem item{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(item.records, about.url, unix_ms);
    for (const FoundLink& link : result.links.links) {
      AppendLink(item.records, result.links.UrlOf(link), link.flags, "to " + std::string(result.links.UrlOf(link)));
    }
    result.outputs.push_back(std::move(item));
  }
  if (!options_.text_dir.empty()) {
    OutputItem item{.output = OutputId::kText, .records = {}};
    AppendTextRecord(item.records, {.url = about.url, .unix_ms = unix_ms, .title = about.url, .text = "text"});
    result.outputs.push_back(std::move(item));
  }
}

void VirtualCrawl::Write(PageResult& result, FetchLine&& about) {
  const bool has_page = about.attempt > 0 && !about.again && result.kind != UrlKind::kRobots;
  if (has_page && !about.dropped && HasAnswer(result.outcome)) {
    if (!options_.archive_dir.empty()) result.archive = ItemOf(about, result.payload_sha1);
    AddRecords(result, about);
  }
  outputs_->Write(result, std::move(about));
}

// A scheduled event cannot be removed: one that comes early does no harm.
void VirtualCrawl::WakeAt(uint32_t shard, int64_t machine_ns) {
  if (machine_ns == Driver::kNever) return;
  const int64_t time_ns = clock_.ToVirtual(machine_ns);
  int64_t& wake_ns = wake_ns_[shard];
  if (wake_ns > time_.NowNs() && wake_ns <= time_ns) return;
  wake_ns = std::max(time_ns, time_.NowNs() + 1);
  time_.At(wake_ns, [this, shard, alive = alive_] {
    if (*alive) Turn(shard);
  });
}

void VirtualCrawl::Turn(uint32_t shard) {
  idle_ticks_ = 0;
  driver_->Turn(shard);
  if (!driver_->over()) WakeAt(shard, driver_->NextTurn(shard));
}

void VirtualCrawl::TickIfDue() {
  while (!driver_->over() && (tick_wanted_ || driver_->NextTick() <= clock_.NowNs())) {
    tick_wanted_ = false;
    driver_->Tick();
  }
  if (driver_->NextTick() == Driver::kNever) return;
  const int64_t next = clock_.ToVirtual(driver_->NextTick());
  if (tick_ns_ > time_.NowNs() && tick_ns_ <= next) return;
  tick_ns_ = next;
  time_.At(next, [this, alive = alive_] {
    if (*alive) ++idle_ticks_;
  });
}

void VirtualCrawl::Merges::Submit(Job job) {
  // Also while the shard is being opened or destroyed, when no event would run them.
  if (crawl_.options_.merge_ns == 0 || !crawl_.driver_ || !*crawl_.alive_) return job();
  DeferredExecutor::Submit(std::move(job));
  crawl_.time_.At(crawl_.time_.NowNs() + crawl_.options_.merge_ns, [this, alive = crawl_.alive_] {
    if (!*alive) return;
    if (waiting() > 0) Run();
    for (uint32_t shard = 0; shard < crawl_.shards_.size(); ++shard) crawl_.WakeShard(shard);
  });
}

void VirtualCrawl::SetBackground() {
  if (options_.checkpoint_step_ns == 0) return background_.RunAll();
  time_.At(time_.NowNs() + options_.checkpoint_step_ns, [this, alive = alive_] {
    if (*alive && background_.waiting() > 0) background_.Run();
  });
}

Status VirtualCrawl::Begin() {
  if (!begun_) RETURN_IF_ERROR(driver_->Begin());
  begun_ = true;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) WakeAt(shard, driver_->NextTurn(shard));
  return {};
}

Status VirtualCrawl::AfterEvent() {
  if (!driver_->over()) TickIfDue();
  return driver_->status();
}

Status VirtualCrawl::Run(uint64_t max_events) {
  constexpr uint64_t kIdleTicks = 100'000;
  RETURN_IF_ERROR(Begin());
  for (uint64_t step = 0; step < max_events && !driver_->over(); ++step) {
    TickIfDue();
    if (driver_->over()) break;
    if (!time_.Step() || idle_ticks_ > kIdleTicks) {
      return Fail(ErrorCode::kClosed, "the crawl is not done, and nothing will ever happen again");
    }
    ++events_;
    for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
      if (driver_->inbox_waits(shard)) ++events_waited_;
    }
    if (options_.after_event) RETURN_IF_ERROR(options_.after_event(events_));
  }
  return driver_->status();
}

void VirtualCrawl::RunBackground() {
  while (checkpointer_->active() && checkpointer_->Continue() != Checkpointer::Step::kOver) background_.RunAll();
  background_.RunAll();
}

Status VirtualCrawl::Checkpoint() { return driver_->CheckpointNow(); }

Status VirtualCrawl::Finish() {
  RETURN_IF_ERROR(driver_->End({}));
  background_.RunAll();
  return {};
}

}  // namespace portolan::sim
