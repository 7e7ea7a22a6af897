#include "frontier/spill_compactor.h"

namespace portolan {

Status SpillCompactor::Step(HostTable& hosts, SpillLog& spill) {
  if (!segment_) {
    if (++paused_ < kPause) return {};
    paused_ = 0;
    segment_ = spill.sparse();
    host_ = 0;
    if (!segment_) return {};
  }
  uint32_t moved = 0;
  for (uint32_t looked = 0; looked < kHosts; ++looked) {
    if (host_ >= hosts.slots()) {
      segment_.reset();
      return {};
    }
    if (auto* blocks = hosts[host_].queue.blocks()) {
      for (SpillRef& ref : *blocks) {
        if (ref.segment != *segment_) continue;
        if (moved == kBlocks) return {};  // the same host next time
        ASSIGN_OR_RETURN(ref, spill.Move(ref));
        ++moved;
      }
    }
    ++host_;
  }
  return {};
}

}  // namespace portolan
