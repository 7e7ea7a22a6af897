#include "frontier/host_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace portolan {

uint32_t HostTable::Find(uint64_t key) const {
  const auto found = numbers_.find(key);
  return found == numbers_.end() ? kNoHost : found->second;
}

uint32_t HostTable::Insert(uint64_t key) {
  uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<uint32_t>(hosts_.size());
    hosts_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  BeforeChange(id);  // it was free when the picture began, so it is not in the picture
  const bool fresh = numbers_.emplace(key, id).second;
  CHECK(fresh);
  hosts_[id].key = key;
  hosts_[id].state = HostState::kLingering;
  Count(id);
  return id;
}

void HostTable::BeginPicture(std::function<void(const Host&)> save) {
  CHECK(!taking_picture());
  save_ = std::move(save);
  picture_at_ = 0;
  unsaved_.assign((slots() + 63) / 64, ~uint64_t{0});
  // Slots that are added later are not in the picture.
  if (slots() % 64 != 0) unsaved_.back() = (uint64_t{1} << (slots() % 64)) - 1;
}

void HostTable::Save(uint32_t id) {
  uint64_t& word = unsaved_[id / 64];
  const uint64_t bit = uint64_t{1} << (id % 64);
  if ((word & bit) == 0) return;
  word &= ~bit;
  if (hosts_[id].state != HostState::kFree) save_(hosts_[id]);
}

bool HostTable::ContinuePicture(uint32_t slots) {
  if (!taking_picture()) return false;
  const auto end = static_cast<uint32_t>(unsaved_.size() * 64);
  for (; slots > 0 && picture_at_ < end; --slots, ++picture_at_) Save(picture_at_);
  if (picture_at_ < end) return true;
  save_ = nullptr;
  unsaved_.clear();
  return false;
}

void HostTable::Erase(uint32_t id) {
  BeforeChange(id);
  Host& host = hosts_[id];
  CHECK(host.state != HostState::kFree && host.queue.empty() && host.flights.empty() &&
        host.place == TimedHeap::kOutside && host.ip == kNoIp);
  Unlink(id);
  ram_bytes_ -= host.counted_bytes;
  numbers_.erase(host.key);
  host = Host();
  free_.push_back(id);
}

void HostTable::Count(uint32_t id) {
  Host& host = hosts_[id];
  size_t bytes = kHostBytes + host.queue.ram_bytes() + host.addresses.capacity() * sizeof(Address) +
                 host.flights.capacity() * sizeof(Flight);
  for (const Flight& flight : host.flights) bytes += flight.record.capacity();
  ram_bytes_ += bytes - host.counted_bytes;
  host.counted_bytes = static_cast<uint32_t>(bytes);
  const uint64_t urls = host.queue.size();
  urls_ += urls - host.counted_urls;
  near_urls_ += std::min(urls, kNear) - std::min(host.counted_urls, kNear);
  host.counted_urls = urls;
  const int width = std::bit_width(host.queue.spillable_bytes());
  const auto ram_class = static_cast<uint8_t>(width < kSmallestClass ? 0 : std::min(width, kClasses - 1));
  if (ram_class == host.ram_class) return;
  Unlink(id);
  Link(id, ram_class);
}

void HostTable::Unlink(uint32_t id) {
  Host& host = hosts_[id];
  if (host.ram_class == 0) return;
  if (host.class_after != kNoHost) hosts_[host.class_after].class_before = host.class_before;
  if (host.class_before != kNoHost) {
    hosts_[host.class_before].class_after = host.class_after;
  } else {
    classes_[host.ram_class] = host.class_after;
  }
  host.class_before = host.class_after = kNoHost;
  host.ram_class = 0;
}

void HostTable::Link(uint32_t id, uint8_t ram_class) {
  if (ram_class == 0) return;
  Host& host = hosts_[id];
  host.ram_class = ram_class;
  host.class_after = classes_[ram_class];
  if (host.class_after != kNoHost) hosts_[host.class_after].class_before = id;
  classes_[ram_class] = id;
}

uint32_t HostTable::Largest() const {
  for (int ram_class = kClasses - 1; ram_class >= kSmallestClass; --ram_class) {
    if (classes_[static_cast<size_t>(ram_class)] != kNoHost) return classes_[static_cast<size_t>(ram_class)];
  }
  return kNoHost;
}

}  // namespace portolan
