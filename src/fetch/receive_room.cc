#include "fetch/receive_room.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "fetch/exchange.h"

namespace portolan {
namespace {

constexpr uint64_t kPiece = uint64_t{64} << 10;  // that one who goes on holds more

}  // namespace

// Outlives the room where the budget still knows it.
struct ReceiveRoom::Bell {
  std::mutex mutex;
  std::function<void()> ring;  // guarded by mutex; empty: the room is gone
  std::array<std::atomic<bool>, kKinds> awaited{};
};

ReceiveRoom::ReceiveRoom(const FetchOptions& options, std::function<void()> on_free)
    : budget_(options.budget), bell_(std::make_shared<Bell>()) {
  bell_->ring = std::move(on_free);
  if (budget_ == nullptr) return;
  const uint64_t total = budget_->total();
  const uint64_t reserve = std::min(options.loops * options.limits.max_body, total / 4);
  leave_fetch_ = total / 4 + reserve;
  leave_body_ = leave_fetch_ + total / 8;
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

bool ReceiveRoom::Grow(Exchange& exchange, uint64_t bytes) {
  if (budget_ == nullptr) return true;
  if (elected_ != &exchange) {
    // Those that wait come first.
    if (stalled_.empty() && exchange.lease().TryGrow(bytes, leave_body_)) return true;
    if (elected_ != nullptr || holding_ || !stalled_.empty()) return false;
    elected_ = &exchange;
  }
  exchange.lease().Grow(bytes);
  return true;
}

void ReceiveRoom::Stall(Exchange& exchange) {
  exchange.Stall();
  stalled_.push_back(&exchange);
  Await(kBody, kPiece + leave_body_);
}

std::vector<Exchange*> ReceiveRoom::TakeResumable() {
  if (stalled_.empty()) return {};
  std::ranges::stable_sort(stalled_, {}, [](const Exchange* exchange) { return exchange->begin_ns(); });
  size_t count = 0;
  if (elected_ == nullptr && !holding_) {
    elected_ = stalled_.front();
    elected_->lease().Grow(kPiece);
    ++count;
  }
  while (count < stalled_.size() && stalled_[count]->lease().TryGrow(kPiece, leave_body_)) ++count;
  const auto end = stalled_.begin() + static_cast<ptrdiff_t>(count);
  std::vector<Exchange*> resumable(stalled_.begin(), end);
  stalled_.erase(stalled_.begin(), end);
  for (Exchange* exchange : resumable) exchange->Resume();
  if (!stalled_.empty()) Await(kBody, kPiece + leave_body_);
  return resumable;
}

bool ReceiveRoom::MayDeliver() {
  if (budget_ == nullptr || budget_->free() > 0) return true;
  Await(kPage, 1);
  return false;
}

void ReceiveRoom::Forget(Exchange& exchange) {
  if (budget_ == nullptr) return;
  if (exchange.stalled()) std::erase(stalled_, &exchange);
  if (elected_ != &exchange) return;
  elected_ = nullptr;
  if (stalled_.empty()) return;
  const std::lock_guard lock(bell_->mutex);
  bell_->ring();  // the next one is elected
}

void ReceiveRoom::HoldElections(bool hold) {
  if (std::exchange(holding_, hold) == hold || hold || stalled_.empty()) return;
  const std::lock_guard lock(bell_->mutex);
  bell_->ring();
}

bool ReceiveRoom::tight() const { return budget_ != nullptr && budget_->free() < leave_body_ + kPiece; }

}  // namespace portolan
