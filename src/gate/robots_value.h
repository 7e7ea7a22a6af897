// The values of the gate's two DRUMs, and what a further update does to them. On disk.
//   RobotsCache       u48 position, u32 expires (unix seconds): a RobotsRef
//   RobotsRequested   u32 asked (unix seconds)

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "flow/url_record.h"
#include "gate/gate_types.h"

namespace portolan {

inline constexpr size_t kRobotsValueSize = 10;
using RobotsValue = std::array<char, kRobotsValueSize>;

inline RobotsValue EncodeRobotsRef(const RobotsRef& ref) {
  RobotsValue value;
  StoreLe<uint32_t>(value.data(), static_cast<uint32_t>(ref.position));
  StoreLe<uint16_t>(value.data() + 4, static_cast<uint16_t>(ref.position >> 32));
  StoreLe<uint32_t>(value.data() + 6, ref.expires);
  return value;
}

// REQUIRES: ten bytes.
inline RobotsRef DecodeRobotsRef(const char* value) {
  return {.position = LoadLe<uint32_t>(value) | uint64_t{LoadLe<uint16_t>(value + 4)} << 32,
          .expires = LoadLe<uint32_t>(value + 6)};
}

inline bool IsUnreachable(uint64_t position) {
  return position >= kRobotsUnreachable && position <= kRobotsUnreachableMost;
}

// The newer answer wins. An origin that is unreachable again counts up, but not if the answer came before the last one
// expired (it was asked twice); after `forget_s` it counts from the beginning.
inline RobotsRef CombineRobots(const RobotsRef& stored, RobotsRef incoming, uint32_t unreachable_ttl_s,
                               uint32_t forget_s) {
  if (!IsUnreachable(stored.position) || !IsUnreachable(incoming.position)) return incoming;
  if (incoming.expires < uint64_t{stored.expires} + unreachable_ttl_s) {
    incoming.position = std::max(stored.position, incoming.position);
    incoming.expires = std::max(stored.expires, incoming.expires);
  } else if (incoming.expires <= uint64_t{stored.expires} + unreachable_ttl_s + forget_s) {
    incoming.position = std::min(std::max(stored.position + 1, incoming.position), kRobotsUnreachableMost);
  }
  return incoming;
}

// Is an origin that was asked at `stored` to be asked again at `asked`?
inline bool AskAgain(uint32_t stored, uint32_t asked, uint32_t timeout_s) {
  return asked >= uint64_t{stored} + timeout_s;
}

}  // namespace portolan
