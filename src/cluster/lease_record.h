// LeaseRecord: who holds a shard, as the bucket says (key shard.K). Text, so that any NATS client shows it:
//
//   "v1 epoch=7 holder=00000000000000ff beat=12 node=alpha"     held
//   "v1 epoch=7 holder=0000000000000000 beat=13 node=-"         free: given back
//
// A record is replaced, never removed, so epochs only grow.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portolan {

struct LeaseRecord {
  uint64_t epoch = 0;   // of the claim: one more with each
  uint64_t holder = 0;  // random number of the holding process; 0: free
  uint64_t beat = 0;    // which write of that process this is
  std::string node;     // the holder's name, for people

  bool operator==(const LeaseRecord&) const = default;
};

std::string EncodeLease(const LeaseRecord& record);
// Nothing if it is not a record.
std::optional<LeaseRecord> DecodeLease(std::string_view text);

}  // namespace portolan
