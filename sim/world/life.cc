#include "sim/world/life.h"

#include <algorithm>
#include <array>

namespace portolan::sim {
namespace {

constexpr double kDayNs = 86400e9;

}  // namespace

LastChangeOf LastEvent(uint64_t rate_draw, Salt salt, double interval_ns, int64_t epoch_ns, int64_t unix_ns) {
  const double since = static_cast<double>(unix_ns - epoch_ns);
  const auto last = static_cast<int64_t>(since / interval_ns);
  // A window is empty with probability 1/e, so few are looked at.
  for (int64_t window = last; window >= 0; --window) {
    uint64_t row = Draw(rate_draw, salt, static_cast<uint64_t>(window));
    // Poisson of mean 1: as many as uniform numbers can be multiplied before the product falls below 1/e.
    std::array<double, 12> times;
    size_t count = 0;
    double product = Unit(NextDraw(row));
    while (product > 0.36787944117144233 && count < times.size()) {
      times[count++] = Unit(NextDraw(row));
      product *= Unit(NextDraw(row));
    }
    std::sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count));
    for (size_t i = count; i > 0; --i) {
      const double at = (static_cast<double>(window) + times[i - 1]) * interval_ns;
      if (at > since) continue;
      return {(static_cast<uint64_t>(window) << 4) + i, epoch_ns + static_cast<int64_t>(at)};
    }
  }
  return {0, epoch_ns};
}

Life::Life(const WorldParams& params, uint64_t seed, const Atlas& atlas)
    : params_(params),
      seed_(seed),
      atlas_(atlas),
      epoch_ns_(static_cast<int64_t>(params.epoch_s) * 1'000'000'000),
      birth_ns_(std::max(1.0, params.born_days * kDayNs)) {}

// Only pages without children are newborn, so that none hides another.
uint64_t Life::FirstNewborn(uint32_t content) const {
  const uint64_t pages = atlas_.Pages(content);
  if (!has_births()) return pages;
  const auto newborn = static_cast<uint64_t>(static_cast<double>(pages) * std::min(params_.born, 1.0));
  return std::min(pages, std::max(pages - newborn, pages / kPageBranch + 1));
}

int64_t Life::BirthNs(uint32_t content, uint64_t page) const {
  const uint64_t first = FirstNewborn(content);
  if (page < first) return epoch_ns_;
  const double share = (static_cast<double>(page - first) + Luck(Salt::kBirth, content, page)) /
                       static_cast<double>(atlas_.Pages(content) - first);
  return epoch_ns_ + 1 + static_cast<int64_t>(share * birth_ns_);
}

uint64_t Life::Born(uint32_t content, int64_t unix_ns) const {
  const uint64_t pages = atlas_.Pages(content);
  const uint64_t first = FirstNewborn(content);
  if (first >= pages || unix_ns <= epoch_ns_) return first;
  const double share = static_cast<double>(unix_ns - epoch_ns_) / birth_ns_;
  if (share >= 1) return pages;
  const uint64_t sure = first + static_cast<uint64_t>(share * static_cast<double>(pages - first));
  // Births of neighbours are at most one step apart.
  uint64_t born = sure > first ? sure - 1 : first;
  while (born < pages && BirthNs(content, born) <= unix_ns) ++born;
  return born;
}

int64_t Life::DeathNs(uint32_t content, uint64_t page, bool normal) const {
  if (params_.dying <= 0 || !normal || !IsLeaf(content, page)) return kNever;
  uint64_t row = Draw(seed_, Salt::kDeath, content, page);
  if (Unit(NextDraw(row)) >= params_.dying) return kNever;
  return BirthNs(content, page) + static_cast<int64_t>(Lognormal(NextDraw(row), params_.life_days * kDayNs, 1));
}

bool Life::SaysGone(uint32_t content, uint64_t page) const {
  return (Draw(seed_, Salt::kDeath, content, page) & 1) != 0;
}

LastChangeOf Life::Newborn(uint32_t content, uint64_t page, int64_t unix_ns) const {
  if (!has_births()) return {0, epoch_ns_};
  const uint64_t first = FirstNewborn(content);
  const uint64_t born = Born(content, unix_ns);
  uint64_t from = std::max(first, kPageBranch * page + 1);
  uint64_t to = std::min(born, kPageBranch * page + kPageBranch + 1);
  if (page == 0) {
    from = first;
    to = born;
  }
  if (to <= from) return {0, epoch_ns_};
  return {to - from, BirthNs(content, to - 1)};
}

LastChangeOf Life::Boilerplate(uint32_t content, uint64_t page, int64_t unix_ns) const {
  if (params_.boilerplate_days <= 0 || unix_ns <= epoch_ns_) return {0, epoch_ns_};
  if (Luck(Salt::kBoilerplate, content, ~page) >= params_.boilerplate) return {0, epoch_ns_};
  const uint64_t rate = Draw(seed_, Salt::kBoilerplate, content, page);
  const double interval_ns = std::max(1e9, Lognormal(rate, params_.boilerplate_days * kDayNs, 1));
  return LastEvent(rate, Salt::kBoilerplate, interval_ns, epoch_ns_, unix_ns);
}

ValidatorHabit Life::Validators(uint32_t hid) const {
  const double luck = Luck(Salt::kHostHabits, hid, 1);
  double sum = params_.etag_random;
  if (luck < sum) return ValidatorHabit::kEtagRandom;
  if (luck < (sum += params_.modified_now)) return ValidatorHabit::kNow;
  if (luck < (sum += params_.modified_future)) return ValidatorHabit::kFuture;
  if (luck < (sum += params_.stuck_304)) return ValidatorHabit::kStuck;
  return ValidatorHabit::kTrue;
}

LastmodHabit Life::Lastmod(uint32_t hid) const {
  const double luck = Luck(Salt::kHostHabits, hid, 2);
  if (luck < params_.lastmod_absent) return LastmodHabit::kAbsent;
  if (luck < params_.lastmod_absent + params_.lastmod_lying) return LastmodHabit::kToday;
  return LastmodHabit::kTrue;
}

bool Life::LastmodHasTime(uint32_t hid) const { return Luck(Salt::kHostHabits, hid, 3) < params_.lastmod_time; }
bool Life::SaysFrequency(uint32_t hid) const { return Luck(Salt::kHostHabits, hid, 4) < params_.changefreq; }
bool Life::SaysMaxAge(uint32_t hid) const { return Luck(Salt::kHostHabits, hid, 5) < params_.max_age; }

bool Life::AnswersUnasked(uint32_t content, uint64_t page) const {
  return params_.unasked_304 > 0 && IsLeaf(content, page) &&
         Luck(Salt::kUnasked, content, page) < params_.unasked_304 / 0.9;  // nine in ten pages are leaves
}

}  // namespace portolan::sim
