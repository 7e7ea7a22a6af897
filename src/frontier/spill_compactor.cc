#include "frontier/spill_compactor.h"

#include <algorithm>
#include <utility>

namespace portolan {

Status SpillCompactor::Step(HostTable& hosts, SpillLog& spill) {
  if (!segment_) {
    if (++paused_ < kPause) return {};
    paused_ = 0;
    segment_ = spill.sparse();
    host_ = 0;
    if (!segment_) return {};
    asked_ = spill.WillNeedPart(*segment_, 0);
    return {};
  }
  if (asked_ > 0) {
    asked_ = spill.WillNeedPart(*segment_, asked_);
    return {};
  }
  uint32_t moved = 0;
  for (uint32_t looked = 0; looked < kHosts; ++looked) {
    if (host_ >= hosts.slots()) {
      segment_.reset();
      return {};
    }
    // Most hosts have no block in the segment.
    const auto* looked_at = std::as_const(hosts)[host_].queue.blocks();
    if (looked_at != nullptr && std::any_of(looked_at->begin(), looked_at->end(),
                                            [&](const SpillRef& ref) { return ref.segment == *segment_; })) {
      for (SpillRef& ref : *hosts[host_].queue.blocks()) {
        if (ref.segment != *segment_) continue;
        if (moved == kBlocks) return {};  // continues with the same host next time
        ASSIGN_OR_RETURN(ref, spill.Move(ref));
        ++moved;
      }
    }
    ++host_;
  }
  return {};
}

}  // namespace portolan
