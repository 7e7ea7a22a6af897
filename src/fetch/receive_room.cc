#include "fetch/receive_room.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tuple>
#include <utility>

#include "fetch/exchange.h"

namespace portolan {
namespace {

constexpr uint64_t kPiece = uint64_t{64} << 10;  // that a fetch which goes on holds more
constexpr uint64_t kMostSmall = uint64_t{1} << 20;

}  // namespace

// Outlives the room where the budget still knows it.
struct ReceiveRoom::Bell {
  std::mutex mutex;
  std::function<void()> ring;  // guarded by mutex; empty: the room is gone
  std::array<std::atomic<bool>, kKinds> awaited{};
};

ReceiveRoom::ReceiveRoom(const FetchOptions& options, std::function<void()> on_free)
    : budget_(options.budget), max_running_(options.max_in_flight), bell_(std::make_shared<Bell>()) {
  bell_->ring = std::move(on_free);
  if (budget_ == nullptr) return;
  const uint64_t total = budget_->total();
  const uint64_t reserve = std::min(options.loops * options.limits.max_body, total / 4);
  leave_fetch_ = total / 4 + reserve;
  small_.leave = leave_fetch_ + total / 32;
  large_.leave = leave_fetch_ + total / 8;
  small_bytes_ = std::min(total / 128, kMostSmall);
  leave_small_seat_ = total / 8;
  // An elected small body that turned out large holds this much more than bodies may; one per loop.
  const uint64_t more = options.loops * (small_bytes_ + kPiece);
  leave_moved_ = leave_fetch_ - std::min(leave_fetch_, more);
}

ReceiveRoom::~ReceiveRoom() {
  const std::lock_guard lock(bell_->mutex);
  bell_->ring = {};
}

void ReceiveRoom::Await(Kind kind, uint64_t bytes) {
  if (bell_->awaited[kind].exchange(true)) return;
  budget_->WhenFree(bytes, [bell = bell_, kind] {
    bell->awaited[kind] = false;
    const std::lock_guard lock(bell->mutex);
    if (bell->ring) bell->ring();
  });
}

bool ReceiveRoom::Start(uint64_t bytes, bool forced, ByteLease& lease) {
  if (budget_ == nullptr) return true;
  lease = ByteLease(*budget_);
  if (lease.TryGrow(bytes, leave_fetch_)) return true;
  if (forced) {
    lease.Grow(bytes);
    return true;
  }
  Await(kFetch, bytes + leave_fetch_);
  return false;
}

ReceiveRoom::Line& ReceiveRoom::LineOf(const Exchange& exchange, uint64_t bytes) {
  return std::max(exchange.promised_bytes(), exchange.lease().bytes() + bytes) <= small_bytes_ ? small_ : large_;
}

uint64_t ReceiveRoom::LeaveOfSeat(const Line& line) const {
  if (&line == &small_) return leave_small_seat_;
  return moved_ != nullptr ? leave_moved_ : leave_fetch_;
}

uint64_t ReceiveRoom::LeaveOf(const Line& line) const {
  return line.leave + std::min((max_running_ - running_) * kFirstBytes, budget_->total() / 8);
}

bool ReceiveRoom::MayElect(const Line& line, const Exchange& exchange) const {
  if (line.elected != nullptr || holding_ || budget_->free() < LeaveOfSeat(line)) return false;
  return &line == &large_ || moved_ == nullptr || exchange.promised_bytes() > 0;
}

void ReceiveRoom::NoteLarge(const Exchange& exchange) {
  if (moved_ != &exchange && small_.elected != &exchange) return;
  (moved_ == &exchange ? moved_ : small_.elected) = nullptr;
  if (!small_.stalled.empty()) Ring();
}

bool ReceiveRoom::Grow(Exchange& exchange, uint64_t bytes) {
  if (budget_ == nullptr) return true;
  Line& line = LineOf(exchange, bytes);
  if (line.elected != &exchange) {
    if (!line.stalled.empty()) return false;  // those that wait come first
    if (!exchange.lease().TryGrow(bytes, LeaveOf(line))) {
      if (!MayElect(line, exchange)) return false;
      line.elected = &exchange;
      exchange.lease().Grow(bytes);
    }
    if (&line == &large_) NoteLarge(exchange);
    return true;
  }
  exchange.lease().Grow(bytes);
  return true;
}

void ReceiveRoom::Stall(Exchange& exchange) {
  exchange.Stall();
  Line* line = &LineOf(exchange, kPiece);
  if (small_.elected == &exchange) {  // it is refused only what makes it large
    line = &large_;
    small_.elected = nullptr;
    moved_ = &exchange;
    if (!small_.stalled.empty()) Ring();
  }
  line->stalled.push_back(&exchange);
  AwaitRoom(*line);
}

void ReceiveRoom::AwaitRoom(const Line& line) {
  Await(line.kind, kPiece + LeaveOf(line));
  if (line.elected == nullptr && !holding_) Await(line.seat, LeaveOfSeat(line));
}

std::vector<Exchange*> ReceiveRoom::TakeFrom(Line& line) {
  if (line.stalled.empty()) return {};
  const Exchange* favoured = moved_turn_ ? moved_ : nullptr;
  std::ranges::stable_sort(line.stalled, {}, [favoured](const Exchange* exchange) {
    return std::tuple(exchange != favoured, exchange->promised_bytes() == 0, exchange->begin_ns());
  });
  size_t count = 0;
  if (MayElect(line, *line.stalled.front())) {
    line.elected = line.stalled.front();
    line.elected->lease().Grow(kPiece);
    ++count;
    if (&line == &large_) moved_turn_ = !moved_turn_;
  }
  while (count < line.stalled.size() && line.stalled[count]->lease().TryGrow(kPiece, LeaveOf(line))) ++count;
  const auto end = line.stalled.begin() + static_cast<ptrdiff_t>(count);
  std::vector<Exchange*> resumable(line.stalled.begin(), end);
  line.stalled.erase(line.stalled.begin(), end);
  for (Exchange* exchange : resumable) {
    if (&line == &large_) NoteLarge(*exchange);
    exchange->Resume();
  }
  if (!line.stalled.empty()) AwaitRoom(line);
  return resumable;
}

bool ReceiveRoom::MayDeliver() {
  if (budget_ == nullptr || budget_->free() > 0) return true;
  Await(kPage, 1);
  return false;
}

void ReceiveRoom::Forget(Exchange& exchange) {
  if (budget_ == nullptr) return;
  NoteLarge(exchange);  // or nothing at all, which is as good
  for (Line* line : {&small_, &large_}) {
    if (exchange.stalled()) std::erase(line->stalled, &exchange);
    if (line->elected != &exchange) continue;
    line->elected = nullptr;
    if (!line->stalled.empty()) Ring();  // the next one is elected
  }
}

void ReceiveRoom::HoldElections(bool hold) {
  if (std::exchange(holding_, hold) == hold || hold) return;
  if (!small_.stalled.empty() || !large_.stalled.empty()) Ring();
}

void ReceiveRoom::Ring() {
  const std::lock_guard lock(bell_->mutex);
  bell_->ring();
}

bool ReceiveRoom::tight() const { return budget_ != nullptr && budget_->free() < LeaveOf(large_) + kPiece; }

}  // namespace portolan
