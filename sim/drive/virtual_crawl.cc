#include "sim/drive/virtual_crawl.h"

#include <limits>

#include "base/hash.h"

namespace portolan::sim {

VirtualCrawl::VirtualCrawl(const World& world, VirtualTime& time, Judge& judge, const Options& options)
    : world_(world), time_(time), judge_(judge), options_(options), web_(world, time, *this, this, options.web) {}

VirtualCrawl::~VirtualCrawl() { *alive_ = false; }

Result<std::unique_ptr<VirtualCrawl>> VirtualCrawl::Open(Env& env, const World& world, VirtualTime& time, Judge& judge,
                                                         const Options& options) {
  std::unique_ptr<VirtualCrawl> crawl(new VirtualCrawl(world, time, judge, options));
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.state_dir));
  crawl->manifest_ = std::make_unique<Manifest>(std::move(manifest));
  ASSIGN_OR_RETURN(crawl->shard_, Shard::Open(env, *crawl->manifest_, crawl->executor_, crawl->web_, *crawl,
                                              options.shard, crawl->Now()));
  crawl->next_checkpoint_ns_ = time.NowNs() + options.checkpoint_ns;
  return crawl;
}

Status VirtualCrawl::Seed() {
  for (const std::string& seed : world_.Seeds()) RETURN_IF_ERROR(shard_->AddSeed(seed, Now()));
  return {};
}

void VirtualCrawl::OnPage(PageResult&& result) {
  if (status_) status_ = shard_->OnPage(std::move(result), Now());
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

// Time cannot forget an appointment: an early one is kept and does no harm.
void VirtualCrawl::SetWake() {
  const int64_t wake = shard_->NextWake();
  if (wake == std::numeric_limits<int64_t>::max()) return;
  if (wake_ns_ > time_.NowNs() && wake_ns_ <= wake) return;
  wake_ns_ = std::max(wake, time_.NowNs() + 1);
  time_.At(wake_ns_, [this, alive = alive_] {
    if (*alive && status_) status_ = shard_->OnTick(Now());
  });
}

Status VirtualCrawl::Run(uint64_t max_events) {
  for (uint64_t step = 0; step < max_events && shard_->state() == Shard::State::kRunning; ++step) {
    SetWake();
    if (!time_.Step()) {
      return Fail(ErrorCode::kClosed, "the crawl is not done, and nothing will ever happen again");
    }
    RETURN_IF_ERROR(status_);
    ++events_;
    if (options_.after_event) RETURN_IF_ERROR(options_.after_event(events_));
    if (options_.checkpoint_ns > 0 && time_.NowNs() >= next_checkpoint_ns_ && shard_->Settled()) {
      RETURN_IF_ERROR(Checkpoint());
      next_checkpoint_ns_ = time_.NowNs() + options_.checkpoint_ns;
    }
  }
  return {};
}

Status VirtualCrawl::Checkpoint() { return manifest_->Commit(shard_->Checkpointables()); }

}  // namespace portolan::sim
