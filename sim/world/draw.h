// Draws: random choices that depend only on the seed, on what is drawn, and on for what it is drawn.
//
// Every property of the world is one of these, so that it can be computed again at any time without being stored. exp
// and log are written out, because those of the C library differ in their last bit between machines, and a world must
// be the same everywhere.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/hash.h"

namespace portolan::sim {

// What is drawn: one salt per question, so that answers are independent.
enum class Salt : uint64_t {
  kDomainName = 1,
  kDomainHosts,
  kDomainSize,
  kDomainAddress,
  kDomainLanguage,
  kFriends,
  kFriendCount,
  kHostName,
  kHostTrouble,
  kHostDns,
  kHostTls,
  kHostNet,
  kHostRobots,
  kHostMask,
  kHostStyle,
  kHostMirror,
  kHostTraps,
  kPagePath,
  kPageKind,
  kPageFault,
  kPageLoop,
  kPageLinks,
  kPageRedirect,
  kPageSource,
  kPageSize,
  kPageText,
  kPageWire,
  kChangeRate,
  kChange,
  kTrap,
  kSpam,
  kSpamHost,
  kText,
  kNavigation,
  kMaze,
  kBirth,
  kDeath,
  kBoilerplate,
  kHostHabits,
  kUnasked,
};

constexpr uint64_t Draw(uint64_t seed, Salt salt, uint64_t a, uint64_t b = 0) {
  const uint64_t first = Mix64(seed + static_cast<uint64_t>(salt) * 0x9e3779b97f4a7c15 + a * 0xd1342543de82ef95);
  return Mix64(first + b * 0xaef17502108ef2d9 + 0x2545f4914f6cdd1d);
}

// The next of a row of draws.
constexpr uint64_t NextDraw(uint64_t& state) { return Mix64(state += 0x9e3779b97f4a7c15); }

// [0, 1), from the high bits.
constexpr double Unit(uint64_t draw) { return static_cast<double>(draw >> 11) * 0x1p-53; }

// 0 … bound-1, from the high bits.
constexpr uint64_t Below(uint64_t draw, uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(draw) * bound) >> 64);
}

// e^x, to about 1e-12.
inline double Exp(double x) {
  const double scaled = x * 1.4426950408889634;
  const double whole = std::floor(scaled + 0.5);
  const double rest = (scaled - whole) * 0.6931471805599453;
  double sum = 1;
  for (int i = 12; i >= 1; --i) sum = 1 + sum * rest / i;
  return std::ldexp(sum, static_cast<int>(whole));
}

// ln x for x > 0, to about 1e-12.
inline double Ln(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);  // [0.5, 1)
  if (fraction < 0.70710678) {
    fraction *= 2;
    --exponent;
  }
  const double t = (fraction - 1) / (fraction + 1);
  const double square = t * t;
  double sum = 0;
  for (int i = 21; i >= 1; i -= 2) sum = sum * square + 1.0 / i;
  return 2 * t * sum + exponent * 0.6931471805599453;
}

inline double Pow(double x, double y) { return Exp(y * Ln(x)); }

// Nearly normal, mean 0 and variance 1: eight uniform numbers added (Irwin-Hall); never beyond 4.9.
constexpr double Normal(uint64_t draw) {
  const uint64_t other = Mix64(draw + 0x632be59bd9b4e019);
  uint64_t sum = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += ((draw >> shift) & 0xffff) + ((other >> shift) & 0xffff);
  constexpr double kMean = 8 * 32767.5;
  constexpr double kDeviation = 53509.95;  // 65536 · sqrt(8/12)
  return (static_cast<double>(sum) - kMean) / kDeviation;
}

// Lognormal of this mean.
inline double Lognormal(uint64_t draw, double mean, double sigma) {
  return mean * Exp(sigma * Normal(draw) - sigma * sigma / 2);
}

}  // namespace portolan::sim
