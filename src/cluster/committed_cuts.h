// CommittedCuts: what a shard may tell of itself for the end of the crawl (end_detector.h): the cut of the checkpoint
// with which its next process begins, whatever happens.
//
// That is its newest committed checkpoint, or, as long as another node keeps a copy, the newest one that the copy has:
// if this machine is lost for good, the shard goes on from there. So the others do not end before the copy has all that
// they rely on.
//
// Checkpoints are known by the serial of the exchange's file, which grows with each.
//
// Pure. Thread: one owner. Memory bound: kMost cuts. A copy that is more than that behind is waited for: nothing is
// told.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "cluster/shard_report.h"

namespace portolan {

class CommittedCuts {
 public:
  static constexpr size_t kMost = 64;

  explicit CommittedCuts(uint32_t shards) : nothing_(EmptyCut(shards)) {}

  void Add(uint64_t serial, ShardReport::Kept cut);
  // `copied`: the serial of the copy's checkpoint; nullopt: no copy is waited for. A cut that is not idle: nothing may
  // be told. Valid until the next call.
  const ShardReport::Kept& ToTell(std::optional<uint64_t> copied);

 private:
  struct Cut {
    uint64_t serial = 0;
    ShardReport::Kept kept;
  };
  static ShardReport::Kept EmptyCut(uint32_t shards);

  const ShardReport::Kept nothing_;
  std::deque<Cut> cuts_;  // by serial
};

}  // namespace portolan
