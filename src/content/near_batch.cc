#include "content/near_batch.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"

namespace portolan {

NearBatch::NearBatch(std::span<const uint64_t> hashes, int bits) : bits_(bits) {
  CHECK(bits >= 0 && bits <= kMostBits && hashes.size() < (uint64_t{1} << 32));
  for (int block = 0; block <= bits; ++block) {
    Copy& copy = copies_.emplace_back();
    copy.rotation = 64 * block / (bits + 1);
    copy.width = 64 * (block + 1) / (bits + 1) - copy.rotation;
    copy.places.resize(hashes.size());
    std::iota(copy.places.begin(), copy.places.end(), 0U);
    const auto key = [&](uint32_t place) { return std::rotl(hashes[place], copy.rotation); };
    std::ranges::sort(copy.places, {}, key);
    copy.keys.reserve(hashes.size());
    for (const uint32_t place : copy.places) copy.keys.push_back(key(place));
    const int index = IndexBits(copy.width);
    copy.begins.resize((size_t{1} << index) + 1);
    for (const uint64_t each : copy.keys) ++copy.begins[(each >> (64 - index)) + 1];
    std::partial_sum(copy.begins.begin(), copy.begins.end(), copy.begins.begin());
  }
}

const std::vector<uint32_t>& NearBatch::Near(uint64_t hash) {
  found_.clear();
  uint64_t earlier[kMostBits + 1] = {};  // the blocks before, unrotated
  int before = 0;
  for (const Copy& copy : copies_) {
    const int index = IndexBits(copy.width);
    const uint64_t key = std::rotl(hash, copy.rotation);
    const size_t slot = key >> (64 - index);
    for (uint32_t i = copy.begins[slot]; i < copy.begins[slot + 1]; ++i) {
      const uint64_t differing = key ^ copy.keys[i];
      if (std::popcount(differing) > bits_ || differing == 0) continue;
      // The whole block must be equal, or another copy reports it; and no earlier copy has reported it.
      if (differing >> (64 - copy.width) != 0) continue;
      const uint64_t plain = std::rotr(differing, copy.rotation);
      if (std::ranges::all_of(earlier, earlier + before, [plain](uint64_t mask) { return (plain & mask) != 0; })) {
        found_.push_back(copy.places[i]);
      }
    }
    const uint64_t top = ~uint64_t{0} << (64 - copy.width);
    earlier[before++] = std::rotr(top, copy.rotation);
  }
  return found_;
}

}  // namespace portolan
