#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace portolan {

uint32_t Crc32c(std::string_view bytes, uint32_t previous) {
  constexpr size_t kPiece = size_t{1} << 30;  // ISA-L takes the length as int
  uint32_t crc = ~previous;
  while (!bytes.empty()) {
    const size_t length = std::min(bytes.size(), kPiece);
    // The library's signature lacks const; it only reads.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(length), crc);
    bytes.remove_prefix(length);
  }
  return ~crc;
}

}  // namespace portolan
