#include "cluster/committed_cuts.h"

#include <utility>

namespace portolan {

ShardReport::Kept CommittedCuts::EmptyCut(uint32_t shards) {
  ShardReport::Kept cut;
  cut.sent.resize(shards);
  cut.taken.resize(shards);
  return cut;
}

void CommittedCuts::Add(uint64_t serial, ShardReport::Kept cut) {
  cuts_.push_back({serial, std::move(cut)});
  if (cuts_.size() > kMost) cuts_.pop_front();
}

const ShardReport::Kept& CommittedCuts::ToTell(std::optional<uint64_t> copied) {
  if (cuts_.empty()) return nothing_;
  if (!copied) return cuts_.back().kept;
  // What is older than the copy's is never told again.
  while (cuts_.size() > 1 && cuts_[1].serial <= *copied) cuts_.pop_front();
  return cuts_.front().serial <= *copied ? cuts_.front().kept : nothing_;
}

}  // namespace portolan
