// OpenConnections: how many connections are open to each host (or to each address) at once.
//
// REQUIRES: events in the order of time. Thread: one owner.
// Memory: about 150 bytes for each place of an open connection.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace portolan::sim {

class OpenConnections {
 public:
  // The connection is open to the place from now on. Returns how many are, including it; 0 if it was open already.
  uint32_t Open(uint64_t connection, std::string_view place) {
    const uint64_t key = Hash64(place);
    std::vector<uint64_t>& places = places_[connection];
    if (std::ranges::find(places, key) != places.end()) return 0;
    places.push_back(key);
    return ++open_[key];
  }

  void Close(uint64_t connection) {
    const auto found = places_.find(connection);
    if (found == places_.end()) return;
    for (const uint64_t place : found->second) {
      const auto at = open_.find(place);
      if (--at->second == 0) open_.erase(at);
    }
    places_.erase(found);
  }

  bool IsOpen(uint64_t connection) const { return places_.contains(connection); }

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> places_;  // by connection: where it is open to, as Hash64
  std::unordered_map<uint64_t, uint32_t> open_;                 // connections by place
};

}  // namespace portolan::sim
