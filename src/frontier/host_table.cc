#include "frontier/host_table.h"

#include <algorithm>
#include <bit>

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
  const bool fresh = numbers_.emplace(key, id).second;
  CHECK(fresh);
  hosts_[id].key = key;
  hosts_[id].state = HostState::kLingering;
  Count(id);
  return id;
}

void HostTable::Erase(uint32_t id) {
  Host& host = hosts_[id];
  CHECK(host.state != HostState::kFree && host.queue.empty() && host.place == TimedHeap::kOutside && host.ip == kNoIp);
  Unlink(id);
  ram_bytes_ -= host.counted_bytes;
  numbers_.erase(host.key);
  const uint32_t generation = host.generation + 1;
  host = Host();
  host.generation = generation;
  free_.push_back(id);
}

void HostTable::Count(uint32_t id) {
  Host& host = hosts_[id];
  const size_t bytes =
      kHostBytes + host.queue.ram_bytes() + host.in_flight.capacity() + host.addresses.capacity() * sizeof(Address);
  ram_bytes_ += bytes - host.counted_bytes;
  host.counted_bytes = static_cast<uint32_t>(bytes);
  urls_ += host.queue.size() - host.counted_urls;
  host.counted_urls = host.queue.size();
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
