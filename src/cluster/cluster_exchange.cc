#include "cluster/cluster_exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cluster/exchange_boxes.h"
#include "cluster/exchange_wire.h"

namespace portolan {

struct ClusterExchange::Impl {
  Impl(Env& env, const Manifest& manifest, LinkTransport& transport, const ClusterExchangeOptions& options)
      : boxes(options), wire(env, manifest.dir(), transport, boxes, options) {}

  ExchangeBoxes boxes;
  ExchangeWire wire;
};

ClusterExchange::ClusterExchange(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClusterExchange::~ClusterExchange() = default;

Result<std::unique_ptr<ClusterExchange>> ClusterExchange::Open(Env& env, const Manifest& manifest,
                                                               LinkTransport& transport,
                                                               const ClusterExchangeOptions& options) {
  CHECK(options.shards > 1 && options.shard < options.shards && options.epoch > 0);
  auto impl = std::make_unique<Impl>(env, manifest, transport, options);
  RETURN_IF_ERROR(impl->wire.Open(manifest));
  return std::unique_ptr<ClusterExchange>(new ClusterExchange(std::move(impl)));
}

ExchangePort& ClusterExchange::port(uint32_t /*from*/) { return impl_->boxes; }
void ClusterExchange::Deliver(uint32_t /*from*/) { impl_->boxes.Deliver(); }
ShardExchange::Mail ClusterExchange::TakeMail(uint32_t /*to*/) { return impl_->boxes.TakeMail(); }
std::optional<std::string_view> ClusterExchange::Front(uint32_t /*to*/) { return impl_->boxes.Front(); }
void ClusterExchange::Pop(uint32_t /*to*/) { impl_->boxes.Pop(); }
bool ClusterExchange::Empty() const { return impl_->boxes.Empty(); }
std::vector<Checkpointable*> ClusterExchange::Checkpointables() { return impl_->wire.Checkpointables(); }

void ClusterExchange::BeginCheckpoint(bool idle) {
  impl_->boxes.Deliver();
  impl_->boxes.NoteFlush(idle);
}
bool ClusterExchange::WantsCheckpoint(bool idle) const { return impl_->boxes.WantsCheckpoint(idle); }
void ClusterExchange::Note(const Here& here) { impl_->boxes.Note(here); }
ShardExchange::Elsewhere ClusterExchange::elsewhere() const { return impl_->boxes.elsewhere(); }
std::optional<PhaseTime> ClusterExchange::phase_time() const { return impl_->boxes.phase_time(); }
Status ClusterExchange::status() const { return impl_->boxes.status(); }

int64_t ClusterExchange::Work() { return impl_->wire.Work(); }
ClusterExchange::Counters ClusterExchange::counters() const { return impl_->boxes.counters(); }
std::string ClusterExchange::Trouble() const { return impl_->boxes.trouble(); }

}  // namespace portolan
