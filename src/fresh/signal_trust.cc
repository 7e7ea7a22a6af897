#include "fresh/signal_trust.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/hash.h"

namespace portolan {
namespace {

// Further numbers of a host are under keys of their own.
uint64_t HeardKey(uint64_t host) { return Mix64(host ^ 0x6865617264); }
uint64_t EveryKey(uint64_t host) { return Mix64(host ^ 0x6576657279); }
uint64_t UseKey(uint64_t host) { return Mix64(host ^ 0x757365); }

constexpr uint32_t kWindow = 96;       // of each count
constexpr uint32_t kOneReading = 300;  // seconds: within these it is the same one
constexpr uint32_t kFirstEvery = 86'400;
constexpr uint16_t kUseWindow = 512;

enum Count : size_t { kTold, kUntold, kFalselyTold, kRightlySilent, kCounts };

std::array<uint32_t, kCounts> CountsOf(uint32_t number) {
  return {number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff, number >> 24};
}

}  // namespace

Result<std::unique_ptr<SignalTrust>> SignalTrust::Open(Env& env, const Manifest& manifest, const Options& options) {
  ASSIGN_OR_RETURN(auto cache, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory}));
  return std::unique_ptr<SignalTrust>(new SignalTrust(std::move(cache)));
}

void SignalTrust::Heard(uint64_t host, uint32_t now_s) {
  if (cache_->Find(host) == nullptr) cache_->Touch(host);
  GroupCache::Entry& heard = cache_->Touch(HeardKey(host));
  const uint32_t before = heard.number();
  heard.set_number(now_s);
  if (before == 0 || now_s - before < kOneReading) return;
  GroupCache::Entry& every = cache_->Touch(EveryKey(host));
  const uint32_t old = every.number() == 0 ? kFirstEvery : every.number();
  every.set_number(static_cast<uint32_t>((uint64_t{old} * 3 + (now_s - before)) / 4));
}

void SignalTrust::Given(uint64_t host) {
  GroupCache::Entry& use = cache_->Touch(UseKey(host));
  if (++use.first < kUseWindow) return;
  use.first /= 2;
  use.second /= 2;
}

void SignalTrust::Observe(uint64_t host, bool signalled, bool changed) {
  if (cache_->Find(host) == nullptr) return;
  if (signalled) {
    GroupCache::Entry& use = cache_->Touch(UseKey(host));
    if (use.second < use.first) ++use.second;
  }
  GroupCache::Entry& entry = cache_->Touch(host);
  std::array<uint32_t, kCounts> counts = CountsOf(entry.number());
  uint32_t& count = counts[changed ? (signalled ? kTold : kUntold) : (signalled ? kFalselyTold : kRightlySilent)];
  if (++count == kWindow) {  // old ones fade
    for (uint32_t& one : counts) one /= 2;
  }
  entry.set_number(counts[0] | counts[1] << 8 | counts[2] << 16 | counts[3] << 24);
}

Trust SignalTrust::Of(uint64_t host) const {
  const GroupCache::Entry* entry = cache_->Find(host);
  if (entry == nullptr) return {};
  const auto counts = CountsOf(entry->number());
  // A host of which nothing is known yet is believed a little. From then on both shares are taken on the side of doubt,
  // by up to a standard deviation: what chance makes of a liar's counts must not be worth anything.
  const auto share = [](double hits, double misses, double prior, double side) {
    const double n = hits + misses + 2;
    const double part = (hits + prior) / n;
    return part + side * (1 - 1 / n) * std::sqrt(part * (1 - part) / n);
  };
  const double told = std::max(share(counts[kTold], counts[kUntold], 1, -1), 0.0);
  const double falsely = std::min(share(counts[kFalselyTold], counts[kRightlySilent], 0.2, 1), 1.0);
  Trust trust;
  if (told > falsely) {
    trust.weight = std::min(told / falsely, kMostWeight);
    trust.silence = std::max((1 - told) / (1 - falsely), kLeastSilence);
  }
  if (const GroupCache::Entry* use = cache_->Find(UseKey(host))) trust.used = (use->second + 2.0) / (use->first + 4.0);
  if (const GroupCache::Entry* heard = cache_->Find(HeardKey(host))) trust.heard_s = heard->number();
  if (const GroupCache::Entry* every = cache_->Find(EveryKey(host))) trust.every_days = every->number() / 86'400.0;
  return trust;
}

}  // namespace portolan
