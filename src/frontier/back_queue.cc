#include "frontier/back_queue.h"

#include <algorithm>

#include "base/check.h"

namespace portolan {
namespace {

// With fewer bytes, a block's frame and reference would cost more than is freed.
constexpr size_t kWorthSpilling = 2048;

}  // namespace

BackQueue::Rest& BackQueue::GetRest() {
  if (!rest_) rest_ = std::make_unique<Rest>();
  return *rest_;
}

size_t BackQueue::ram_bytes() const {
  constexpr size_t kDequeMinimum = 640;  // libstdc++: a map and one chunk
  size_t bytes = head_.ram_bytes();
  if (rest_) {
    bytes += sizeof(Rest) + kDequeMinimum + rest_->blocks.size() * sizeof(SpillRef) + rest_->tail.ram_bytes();
  }
  if (later_) {
    bytes += sizeof(*later_) + later_->capacity() * sizeof(Later);
    for (const Later& later : *later_) bytes += later.record.capacity();
  }
  return bytes;
}

void BackQueue::PushInRam(std::string_view record, const Limits& limits) {
  if (!rest_ && (head_.empty() || head_.bytes() < limits.head_bytes)) {
    head_.PushBack(record);
  } else {
    GetRest().tail.PushBack(record);
  }
}

Status BackQueue::Push(std::string_view record, const Limits& limits, SpillLog& spill) {
  if (rest_ && rest_->tail.bytes() >= limits.block_bytes) RETURN_IF_ERROR(WriteTail(spill));
  PushInRam(record, limits);
  return {};
}

void BackQueue::PushLater(std::string_view record, int64_t not_before_ns) {
  if (!later_) later_ = std::make_unique<std::vector<Later>>();
  // Equal times keep their order.
  const auto place = std::upper_bound(later_->begin(), later_->end(), not_before_ns,
                                      [](int64_t time, const Later& later) { return time < later.not_before_ns; });
  later_->insert(place, {not_before_ns, std::string(record)});
}

int64_t BackQueue::ReadyAt(size_t max_later) const {
  if (later_count() == 0) return kAtOnce;
  const bool only_later = head_.empty() && !rest_;
  return only_later || later_count() >= max_later ? later_->front().not_before_ns : kAtOnce;
}

Status BackQueue::WriteTail(SpillLog& spill) {
  RecordBlockBuilder block;
  rest_->tail.ForEach([&](std::string_view record) { block.Add(record); });
  ASSIGN_OR_RETURN(const SpillRef ref, spill.Append(block));
  rest_->blocks.push_back(ref);
  rest_->on_disk += ref.records;
  rest_->tail.Clear();
  return {};
}

Status BackQueue::Refill(SpillLog& spill) {
  if (!rest_ || head_.count() > 1) return {};
  if (!rest_->blocks.empty()) {
    const SpillRef ref = rest_->blocks.front();
    RETURN_IF_ERROR(spill.Read(ref, head_));
    spill.Free(ref);
    rest_->blocks.pop_front();
    rest_->asked = false;
    rest_->on_disk -= ref.records;
  } else {
    rest_->tail.ForEach([&](std::string_view record) { head_.PushBack(record); });
    rest_->tail.Clear();
  }
  if (rest_->blocks.empty() && rest_->tail.empty()) rest_.reset();
  return {};
}

void BackQueue::AskAhead(SpillLog& spill) {
  if (!rest_ || rest_->asked || rest_->blocks.empty() || head_.count() > kAskAhead) return;
  spill.WillNeed(rest_->blocks.front());
  rest_->asked = true;
}

Status BackQueue::Pop(int64_t now_ns, SpillLog& spill, std::string& record) {
  DCHECK(!empty());
  if (later_ && later_->front().not_before_ns <= now_ns) {
    record = std::move(later_->front().record);
    later_->erase(later_->begin());
    if (later_->empty()) later_.reset();
    return {};
  }
  RETURN_IF_ERROR(Refill(spill));
  CHECK(!head_.empty());
  record.assign(head_.front());
  head_.PopFront();
  AskAhead(spill);
  return {};
}

std::string_view BackQueue::Any() const {
  if (!head_.empty()) return head_.front();
  return later_ ? std::string_view(later_->front().record) : rest_->tail.front();
}

Result<bool> BackQueue::Spill(SpillLog& spill) {
  if (rest_ && rest_->tail.bytes() >= kWorthSpilling && rest_->tail.bytes() >= head_.bytes()) {
    RETURN_IF_ERROR(WriteTail(spill));
    return true;
  }
  if (head_.bytes() < kWorthSpilling || head_.count() < 2) return false;
  // The newer three quarters of the head go to a block that comes before all others.
  const uint32_t keep = std::max<uint32_t>(2, head_.count() / 4);
  if (keep >= head_.count()) return false;
  RecordBlockBuilder block;
  uint32_t at = 0;
  head_.ForEach([&](std::string_view record) {
    if (at++ >= keep) block.Add(record);
  });
  ASSIGN_OR_RETURN(const SpillRef ref, spill.Append(block));
  head_.CutAfter(keep);
  Rest& rest = GetRest();
  rest.blocks.push_front(ref);
  rest.asked = false;
  rest.on_disk += ref.records;
  return true;
}

void BackQueue::RestoreBlock(const SpillRef& ref) {
  Rest& rest = GetRest();
  rest.blocks.push_back(ref);
  rest.on_disk += ref.records;
}

}  // namespace portolan
