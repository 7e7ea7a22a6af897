#include "base/bytes.h"

namespace portolan {

bool ByteReader::ReadVarint(uint64_t& value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (!Has(1)) return false;
    const auto byte = static_cast<uint8_t>(*at_++);
    const uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) break;
    result |= bits << shift;
    if ((byte & 0x80) == 0) {
      value = result;
      return true;
    }
  }
  ok_ = false;
  return false;
}

}  // namespace portolan
