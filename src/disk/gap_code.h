// Sorted 64-bit keys in few bits: Rice-coded gaps.
//
// The keys of a DRUM are hashes, so the gaps between sorted neighbours are geometric with mean g = 2^64/n. A Rice code
// with l = floor(log2(g ln 2)) remainder bits spends at most log2(g) + 1.6 bits per key; the minimum of any code is
// log2(g) + 1.44. The remainders (fixed width) and the quotients (unary) are kept apart so that both sides run without
// data-dependent branches on the width: decoding takes about 3 ns per key.
//
// Layout for n keys, n > 0:
//   first key u64 | l u8 | (n-1) remainders of l bits | (n-1) quotients: that many zeros, then a one | 16 zero bytes
// Bits are filled from the low end of each byte; remainders and quotients each begin at a byte. A gap is stored less 1.
// The zero bytes let a reader load 16 bytes at any bit of the code without a bounds check.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace portolan {

// REQUIRES: keys strictly rising, not empty.
void AppendGapCoded(std::span<const uint64_t> keys, std::string& out);

// Decodes `count` keys from the front of `bytes` to `keys` and returns how many bytes they took. Returns 0 when the
// bytes are not a valid code of that many strictly rising keys; `keys` is undefined then. Never reads past `bytes`.
size_t DecodeGapCoded(std::string_view bytes, size_t count, uint64_t* keys);

}  // namespace portolan
