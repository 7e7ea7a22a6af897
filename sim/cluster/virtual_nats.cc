#include "sim/cluster/virtual_nats.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "cluster/link_batch_format.h"

namespace portolan::sim {
namespace {

constexpr int64_t kDuplicatesNs = 120 * kSecond;
constexpr size_t kNumberAt = 24;  // in a batch

}  // namespace

struct VirtualNats::Wire {
  std::vector<LinkAck> acks;
  std::vector<std::string> told;
  std::function<void()> wake;
  int64_t last_arrival_ns = 0;  // at the server
};

class VirtualNats::Link : public LinkTransport {
 public:
  Link(VirtualNats& nats, uint32_t shard, const Clock& clock)
      : nats_(nats), shard_(shard), clock_(clock), wire_(std::make_shared<Wire>()) {
    nats_.wires_[shard].push_back(wire_);
  }

  TransportStatus status() const override {
    const bool away = !nats_.Reachable(shard_);
    return {.state = away ? TransportState::kAway : TransportState::kConnected,
            .reconnects = nats_.cuts_[shard_] - (away ? 1 : 0),
            .reason = away ? "cut" : ""};
  }
  int64_t NowNs() const override { return clock_.NowNs(); }
  void SetWake(std::function<void()> wake) override { wire_->wake = std::move(wake); }

  Result<LinkStreamInfo> ReadStream(uint32_t shard) override {
    if (!nats_.Reachable(shard_)) return Away();
    const Stream& stream = nats_.streams_[shard];
    return LinkStreamInfo{
        .created_ns = stream.created_ns, .first = stream.first, .last = stream.last(), .bytes = stream.bytes};
  }

  bool Publish(uint32_t to, std::string_view id, std::string_view batch, int64_t ack_wait_ns) override;
  std::vector<LinkAck> TakeAcks() override { return std::exchange(wire_->acks, {}); }

  Result<LinkFetch> Fetch(uint64_t from, const MessageSink& sink) override {
    if (!nats_.Reachable(shard_)) return Away();
    const Stream& stream = nats_.streams_[shard_];
    uint64_t next = std::max(from, stream.first);
    if (nats_.Chance(40) && next > stream.first) --next;   // comes again
    if (nats_.Chance(40) && next < stream.last()) ++next;  // is skipped
    const uint64_t end = std::min(stream.last(), next + 31);
    if (next > end) return LinkFetch::kNothing;
    for (; next <= end; ++next) {
      if (!sink(next, std::string(stream.messages[next - stream.first]))) return LinkFetch::kSome;
    }
    return nats_.Chance(40) ? LinkFetch::kBroken : LinkFetch::kSome;
  }
  void FetchAnew() override {}
  bool HasNot(uint64_t sequence) override {
    return nats_.Reachable(shard_) &&
           (sequence < nats_.streams_[shard_].first || sequence > nats_.streams_[shard_].last());
  }
  Status Trim(uint64_t sequence) override {
    if (!nats_.Reachable(shard_)) return Away();
    Stream& stream = nats_.streams_[shard_];
    while (stream.first < sequence && !stream.messages.empty()) {
      stream.bytes -= stream.messages.front().size();
      stream.messages.pop_front();
      ++stream.first;
    }
    return {};
  }

  void Tell(uint32_t to, std::string_view datagram) override;
  std::vector<std::string> TakeTold() override { return std::exchange(wire_->told, {}); }

  // The ways to the server and back take as long as they like, one much longer than the other at times.
  Result<ServerTime> AskTime() override {
    if (!nats_.Reachable(shard_) || nats_.Chance(30)) return Away();
    const auto way = [this] {
      const auto late = static_cast<uint64_t>(nats_.options_.late_answer_ns);
      return nats_.Delay() + (nats_.Chance(10) ? static_cast<int64_t>(nats_.random_() % late) : 0);
    };
    const int64_t back_ns = way();
    const int64_t now_ns = clock_.NowNs();
    return ServerTime{.asked_ns = now_ns - back_ns - way(),
                      .answered_ns = now_ns,
                      .server_ns = nats_.ServerUnixNs(nats_.time_.NowNs() - back_ns)};
  }

  Status PutReport(std::string_view report) override {
    if (!nats_.Reachable(shard_)) return Away();
    nats_.reports_[shard_] = report;
    if (nats_.Chance(20)) return Away();  // it is stored, and the answer is lost
    return {};
  }
  Result<std::string> ReadReport(uint32_t shard) override {
    if (!nats_.Reachable(shard_) || nats_.Chance(50)) return Away();
    if (nats_.reports_[shard].empty()) return Fail(ErrorCode::kNotFound, "no report");
    return nats_.reports_[shard];
  }

 private:
  static std::unexpected<Error> Away() { return Fail(ErrorCode::kClosed, "the server does not answer"); }

  VirtualNats& nats_;
  const uint32_t shard_;
  const Clock& clock_;
  const std::shared_ptr<Wire> wire_;
};

VirtualNats::VirtualNats(VirtualTime& time, const Options& options)
    : time_(time),
      options_(options),
      random_(options.seed),
      streams_(options.shards),
      reports_(options.shards),
      cut_until_ns_(options.shards, 0),
      cuts_(options.shards, 0),
      wires_(options.shards) {}

std::unique_ptr<LinkTransport> VirtualNats::Connect(uint32_t shard, const Clock& clock) {
  return std::make_unique<Link>(*this, shard, clock);
}

void VirtualNats::Cut(uint32_t shard, int64_t until_ns) {
  if (Reachable(shard)) ++cuts_[shard];
  cut_until_ns_[shard] = std::max(cut_until_ns_[shard], until_ns);
  time_.At(cut_until_ns_[shard] + 1, [this, shard] { WakeReaders(shard); });
}

void VirtualNats::CutAll(int64_t until_ns) {
  for (uint32_t shard = 0; shard < options_.shards; ++shard) Cut(shard, until_ns);
}

void VirtualNats::MakeAnew(uint32_t shard) {
  streams_[shard] = {.created_ns = time_.NowNs() + 2, .messages = {}, .ids = {}};
}

void VirtualNats::WakeReaders(uint32_t shard) {
  std::erase_if(wires_[shard], [](const std::weak_ptr<Wire>& wire) { return wire.expired(); });
  for (const std::weak_ptr<Wire>& each : wires_[shard]) {
    const auto wire = each.lock();
    if (wire && wire->wake) wire->wake();
  }
}

LinkAck VirtualNats::Store(uint32_t to, const std::string& id, std::string batch, uint64_t number) {
  Stream& stream = streams_[to];
  std::erase_if(stream.ids, [&](const auto& known) { return known.second.second < time_.NowNs() - kDuplicatesNs; });
  LinkAck ack{.kind = LinkAckKind::kStored, .to = to, .number = number};
  if (const auto known = stream.ids.find(id); known != stream.ids.end()) {
    ack.sequence = known->second.first;
    ack.duplicate = true;
    ++counts_.duplicates;
    return ack;
  }
  if (stream.bytes + batch.size() > options_.stream_bytes) {
    ack.kind = LinkAckKind::kFull;
    ++counts_.full;
    return ack;
  }
  stream.bytes += batch.size();
  stream.messages.push_back(std::move(batch));
  ++counts_.stored;
  ack.sequence = stream.last();
  stream.ids[id] = {ack.sequence, time_.NowNs()};
  time_.At(time_.NowNs() + Delay(), [this, to] { WakeReaders(to); });
  return ack;
}

bool VirtualNats::Link::Publish(uint32_t to, std::string_view id, std::string_view batch, int64_t ack_wait_ns) {
  if (!nats_.Reachable(shard_)) return false;
  const int64_t now_ns = nats_.time_.NowNs();
  const uint64_t number = LoadLe<uint64_t>(batch.data() + kNumberAt);
  // One connection: in its order.
  const int64_t at_ns = std::max(wire_->last_arrival_ns + 1, now_ns + nats_.Delay());
  wire_->last_arrival_ns = at_ns;
  const auto answered = std::make_shared<bool>(false);
  const auto answer = [wire = std::weak_ptr<Wire>(wire_), answered](const LinkAck& ack) {
    const auto here = wire.lock();
    if (!here || std::exchange(*answered, true)) return;
    here->acks.push_back(ack);
    if (here->wake) here->wake();
  };
  nats_.time_.At(now_ns + ack_wait_ns,
                 [answer, to, number] { answer({.kind = LinkAckKind::kAgain, .to = to, .number = number}); });
  VirtualNats& nats = nats_;
  nats_.time_.At(at_ns, [&nats, answer, to, number, from = shard_, cuts = nats_.cuts_[shard_], id = std::string(id),
                         bytes = std::string(batch)]() mutable {
    if (nats.cuts_[from] != cuts && nats.random_() % 2 == 0) {
      ++nats.counts_.lost;  // the connection broke before it had arrived
      return;
    }
    const LinkAck ack = nats.Store(to, id, std::move(bytes), number);
    nats.time_.At(nats.time_.NowNs() + nats.Delay(), [&nats, answer, ack, from, cuts] {
      if (nats.cuts_[from] != cuts || nats.Chance(200)) {
        ++nats.counts_.lost;
      } else {
        answer(ack);
      }
    });
  });
  return true;
}

void VirtualNats::Link::Tell(uint32_t to, std::string_view datagram) {
  if (!nats_.Reachable(shard_)) return;
  VirtualNats& nats = nats_;
  const int copies = nats.Chance(20) ? 0 : nats.Chance(20) ? 2 : 1;
  if (copies == 0) ++nats.counts_.datagrams_lost;
  for (int i = 0; i < copies; ++i) {
    const int64_t late_ns =
        nats.Chance(50) ? static_cast<int64_t>(nats.random_() % static_cast<uint64_t>(nats.options_.late_ns)) : 0;
    nats.time_.At(nats.time_.NowNs() + nats.Delay() + late_ns, [&nats, to, bytes = std::string(datagram)] {
      if (!nats.Reachable(to)) return;
      for (const std::weak_ptr<Wire>& each : nats.wires_[to]) {
        const auto wire = each.lock();
        if (!wire) continue;
        wire->told.push_back(bytes);
        if (wire->wake) wire->wake();
      }
    });
  }
}

}  // namespace portolan::sim
