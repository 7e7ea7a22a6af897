// ExchangeState: what a shard's checkpoint keeps of its exchange, as one file: the position in its own stream, and the
// outbox, batches for other shards that are not known to be in their streams.
//
// Format: docs/formats/exchange_state.md.
//
// Pure. Memory bound: the whole file, which is about as large as the windows of the sender.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/link_receiver.h"

namespace portolan {

struct ExchangeState {
  uint64_t cluster = 0;
  uint32_t shard = 0;
  uint32_t shards = 0;
  LinkPosition position;
  std::vector<std::pair<uint32_t, std::string>> outbox;  // receiver and batch, in their order

  std::string Encode() const;
  // kCorrupt: not a state, or not as it was written. kUnsupported: of a later version.
  static Result<ExchangeState> Decode(std::string_view bytes);
};

}  // namespace portolan
