#include "cluster/exchange_boxes.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {

ExchangeBoxes::ExchangeBoxes(const ClusterExchangeOptions& options)
    : options_(options),
      turn_(options.shards),
      out_bytes_(options.shards),
      room_(options.shards),
      out_(options.shards) {
  for (std::atomic<bool>& room : room_) room = true;
  if (options.phase_clock) phase_time_ = PhaseTime::Unknown();
}

// ---- the shard

bool ExchangeBoxes::HasRoom(uint32_t to) const {
  const auto has = [&] { return room_[to] && out_bytes_[to] + turn_[to].messages.size() < options_.out_bytes; };
  if (has()) return true;
  turned_away_ = true;
  return has();  // the worker may have made room before it could see that somebody waits
}

void ExchangeBoxes::Send(uint32_t to, std::string_view message) {
  AppendString(turn_[to].messages, message);
  ++turn_[to].count;
}

void ExchangeBoxes::Deliver() {
  bool any = false;
  bool told = false;
  for (uint32_t to = 0; to < turn_.size(); ++to) {
    Out& sent = turn_[to];
    if (sent.empty() && sent.notices.empty()) continue;
    const std::lock_guard lock(mutex_);
    Out& out = out_[to];
    told = told || !sent.notices.empty();
    const size_t room = kMaxNotices - std::min(kMaxNotices, out.notices.size());
    sent.notices.resize(std::min(room, sent.notices.size()));
    out.notices.insert(out.notices.end(), sent.notices.begin(), sent.notices.end());
    sent.notices.clear();
    if (sent.empty()) continue;
    out_bytes_[to] += sent.messages.size();
    if (out.messages.empty()) {
      out.messages.swap(sent.messages);
    } else {
      out.messages += sent.messages;
    }
    out.count += sent.count;
    counters_.messages_sent += sent.count;
    out.raises.insert(out.raises.end(), sent.raises.begin(), sent.raises.end());
    sent.messages.clear();
    sent.raises.clear();
    sent.count = 0;
    any = true;
  }
  if (any) {
    ++changes_;
    all_stored_ = false;
  }
  if (any || told) options_.wake_worker();
}

ShardExchange::Mail ExchangeBoxes::TakeMail() {
  ShardExchange::Mail mail;
  const std::lock_guard lock(mutex_);
  mail.notices = std::exchange(notices_, {});
  for (auto chunk = in_.rbegin(); chunk != in_.rend() && !chunk->mailed; ++chunk) chunk->mailed = true;
  for (Chunk& chunk : in_) {
    mail.raises.insert(mail.raises.end(), chunk.raises.begin(), chunk.raises.end());
    chunk.raises.clear();
  }
  counters_.raises += mail.raises.size();
  return mail;
}

// REQUIRES: mutex_ is held.
void ExchangeBoxes::GiveOver(const Chunk& chunk) {
  BatchLedger::Lost lost;
  const BatchVerdict verdict = given_.ledger.Judge(chunk.header, lost);
  CHECK(verdict == BatchVerdict::kNew, "a batch is given to the shard that the receiver would not have taken");
  given_.sequence = chunk.sequence;
  ++changes_;
}

std::optional<std::string_view> ExchangeBoxes::Front() {
  if (front_.data() != nullptr) return front_;
  while (!reading_) {
    const std::lock_guard lock(mutex_);
    if (in_.empty() || !in_.front().mailed) return std::nullopt;
    reading_ = std::move(in_.front());
    in_.pop_front();
    at_ = 0;
    if (!reading_->messages.empty()) break;
    GiveOver(*reading_);
    reading_.reset();
    options_.wake_driver();  // it may be the last thing that the end waits for
  }
  ByteReader reader(std::string_view(reading_->messages).substr(at_));
  CHECK(reader.ReadString(front_), "the exchange lost count of its messages");
  at_ += reader.position();
  return front_;
}

void ExchangeBoxes::Pop() {
  front_ = {};
  if (at_ < reading_->messages.size()) return;
  const bool was_full = !HasRoomIn();
  in_bytes_ -= reading_->messages.size();
  {
    const std::lock_guard lock(mutex_);
    GiveOver(*reading_);
  }
  reading_.reset();
  if (was_full && HasRoomIn()) options_.wake_worker();
}

// ---- the driver

bool ExchangeBoxes::Empty() const {
  for (const Out& out : turn_) {
    if (!out.empty()) return false;
  }
  if (!all_stored_ || reading_) return false;
  const std::lock_guard lock(mutex_);
  for (const Out& out : out_) {
    if (!out.empty()) return false;
  }
  return in_.empty();
}

void ExchangeBoxes::NoteFlush(bool idle) {
  flushed_changes_ = changes_;
  flushed_idle_ = idle;
}

bool ExchangeBoxes::WantsCheckpoint(bool idle) const {
  return idle && (!flushed_idle_ || flushed_changes_ != changes_);
}

void ExchangeBoxes::Note(const ShardExchange::Here& here) {
  const std::lock_guard lock(mutex_);
  here_ = here;
}

ShardExchange::Here ExchangeBoxes::here() const {
  const std::lock_guard lock(mutex_);
  return here_;
}

ShardExchange::Elsewhere ExchangeBoxes::elsewhere() const {
  const std::lock_guard lock(mutex_);
  return elsewhere_;
}

Status ExchangeBoxes::status() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

std::optional<PhaseTime> ExchangeBoxes::phase_time() const {
  const std::lock_guard lock(mutex_);
  return phase_time_;
}

ExchangeCounters ExchangeBoxes::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::string ExchangeBoxes::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

// ---- the worker

ExchangeBoxes::Out ExchangeBoxes::TakeOut(uint32_t to) {
  Out out;
  {
    const std::lock_guard lock(mutex_);
    if (out_[to].empty() && out_[to].notices.empty()) return out;
    out = std::exchange(out_[to], {});
  }
  out_bytes_[to] -= out.messages.size();
  if (room_[to] && turned_away_.exchange(false)) options_.wake_shard();
  return out;
}

void ExchangeBoxes::SetRoom(uint32_t to, bool room) {
  if (room_[to].exchange(room) || !room) return;
  if (turned_away_.exchange(false)) options_.wake_shard();
}

void ExchangeBoxes::Add(uint64_t sequence, const LinkBatchHeader& header, std::string messages,
                        std::vector<uint64_t> raises) {
  in_bytes_ += messages.size();
  {
    const std::lock_guard lock(mutex_);
    ++counters_.batches_taken;
    counters_.messages_taken += header.messages;
    in_.push_back({sequence, header, std::move(messages), std::move(raises)});
  }
  options_.wake_shard();
}

void ExchangeBoxes::AddNotices(uint32_t from, const std::vector<AddressNotice>& notices) {
  {
    const std::lock_guard lock(mutex_);
    counters_.notices_taken += notices.size();
    for (const AddressNotice& notice : notices) {
      if (notices_.size() < kMaxNotices) notices_.push_back({from, notice});
    }
  }
  options_.wake_shard();
}

void ExchangeBoxes::SetElsewhere(const ShardExchange::Elsewhere& elsewhere) {
  {
    const std::lock_guard lock(mutex_);
    elsewhere_ = elsewhere;
  }
  options_.wake_driver();
}

void ExchangeBoxes::SetPhaseTime(const PhaseTime& time) {
  {
    const std::lock_guard lock(mutex_);
    phase_time_ = time;
  }
  options_.wake_shard();
  options_.wake_driver();
}

void ExchangeBoxes::Fail(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_) return;
    failed_ = std::unexpected<Error>(error);
  }
  options_.wake_driver();
}

void ExchangeBoxes::SetTrouble(std::string trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

LinkPosition ExchangeBoxes::given() const {
  const std::lock_guard lock(mutex_);
  return given_;
}

void ExchangeBoxes::Begin(const LinkPosition& position) {
  const std::lock_guard lock(mutex_);
  given_ = position;
}

}  // namespace portolan
