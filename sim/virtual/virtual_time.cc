#include "sim/virtual/virtual_time.h"

#include <algorithm>
#include <utility>

namespace portolan::sim {

void VirtualTime::At(int64_t time_ns, std::function<void()> callback) {
  uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(callbacks_.size());
    callbacks_.push_back(std::move(callback));
  } else {
    slot = free_.back();
    free_.pop_back();
    callbacks_[slot] = std::move(callback);
  }
  heap_.push_back({std::max(time_ns, now_ns_), sequence_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

bool VirtualTime::Step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  const Event event = heap_.back();
  heap_.pop_back();
  // Out of its slot before it runs: it may add events, and those may want the slot.
  const std::function<void()> callback = std::exchange(callbacks_[event.slot], nullptr);
  free_.push_back(event.slot);
  now_ns_ = event.time_ns;
  ++steps_;
  callback();
  return true;
}

void VirtualTime::RunUntil(int64_t time_ns) {
  while (!heap_.empty() && heap_.front().time_ns <= time_ns) Step();
  now_ns_ = std::max(now_ns_, time_ns);
}

}  // namespace portolan::sim
