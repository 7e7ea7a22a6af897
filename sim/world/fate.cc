#include "sim/world/fate.h"

#include <algorithm>

namespace portolan::sim {
namespace {

constexpr double kChildless = 0.9;  // of pages, in a large host

}  // namespace

Fate::Fate(const WorldParams& params, uint64_t seed, const Atlas& atlas)
    : seed_(seed),
      atlas_(atlas),
      loop_(params.redirect_loop / kChildless),
      change_ns_(params.change_days * 86400e9),
      change_sigma_(params.change_sigma),
      epoch_ns_(static_cast<int64_t>(params.epoch_s) * 1'000'000'000) {
  // In the order of WireFault from kReset on.
  const double faults[kFaults] = {params.fault_reset,           params.fault_reset_in_body,
                                  params.fault_close_early,     params.fault_empty_reply,
                                  params.fault_slow_first_byte, params.fault_tarpit,
                                  params.fault_endless,         params.fault_long_length,
                                  params.fault_short_length,    params.fault_header_flood,
                                  params.fault_garbage,         params.fault_http09,
                                  params.fault_bad_chunks,      params.bomb};
  double sum = 0;
  for (size_t i = 0; i < kFaults; ++i) fault_sums_[i] = sum += faults[i];
  // In the order of PageKind; loops are drawn in pairs, apart.
  const double kinds[kKinds] = {0,
                                params.redirect,
                                0,
                                params.not_found,
                                params.gone,
                                params.forbidden,
                                params.server_error,
                                params.flaky,
                                params.soft404,
                                params.duplicate,
                                params.near_duplicate,
                                sum,
                                params.noindex,
                                params.page_nofollow};
  sum = 0;
  for (size_t i = 0; i < kKinds; ++i) kind_sums_[i] = sum += kinds[i] / kChildless;
}

PageKind Fate::Kind(uint32_t content, uint64_t page) const {
  if (page == 0 || kPageBranch * page + 1 < atlas_.Pages(content)) return PageKind::kNormal;
  if (loop_ > 0 && Unit(Draw(seed_, Salt::kPageLoop, content, page >> 1)) < loop_) {
    // Both of the pair must be pages that may fail.
    const uint64_t other = page ^ 1;
    if (other < atlas_.Pages(content) && kPageBranch * other + 1 >= atlas_.Pages(content) && other != 0) {
      return PageKind::kRedirectLoop;
    }
  }
  const double unit = Unit(Draw(seed_, Salt::kPageKind, content, page));
  if (unit >= kind_sums_[kKinds - 1]) return PageKind::kNormal;
  for (size_t i = 1; i < kKinds; ++i) {
    if (unit < kind_sums_[i]) return static_cast<PageKind>(i);
  }
  return PageKind::kNormal;
}

WireFault Fate::Fault(uint32_t content, uint64_t page) const {
  if (Kind(content, page) != PageKind::kFault) return WireFault::kNone;
  const double unit = Unit(Draw(seed_, Salt::kPageFault, content, page)) * fault_sums_[kFaults - 1];
  for (size_t i = 0; i + 1 < kFaults; ++i) {
    if (unit < fault_sums_[i]) return static_cast<WireFault>(i + 1);
  }
  return WireFault::kNone;
}

bool Fate::ShowsBody(uint32_t content, uint64_t page) const {
  switch (Kind(content, page)) {
    case PageKind::kNormal:
    case PageKind::kFlaky:
    case PageKind::kDuplicate:
    case PageKind::kNearDuplicate:
    case PageKind::kNoindex:
    case PageKind::kPageNofollow:
      return true;
    case PageKind::kFault:
      return Fault(content, page) == WireFault::kSlowFirstByte;
    default:
      return false;
  }
}

Fate::Target Fate::Redirect(uint32_t content, uint64_t page) const {
  if (Kind(content, page) == PageKind::kRedirectLoop) return {.same_host = true, .page = page ^ 1};
  uint64_t row = Draw(seed_, Salt::kPageRedirect, content, page);
  const uint64_t first = NextDraw(row);
  // Always to a smaller number, so that redirects end; a third of them looks for another redirect, which makes chains.
  if (first % 8 == 0 && atlas_.hosts() > 1) {
    const uint32_t hid = static_cast<uint32_t>(Below(NextDraw(row), atlas_.hosts()));
    if (hid != content) return {.same_host = false, .hid = hid, .page = 0};
  }
  uint64_t target = Below(NextDraw(row), page);
  if (first % 3 == 0) {
    for (int attempt = 0; attempt < 24 && Kind(content, target) != PageKind::kRedirect; ++attempt) {
      target = Below(NextDraw(row), page);
    }
  }
  // Not into a loop.
  if (Kind(content, target) == PageKind::kRedirectLoop) target = 0;
  return {.same_host = true, .page = target};
}

bool Fate::IsPortable(uint32_t content, uint64_t page) const {
  return page == 0 || (Draw(seed_, Salt::kPageSource, content, page) & 1) != 0;
}

uint64_t Fate::Source(uint32_t content, uint64_t page) const {
  uint64_t row = Draw(seed_, Salt::kPageSource, content, page);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const uint64_t source = Below(NextDraw(row), atlas_.Pages(content));
    if (Kind(content, source) == PageKind::kNormal && IsPortable(content, source)) return source;
  }
  return 0;
}

double Fate::ChangeNs(uint32_t content, uint64_t page) const {
  if (change_ns_ <= 0) return 0;
  return std::max(1e9, Lognormal(Draw(seed_, Salt::kChangeRate, content, page), change_ns_, change_sigma_));
}

LastChangeOf Fate::Change(uint32_t content, uint64_t page, int64_t unix_ns) const {
  if (change_ns_ <= 0 || unix_ns <= epoch_ns_) return {0, epoch_ns_};
  const uint64_t rate = Draw(seed_, Salt::kChangeRate, content, page);
  return LastEvent(rate, Salt::kChange, ChangeNs(content, page), epoch_ns_, unix_ns);
}

}  // namespace portolan::sim
