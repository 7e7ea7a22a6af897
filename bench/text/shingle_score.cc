#include "bench/text/shingle_score.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace portolan::bench {
namespace {

bool IsWordPart(UChar32 c) {
  constexpr uint32_t kParts = U_GC_L_MASK | U_GC_ND_MASK | U_GC_NL_MASK | U_GC_NO_MASK;
  return c == '_' || (c >= 0 && (U_GET_GC_MASK(c) & kParts) != 0);
}

std::vector<uint64_t> WordHashes(std::string_view text) {
  std::vector<uint64_t> words;
  const auto size = static_cast<int32_t>(text.size());
  int32_t begin = -1;
  for (int32_t i = 0; i < size;) {
    const int32_t at = i;
    UChar32 c = 0;
    U8_NEXT(text.data(), i, size, c);
    if (IsWordPart(c)) {
      if (begin < 0) begin = at;
    } else if (begin >= 0) {
      words.push_back(Hash64(text.substr(static_cast<size_t>(begin), static_cast<size_t>(at - begin))));
      begin = -1;
    }
  }
  if (begin >= 0) words.push_back(Hash64(text.substr(static_cast<size_t>(begin))));
  return words;
}

using Counts = std::unordered_map<uint64_t, int64_t>;

Counts CountShingles(std::string_view text) {
  constexpr size_t kWords = 4;
  const std::vector<uint64_t> words = WordHashes(text);
  Counts counts;
  const size_t shingles = words.size() >= kWords ? words.size() - kWords + 1 : words.empty() ? 0 : 1;
  for (size_t i = 0; i < shingles; ++i) {
    uint64_t hash = 0;
    for (size_t k = i; k < std::min(i + kWords, words.size()); ++k) hash = Mix64(hash + words[k]);
    ++counts[hash];
  }
  return counts;
}

}  // namespace

Shingles CompareShingles(std::string_view truth, std::string_view extracted) {
  const Counts wanted = CountShingles(truth);
  const Counts found = CountShingles(extracted);
  Shingles result;
  for (const auto& [shingle, count] : wanted) {
    const auto other = found.find(shingle);
    const int64_t there = other == found.end() ? 0 : other->second;
    result.both += static_cast<double>(std::min(count, there));
    result.lack += static_cast<double>(std::max<int64_t>(0, count - there));
    result.excess += static_cast<double>(std::max<int64_t>(0, there - count));
  }
  for (const auto& [shingle, count] : found) {
    if (!wanted.contains(shingle)) result.excess += static_cast<double>(count);
  }
  const double sum = result.both + result.lack + result.excess;
  if (sum > 0) {
    result.both /= sum;
    result.lack /= sum;
    result.excess /= sum;
  }
  return result;
}

void ShingleScore::Add(const Shingles& article) {
  ++articles_;
  if (article.both + article.excess > 0) {
    ++with_extract_;
    precision_ += article.both / (article.both + article.excess);
  }
  if (article.both + article.lack > 0) {
    ++with_truth_;
    recall_ += article.both / (article.both + article.lack);
  }
}

double ShingleScore::Precision() const {
  return with_extract_ == 0 ? 0 : precision_ / static_cast<double>(with_extract_);
}
double ShingleScore::Recall() const { return with_truth_ == 0 ? 0 : recall_ / static_cast<double>(with_truth_); }
double ShingleScore::F1() const {
  const double sum = Precision() + Recall();
  return sum == 0 ? 0 : 2 * Precision() * Recall() / sum;
}

}  // namespace portolan::bench
