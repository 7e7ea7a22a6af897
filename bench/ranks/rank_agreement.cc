#include "bench/ranks/rank_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace portolan::bench {
namespace {

std::vector<double> MeanRanks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

double PairsOf(double n) { return n * (n - 1) / 2; }

// Of a sorted range, the pairs of equal neighbours.
template <typename T>
double TiedPairs(const std::vector<T>& sorted) {
  double pairs = 0;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin;
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    pairs += PairsOf(static_cast<double>(end - begin));
    begin = end;
  }
  return pairs;
}

// Sorts, and counts the pairs that were in the wrong order.
double CountInversions(std::vector<double>& values, std::vector<double>& other, size_t begin, size_t end) {
  if (end - begin < 2) return 0;
  const size_t middle = (begin + end) / 2;
  double inversions = CountInversions(values, other, begin, middle) + CountInversions(values, other, middle, end);
  size_t left = begin;
  size_t right = middle;
  for (size_t to = begin; to < end; ++to) {
    if (right == end || (left < middle && values[left] <= values[right])) {
      other[to] = values[left++];
    } else {
      inversions += static_cast<double>(middle - left);
      other[to] = values[right++];
    }
  }
  std::copy(other.begin() + static_cast<ptrdiff_t>(begin), other.begin() + static_cast<ptrdiff_t>(end),
            values.begin() + static_cast<ptrdiff_t>(begin));
  return inversions;
}

}  // namespace

double SpearmanRho(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = MeanRanks(a);
  const std::vector<double> y = MeanRanks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double KendallTau(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, double>> both;
  for (size_t i = 0; i < a.size(); ++i) both.emplace_back(a[i], b[i]);
  std::ranges::sort(both);
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [first, second] : both) {
    x.push_back(first);
    y.push_back(second);
  }
  const double all = PairsOf(static_cast<double>(a.size()));
  const double tied_a = TiedPairs(x);
  const double tied_both = TiedPairs(both);
  std::vector<double> other(y.size());
  const double discordant = CountInversions(y, other, 0, y.size());
  const double tied_b = TiedPairs(y);  // sorted now
  const double concordant = all - tied_a - tied_b + tied_both - discordant;
  const double scale = std::sqrt((all - tied_a) * (all - tied_b));
  return scale > 0 ? (concordant - discordant) / scale : 0;
}

}  // namespace portolan::bench
