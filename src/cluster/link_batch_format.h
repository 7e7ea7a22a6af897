// The bytes of a link batch: docs/formats/link_stream.md. Never renumber.

#pragma once

#include <cstddef>
#include <cstdint>

namespace portolan {

inline constexpr uint32_t kLinkBatchMagic = 0x424c5450;  // "PTLB"
inline constexpr uint8_t kLinkBatchVersion = 1;

// OFFSET  SIZE  FIELD
//      0     4  magic
//      4     1  version
//      5     1  codec: 0 none, 2 zstd
//      6     2  receiver, a shard
//      8     2  sender, a shard
//     10     2  zero
//     12     4  number of messages
//     16     8  epoch of the sender's claim, at least 1
//     24     8  number of the batch within that epoch and to that receiver, at least 1
//     32     8  id of the cluster
//     40     4  size of the body before compression
//     44     4  CRC32C of bytes 0 to 43 and of the body
inline constexpr size_t kLinkBatchHeader = 48;
inline constexpr size_t kLinkBatchCrcAt = 44;

// A batch is closed before its body would exceed this, unless one message alone does.
inline constexpr uint64_t kLinkBatchTarget = 64 * 1024;
// No body is larger. nats-server takes 1 MiB (max_payload) with its headers.
inline constexpr uint64_t kMaxLinkBatchBody = 768 * 1024;
inline constexpr uint64_t kMaxLinkMessage = kMaxLinkBatchBody - 16;

// A sender sends batch n only when all batches up to n - kLinkWindow are stored. So a receiver knows that what is
// missing further back is lost, and needs as many bits per sender.
inline constexpr uint64_t kLinkWindow = 256;

// Numbers and epochs are 1 to this.
inline constexpr uint64_t kMaxLinkNumber = uint64_t{1} << 62;

}  // namespace portolan
