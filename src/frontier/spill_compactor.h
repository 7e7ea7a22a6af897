// SpillCompactor: frees the disk space of dead blocks.
//
// Blocks of many hosts share a segment, and one slow host keeps it alive. When less than half of a closed segment is
// alive, its live blocks are written again at the end of the log, a few per step, by walking over the hosts; then it is
// empty and is removed. Disk use stays below about twice the live blocks plus a few segments; each block that is moved
// frees at least as much space.
//
// Before that the page cache is asked for the segment, a part per step, so that moving does not wait for a disk.
//
// Thread: one owner. Memory bound: a cursor. Bound of a step: kHosts hosts examined, kBlocks blocks moved.

#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "frontier/host_table.h"
#include "frontier/spill_log.h"

namespace portolan {

class SpillCompactor {
 public:
  Status Step(HostTable& hosts, SpillLog& spill);

 private:
  static constexpr uint32_t kPause = 1024;  // steps between two searches for a sparse segment
  static constexpr uint32_t kHosts = 256;
  static constexpr uint32_t kBlocks = 4;

  std::optional<uint32_t> segment_;
  uint64_t asked_ = 0;  // how much of it the page cache was asked for; 0: all
  uint32_t host_ = 0;   // the cursor
  uint32_t paused_ = 0;
};

}  // namespace portolan
