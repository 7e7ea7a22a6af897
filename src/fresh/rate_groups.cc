#include "fresh/rate_groups.h"

#include <algorithm>
#include <cmath>

namespace portolan {
namespace {

// A mean's 16 bits: logarithms of rates per day from -12 (once in 450 years) to 12 (twice a second).
constexpr double kMostLog = 12;
constexpr double kMeanStep = 2 * kMostLog / 65535;
constexpr double kWeightStep = 1.0 / 512;
constexpr double kMostWeight = 64;  // then old visits fade
constexpr double kMostLevelWeight = 4096;
constexpr double kFirstWeight = 32;  // of what the levels begin with

constexpr double kLeastVar = 0.05;
constexpr double kMostVar = 25;
constexpr size_t kShapes = 512;

}  // namespace

RateGroups::RateGroups(std::unique_ptr<GroupCache> cache) : cache_(std::move(cache)) {
  shapes_.reserve(kShapes);
  for (size_t i = 0; i < kShapes; ++i) {
    const double var = kLeastVar * std::pow(kMostVar / kLeastVar, static_cast<double>(i) / (kShapes - 1));
    const double shape = Gamma::FromLog(0, var).shape;
    shapes_.push_back({.shape = shape, .digamma = Digamma(shape)});
  }
}

Result<std::unique_ptr<RateGroups>> RateGroups::Open(Env& env, const Manifest& manifest, const Options& options) {
  ASSIGN_OR_RETURN(auto cache, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory}));
  return std::unique_ptr<RateGroups>(new RateGroups(std::move(cache)));
}

RateGroups::Mean RateGroups::MeanOf(uint64_t key) const {
  const GroupCache::Entry* entry = cache_->Find(key);
  if (entry == nullptr) return {};
  return {.mean = entry->first * kMeanStep - kMostLog, .weight = entry->second * kWeightStep};
}

void RateGroups::Count(uint64_t key, double value, double weight) {
  const Mean old = MeanOf(key);
  const double sum = std::min(old.weight + weight, kMostWeight);
  const double mean = old.mean + (value - old.mean) * weight / sum;
  GroupCache::Entry& entry = cache_->Touch(key);
  entry.first = static_cast<uint16_t>(std::lround((std::clamp(mean, -kMostLog, kMostLog) + kMostLog) / kMeanStep));
  entry.second = static_cast<uint16_t>(std::lround(sum / kWeightStep));
}

RateGroups::Belief RateGroups::HostOf(const RateKeys& keys) const {
  const Mean host = MeanOf(keys.host);
  const double known = host.weight / (levels_.page_var + levels_.directory_var);
  const double all = known + 1 / levels_.host_var;
  return {.mean = (host.mean * known + levels_.mean / levels_.host_var) / all, .variance = 1 / all};
}

RateGroups::Belief RateGroups::DirectoryOf(const RateKeys& keys, const Belief& host) const {
  const Mean directory = MeanOf(keys.directory);
  const double known = directory.weight / levels_.page_var;
  const double wider = 1 / (levels_.directory_var + host.variance);
  return {.mean = (directory.mean * known + host.mean * wider) / (known + wider), .variance = 1 / (known + wider)};
}

Gamma RateGroups::Prior(const RateKeys& keys) const {
  const Belief directory = DirectoryOf(keys, HostOf(keys));
  const double var = std::clamp(levels_.page_var + directory.variance, kLeastVar, kMostVar);
  const double at = std::log(var / kLeastVar) / std::log(kMostVar / kLeastVar) * (kShapes - 1);
  const Shape& shape = shapes_[static_cast<size_t>(std::lround(at))];
  return {.shape = shape.shape, .rate = std::exp(shape.digamma - directory.mean)};
}

void RateGroups::Learn(const RateKeys& keys, const Gamma& belief, uint32_t visit) {
  const double weight = 1.0 / std::max<uint32_t>(visit, 1);
  const double mean = std::clamp(belief.MeanLog(), -kMostLog, kMostLog);
  Count(keys.host, mean, weight);
  Count(keys.directory, mean, weight);
  levels_.weight = std::min(levels_.weight + weight, kMostLevelWeight);
  const double part = weight / (levels_.weight + kFirstWeight);
  levels_.mean += (mean - levels_.mean) * part;
  // The expected square of each level's distance from the one above.
  const Belief host = HostOf(keys);
  const Belief directory = DirectoryOf(keys, host);
  const auto learn = [&](double& variance, double distance, double doubt) {
    variance = std::clamp(variance + (distance * distance + doubt - variance) * part, kLeastVar, kMostVar);
  };
  learn(levels_.page_var, mean - directory.mean, belief.VarLog());
  learn(levels_.directory_var, directory.mean - host.mean, directory.variance);
  learn(levels_.host_var, host.mean - levels_.mean, host.variance);
}

}  // namespace portolan
