// The constants of dictionary files: docs/formats/url_dictionary.md.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace portolan::graph {

inline constexpr std::string_view kUrlDictionaryMagic = "PTLUDICT";
inline constexpr uint32_t kUrlDictionaryVersion = 1;
// Keys of a data block, entries of an index block: all are full but the last one of each level.
inline constexpr uint64_t kUrlDictionaryFanout = 64;
inline constexpr size_t kUrlDictionaryFooterSize = 44;
// Levels above the data blocks: 64^11 keys are more than 64 bits can count.
inline constexpr uint32_t kUrlDictionaryMaxLevels = 10;

// The checksum of a block covers where it belongs, so that a block in the place of another one is found out.
inline uint32_t UrlDictionaryChecksum(uint32_t level, uint64_t position, std::string_view block) {
  char place[12];
  StoreLe<uint32_t>(place, level);
  StoreLe<uint64_t>(place + 4, position);
  return Crc32c(block, Crc32c(std::string_view(place, sizeof place)));
}

}  // namespace portolan::graph
