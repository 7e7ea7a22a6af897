#include "fresh/condition_trust.h"

#include <array>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr uint32_t kWindow = 96;  // of each count
constexpr uint32_t kEnoughAsked = 6;
constexpr uint32_t kEnoughChecked = 2;
constexpr uint32_t kFirstChecks = 4;
constexpr uint32_t kFar = 4;

struct Counts {
  uint32_t asked_changed = 0;
  uint32_t asked_same = 0;
  uint32_t checked_changed = 0;
  uint32_t checked_same = 0;

  uint32_t asked() const { return asked_changed + asked_same; }
  uint32_t checked() const { return checked_changed + checked_same; }
  bool believed() const {
    if (asked() < kEnoughAsked || checked_changed < kEnoughChecked) return true;
    return kFar * asked_changed * checked() >= checked_changed * asked();
  }
};

Counts CountsOf(const GroupCache::Entry* entry) {
  const uint32_t number = entry == nullptr ? 0 : entry->number();
  return {number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff, number >> 24};
}

}  // namespace

Result<std::unique_ptr<ConditionTrust>> ConditionTrust::Open(Env& env, const Manifest& manifest,
                                                             const Options& options) {
  ASSIGN_OR_RETURN(auto cache, GroupCache::Open(env, manifest, {.name = options.name, .memory = options.memory}));
  return std::unique_ptr<ConditionTrust>(new ConditionTrust(std::move(cache)));
}

bool ConditionTrust::Believed(uint64_t host) const { return CountsOf(cache_->Find(host)).believed(); }

bool ConditionTrust::MayAsk(uint64_t host, uint64_t page, uint32_t visits) const {
  const Counts counts = CountsOf(cache_->Find(host));
  const uint64_t draw = Mix64(page + visits);
  if (!counts.believed()) return draw % kSometimes == 0;
  if (counts.asked() < kEnoughAsked) return true;
  const uint64_t every = counts.checked() < kFirstChecks ? 2 : kSometimes;
  return draw % every != 0;
}

void ConditionTrust::Observe(uint64_t host, bool conditional, bool changed) {
  GroupCache::Entry& entry = cache_->Touch(host);
  Counts counts = CountsOf(&entry);
  uint32_t& count = conditional ? (changed ? counts.asked_changed : counts.asked_same)
                                : (changed ? counts.checked_changed : counts.checked_same);
  if (++count == kWindow) {  // old ones fade
    for (uint32_t* one : {&counts.asked_changed, &counts.asked_same, &counts.checked_changed, &counts.checked_same}) {
      *one /= 2;
    }
  }
  entry.set_number(counts.asked_changed | counts.asked_same << 8 | counts.checked_changed << 16 |
                   counts.checked_same << 24);
}

}  // namespace portolan
