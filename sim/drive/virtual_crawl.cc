#include "sim/drive/virtual_crawl.h"

#include <limits>

#include "base/hash.h"
#include "flow/output_records.h"
#include "warc/warc_time.h"

namespace portolan::sim {

VirtualCrawl::VirtualCrawl(Env& env, const World& world, VirtualTime& time, HitSink& judge, const Options& options)
    : world_(world), time_(time), judge_(judge), options_(options), env_(env) {}

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
  const auto on_error = [raw = crawl.get()](const Error& error) {
    if (raw->status_) raw->status_ = std::unexpected(error);
  };
  OutputsOptions outputs;
  if (!options.archive_dir.empty()) outputs.warc.directories = {options.archive_dir};
  outputs.warc.files.file_size = 8 << 10;  // a few pages: files are closed as the crawl goes
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
  outputs.on_error = on_error;
  ASSIGN_OR_RETURN(crawl->outputs_, Outputs::Open(env, time, *crawl->manifest_, outputs));
  crawl->checkpointer_ = std::make_unique<Checkpointer>(*crawl->manifest_, &crawl->env_, crawl->background_);
  ASSIGN_OR_RETURN(crawl->shard_, Shard::Open(crawl->env_, *crawl->manifest_, crawl->merges_, *crawl->web_, *crawl,
                                              shard, crawl->Now()));
  crawl->next_checkpoint_ns_ = time.NowNs() + options.checkpoint_ns;
  return crawl;
}

Status VirtualCrawl::Seed() {
  for (const std::string& seed : world_.Seeds()) RETURN_IF_ERROR(shard_->AddSeed(seed, Now()));
  return {};
}

void VirtualCrawl::OnPage(PageResult&& result) {
  inbox_.Add(std::move(result));
  if (status_) status_ = inbox_.HandOver(*shard_, Now());
}

void VirtualCrawl::OnResolved(Resolution&& resolution) {
  if (status_) status_ = shard_->OnResolved(resolution, Now());
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

// What parse/ would have made of the bytes, with the URL in place of the page.
ArchiveItem VirtualCrawl::ItemOf(const FetchLine& about) {
  ArchiveItem item;
  WarcRecordSpec spec;
  spec.type = WarcType::kResponse;
  spec.id = {.high = Hash64(about.url), .low = static_cast<uint64_t>(time_.UnixNs())};
  spec.date = {.seconds = time_.UnixNs() / kSecond};
  spec.target_uri = about.url;
  spec.http_head = "HTTP/1.1 200 OK\r\n\r\n";
  spec.payload = about.url;
  item.response_length = static_cast<uint32_t>(writer_.Append(spec, item.bytes).length);
  item.key = about.url;
  item.unix_seconds = spec.date.seconds;
  item.url = about.url;
  return item;
}

// As the stages of parse/ would.
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
  if (has_page && HasAnswer(result.outcome)) {
    if (!options_.archive_dir.empty()) result.archive = ItemOf(about);
    AddRecords(result, about);
  }
  outputs_->Write(result, std::move(about));
}

// Time cannot forget an appointment: an early one is kept and does no harm.
void VirtualCrawl::SetWake() {
  const int64_t wake = shard_->NextWake();
  if (wake == std::numeric_limits<int64_t>::max()) return;
  if (wake_ns_ > time_.NowNs() && wake_ns_ <= wake) return;
  wake_ns_ = std::max(wake, time_.NowNs() + 1);
  time_.At(wake_ns_, [this, alive = alive_] {
    if (*alive) Tick();
  });
}

void VirtualCrawl::Tick() {
  if (status_) status_ = inbox_.HandOver(*shard_, Now());
  if (status_) status_ = shard_->OnTick(Now());
}

void VirtualCrawl::Merges::Submit(Job job) {
  // Also while the shard is being opened or goes: nobody would run them then.
  if (crawl_.options_.merge_ns == 0 || !crawl_.shard_ || !*crawl_.alive_) return job();
  DeferredExecutor::Submit(std::move(job));
  crawl_.time_.At(crawl_.time_.NowNs() + crawl_.options_.merge_ns, [this, alive = crawl_.alive_] {
    if (!*alive) return;
    if (waiting() > 0) Run();
    crawl_.Tick();
  });
}

void VirtualCrawl::SetBackground() {
  if (options_.checkpoint_step_ns == 0) return;
  time_.At(time_.NowNs() + options_.checkpoint_step_ns, [this, alive = alive_] {
    if (*alive && background_.waiting() > 0) background_.Run();
  });
}

Status VirtualCrawl::Run(uint64_t max_events) {
  // The archive's files must not be there before a manifest that knows them.
  if (!options_.archive_dir.empty() && !begun_) RETURN_IF_ERROR(Checkpoint());
  begun_ = true;
  for (uint64_t step = 0; step < max_events && shard_->state() == Shard::State::kRunning; ++step) {
    SetWake();
    if (!time_.Step()) {
      return Fail(ErrorCode::kClosed, "the crawl is not done, and nothing will ever happen again");
    }
    RETURN_IF_ERROR(status_);
    ++events_;
    if (!inbox_.empty()) ++events_waited_;
    if (options_.after_event) RETURN_IF_ERROR(options_.after_event(events_));
    if (checkpointer_->active()) checkpointer_->Continue();
    if (checkpointer_->active() && checkpointer_->written()) RETURN_IF_ERROR(checkpointer_->Finish());
    if (options_.checkpoint_ns == 0 || time_.NowNs() < next_checkpoint_ns_) continue;
    if (checkpointer_->active()) continue;
    if (options_.checkpoint_step_ns == 0) {
      RETURN_IF_ERROR(Checkpoint());
    } else {
      checkpointer_->Start(Checkpointables(), {});
    }
    next_checkpoint_ns_ = time_.NowNs() + options_.checkpoint_ns;
  }
  return {};
}

std::vector<Checkpointable*> VirtualCrawl::Checkpointables() {
  std::vector<Checkpointable*> all = shard_->Checkpointables();
  all.push_back(key_.get());
  for (Checkpointable* const output : outputs_->Checkpointables()) all.push_back(output);
  return all;
}

void VirtualCrawl::RunBackground() {
  while (checkpointer_->active() && checkpointer_->Continue() != Checkpointer::Step::kOver) background_.RunAll();
  background_.RunAll();
}

Status VirtualCrawl::EndCheckpoint() {
  if (!checkpointer_->active()) return {};
  RunBackground();
  return checkpointer_->Finish();
}

Status VirtualCrawl::Checkpoint() {
  RETURN_IF_ERROR(EndCheckpoint());
  checkpointer_->Start(Checkpointables(), {});
  return EndCheckpoint();
}

Status VirtualCrawl::Finish() {
  RETURN_IF_ERROR(EndCheckpoint());  // before the outputs flush again: it must know which state was committed
  RETURN_IF_ERROR(outputs_->Finish());
  RETURN_IF_ERROR(Checkpoint());
  RETURN_IF_ERROR(outputs_->FinishPacking());
  background_.RunAll();
  return {};
}

}  // namespace portolan::sim
