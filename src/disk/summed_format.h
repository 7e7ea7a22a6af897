// Small files that are read whole, of modules that disk does not know: enough is known of them here to check that they
// are intact.
//
// OFFSET  SIZE  FIELD                             never renumber
//      0     4  magic
//      4     4  version, little-endian
//      8     4  CRC32C of what follows

#pragma once

#include <cstddef>
#include <cstdint>

namespace portolan {

inline constexpr size_t kSummedCrcAt = 8;
inline constexpr size_t kSummedBodyAt = 12;
inline constexpr uint32_t kExchangeStateMagic = 0x53584c50;  // "PLXS": cluster/exchange_state.h

}  // namespace portolan
