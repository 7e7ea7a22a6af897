// Rng: random numbers from a seed, the same on every machine (xoshiro256**).
//
// The standard's engines are portable but its distributions are not; these are. FromSystem is for what must never be
// repeated, in this or any other process: it begins with 256 bits of the system's random source. Not for secrets, which
// SystemRandomWords gives.
//
// Thread: one owner.

#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/hash.h"
#include "base/result.h"

namespace portolan {

// 256 bits of the system's random source, fit for a secret. kIo if the system has none.
Result<std::array<uint64_t, 4>> SystemRandomWords();

class Rng {
 public:
  using result_type = uint64_t;

  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = Mix64(seed += 0x9e3779b97f4a7c15);
  }

  // kIo where the system has no random source.
  static Result<Rng> FromSystem();

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() { return Next(); }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 … bound-1; the bias of at most bound / 2^64 does not matter here. 0 for bound 0.
  uint64_t Below(uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Next()) * bound) >> 64);
  }

  // [0, 1)
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  explicit Rng(const std::array<uint64_t, 4>& state) : state_(state) {}

  std::array<uint64_t, 4> state_;
};

}  // namespace portolan
