// The unkeyed 64-bit hash of byte strings, which anyone can compute, and the mixing of numbers.
//
// Hash64 is XXH3-64 with seed 0, for what is compared beyond one crawl (the fingerprint of a page in the crawl log) and
// what outsiders cannot choose; its values are on disk and never change. What outsiders can choose (URLs, hosts,
// origins, domains, addresses) is hashed with the crawl's key: base/hash_key.h.

#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace portolan {

inline uint64_t Hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

inline uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// A bijection of 64-bit numbers in which each input bit changes half of the output bits (splitmix64's finaliser).
constexpr uint64_t Mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace portolan
