#include "cluster/end_detector.h"

#include <fmt/core.h>

#include <algorithm>

namespace portolan {

void EndDetector::Set(const ShardReport& report) {
  std::optional<ShardReport>& known = reports_[report.shard];
  if (!known || report.epoch >= known->epoch) known = report;
}

std::string EndDetector::Missing() const {
  for (uint32_t i = 0; i < reports_.size(); ++i) {
    if (!reports_[i]) return fmt::format("shard {} has not reported", i);
    if (!reports_[i]->kept.idle) return fmt::format("shard {} has work", i);
  }
  for (uint32_t from = 0; from < reports_.size(); ++from) {
    for (uint32_t to = 0; to < reports_.size(); ++to) {
      if (from == to) continue;
      const ShardReport::Kept::Taken& taken = reports_[to]->kept.taken[from];
      if (taken.epoch != reports_[from]->epoch || taken.number != reports_[from]->kept.sent[to] || taken.gaps) {
        return fmt::format("shard {} has taken batch {} of epoch {} of shard {}, which sent {} in epoch {}", to,
                           taken.number, taken.epoch, from, reports_[from]->kept.sent[to], reports_[from]->epoch);
      }
    }
  }
  return {};
}

bool EndDetector::Done() const {
  return std::ranges::any_of(reports_, [](const auto& report) { return report && report->done; }) || Missing().empty();
}

bool EndDetector::OnlyWaits() const {
  return std::ranges::all_of(reports_, [](const auto& report) { return report && report->only_waits; });
}

EndDetector::Sums EndDetector::Others(uint32_t than) const {
  Sums sums;
  for (uint32_t i = 0; i < reports_.size(); ++i) {
    if (i == than || !reports_[i]) continue;
    sums.pages += reports_[i]->pages;
    sums.bytes += reports_[i]->bytes;
  }
  return sums;
}

}  // namespace portolan
