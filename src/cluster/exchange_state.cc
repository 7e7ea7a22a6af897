#include "cluster/exchange_state.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "cluster/link_batch.h"
#include "disk/summed_format.h"

namespace portolan {
namespace {

// OFFSET  SIZE  FIELD                                        never renumber
//      0     4  magic
//      4     1  version
//      5     3  zero
//      8     4  CRC32C of what follows
//     12     2  shard
//     14     2  number of shards
//     16     8  id of the cluster
//     24        varint: length of the position, then the position (docs/formats/link_stream.md); for each batch varints
//               of its receiver and its length, then the batch
constexpr uint8_t kStateVersion = 1;

}  // namespace

std::string ExchangeState::Encode() const {
  std::string out;
  AppendLe<uint32_t>(out, kExchangeStateMagic);
  AppendLe<uint32_t>(out, kStateVersion);
  AppendLe<uint32_t>(out, 0);
  AppendLe<uint16_t>(out, static_cast<uint16_t>(shard));
  AppendLe<uint16_t>(out, static_cast<uint16_t>(shards));
  AppendLe<uint64_t>(out, cluster);
  AppendString(out, position.Encode());
  for (const auto& [to, batch] : outbox) {
    AppendVarint(out, to);
    AppendString(out, batch);
  }
  StoreLe<uint32_t>(out.data() + kSummedCrcAt, Crc32c(std::string_view(out).substr(kSummedBodyAt)));
  return out;
}

Result<ExchangeState> ExchangeState::Decode(std::string_view bytes) {
  const auto bad = [](std::string_view why) {
    return Fail(ErrorCode::kCorrupt, fmt::format("not the state of an exchange: {}", why));
  };
  ByteReader reader(bytes);
  ExchangeState state;
  uint32_t magic = 0, version = 0, crc = 0;
  uint16_t shard = 0, shards = 0;
  if (!reader.Read(magic) || !reader.Read(version) || !reader.Read(crc)) return bad("too short");
  if (magic != kExchangeStateMagic) return bad("another magic number");
  if (version != kStateVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("a state of an exchange of version {}: this program reads {}", version, kStateVersion));
  }
  if (Crc32c(bytes.substr(kSummedBodyAt)) != crc) return bad("checksum differs");
  std::string_view position;
  if (!reader.Read(shard) || !reader.Read(shards) || !reader.Read(state.cluster) || !reader.ReadString(position)) {
    return bad("too short");
  }
  if (shard >= shards) return bad("a field has no valid value");
  state.shard = shard;
  state.shards = shards;
  ASSIGN_OR_RETURN(state.position, LinkPosition::Decode(position));
  LinkBatchReader batches;
  while (!reader.done()) {
    uint64_t to = 0;
    std::string_view batch;
    if (!reader.ReadVarint(to) || !reader.ReadString(batch)) return bad("a batch is cut");
    RETURN_IF_ERROR(batches.Decode(batch));
    const LinkBatchHeader& header = batches.header();
    if (to >= shards || to == shard || header.receiver != to || header.sender != shard ||
        header.cluster != state.cluster) {
      return bad("a batch of others");
    }
    state.outbox.emplace_back(static_cast<uint32_t>(to), batch);
  }
  return state;
}

}  // namespace portolan
