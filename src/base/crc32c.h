// CRC32C (Castagnoli): the checksum of every block and record on disk.
//
// ISA-L computes it at memory speed and picks the instruction set at run time.

#pragma once

#include <cstdint>
#include <string_view>

namespace portolan {

// Crc32c(b, Crc32c(a)) == Crc32c(a + b).
uint32_t Crc32c(std::string_view bytes, uint32_t previous = 0);

}  // namespace portolan
