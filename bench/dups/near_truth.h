// Which texts are nearly the same, by the exact measure: the Jaccard coefficient of their sets of shingles of three
// words (IIR 19.6). A pair is near from kNearShare on.
//
// Memory bound: eight bytes per word of the texts that the caller holds.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan::bench {

inline constexpr double kNearShare = 0.9;
inline constexpr int kMostBitsShown = 8;

using Shingles3 = std::vector<uint64_t>;  // sorted, each once
Shingles3 ShinglesOf(std::string_view text);
double JaccardOf(const Shingles3& a, const Shingles3& b);

struct HashedText {
  std::string text;
  uint64_t hash = 0;
  Shingles3 shingles;
};

// How pairs were judged by the distance of their hashes, beside the truth.
struct NearCounts {
  uint64_t pairs = 0;
  uint64_t near = 0;                                    // in truth
  std::array<uint64_t, kMostBitsShown + 1> found{};     // near pairs within so many bits
  std::array<uint64_t, kMostBitsShown + 1> reported{};  // all pairs within so many bits

  void Add(int bits, bool is_near);
  double Recall(int bits) const;
  double Precision(int bits) const;
};

// The main texts of real pages, those of fewer than 50 words left out.
Result<std::vector<std::string>> RealTexts(const std::string& articles, const std::string& pages);
// The main text of a page in UTF-8 or a charset that it names.
std::string MainTextOf(const std::string& html);

struct Edit {
  std::string name;
  std::string (*make)(const std::vector<std::string>& words, uint64_t seed);
};
const std::vector<Edit>& Edits();
std::vector<std::string> WordsOf(std::string_view text);

}  // namespace portolan::bench
