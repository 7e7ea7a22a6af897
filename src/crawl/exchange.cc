#include "crawl/exchange.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {

// What is on its way to one receiver.
struct MemoryExchange::Lane {
  std::atomic<uint64_t> bytes{0};        // of messages that are delivered and not taken
  std::atomic<bool> turned_away{false};  // a sender found no room
  std::atomic<bool> any{false};          // something was delivered since the receiver looked

  std::mutex mutex;
  // Guarded by mutex:
  std::deque<std::string> delivered;  // messages in a row, each after its length
  std::vector<AddressMail> notices;
  std::vector<uint64_t> raises;

  // Used by the receiver only:
  std::string reading;
  size_t at = 0;           // offset of the message that Front returns
  std::string_view front;  // empty data: none
};

class MemoryExchange::Port : public ExchangePort {
 public:
  Port(MemoryExchange& exchange, uint32_t from) : exchange_(exchange), from_(from), out_(exchange.options_.shards) {}

  bool HasRoom(uint32_t to) const override {
    Lane& lane = *exchange_.lanes_[to];
    if (lane.bytes + out_[to].messages.size() < exchange_.options_.bytes) return true;
    lane.turned_away = true;
    // Asked again: the receiver may have taken everything before turned_away was set, and would then wake no sender.
    return lane.bytes + out_[to].messages.size() < exchange_.options_.bytes;
  }
  void Send(uint32_t to, std::string_view message) override { AppendString(out_[to].messages, message); }
  void Raise(uint32_t to, uint64_t pld) override { out_[to].raises.push_back(pld); }
  void Tell(uint32_t to, const AddressNotice& notice) override { out_[to].notices.push_back({from_, notice}); }

  void Deliver() {
    for (uint32_t to = 0; to < out_.size(); ++to) {
      Out& out = out_[to];
      if (out.messages.empty() && out.raises.empty() && out.notices.empty()) continue;
      Lane& lane = *exchange_.lanes_[to];
      {
        const std::lock_guard lock(lane.mutex);
        lane.bytes += out.messages.size();
        if (!out.messages.empty()) lane.delivered.push_back(std::exchange(out.messages, {}));
        lane.raises.insert(lane.raises.end(), out.raises.begin(), out.raises.end());
        lane.notices.insert(lane.notices.end(), out.notices.begin(), out.notices.end());
        lane.any = true;
      }
      out.raises.clear();
      out.notices.clear();
      exchange_.options_.wake(to);
    }
  }
  bool Empty() const {
    for (const Out& out : out_) {
      if (!out.messages.empty() || !out.raises.empty()) return false;
    }
    return true;
  }

 private:
  // What was sent in this turn.
  struct Out {
    std::string messages;
    std::vector<uint64_t> raises;
    std::vector<AddressMail> notices;
  };

  MemoryExchange& exchange_;
  const uint32_t from_;
  std::vector<Out> out_;  // by receiver
};

MemoryExchange::MemoryExchange(const Options& options) : options_(options) {
  for (uint32_t shard = 0; shard < options_.shards; ++shard) {
    lanes_.push_back(std::make_unique<Lane>());
    ports_.push_back(std::make_unique<Port>(*this, shard));
  }
}

MemoryExchange::~MemoryExchange() = default;

ExchangePort& MemoryExchange::port(uint32_t from) { return *ports_[from]; }

void MemoryExchange::Deliver(uint32_t from) { ports_[from]->Deliver(); }

ShardExchange::Mail MemoryExchange::TakeMail(uint32_t to) {
  Lane& lane = *lanes_[to];
  if (!lane.any) return {};
  const std::lock_guard lock(lane.mutex);
  lane.any = false;
  return {std::exchange(lane.notices, {}), std::exchange(lane.raises, {})};
}

std::optional<std::string_view> MemoryExchange::Front(uint32_t to) {
  Lane& lane = *lanes_[to];
  if (lane.front.data() != nullptr) return lane.front;
  if (lane.at == lane.reading.size()) {
    if (lane.bytes == 0) return std::nullopt;
    const std::lock_guard lock(lane.mutex);
    if (lane.delivered.empty()) return std::nullopt;
    lane.reading = std::move(lane.delivered.front());
    lane.delivered.pop_front();
    lane.at = 0;
  }
  ByteReader reader(std::string_view(lane.reading).substr(lane.at));
  CHECK(reader.ReadString(lane.front), "the exchange lost count of its messages");
  lane.at += reader.position();
  return lane.front;
}

void MemoryExchange::Pop(uint32_t to) {
  Lane& lane = *lanes_[to];
  lane.front = {};
  if (lane.at < lane.reading.size()) return;
  const uint64_t before = lane.bytes.fetch_sub(lane.reading.size());
  const uint64_t after = before - lane.reading.size();
  lane.reading = {};
  lane.at = 0;
  if (after >= options_.bytes || !lane.turned_away.exchange(false)) return;
  for (uint32_t shard = 0; shard < options_.shards; ++shard) {
    if (shard != to) options_.wake(shard);
  }
}

bool MemoryExchange::Empty() const {
  for (const auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    if (lane->bytes > 0 || !lane->raises.empty()) return false;
  }
  for (const auto& port : ports_) {
    if (!port->Empty()) return false;
  }
  return true;
}

}  // namespace portolan
