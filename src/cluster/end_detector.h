// EndDetector: is a crawl on several machines done? Each shard decides it for itself, from the reports of all
// (shard_report.h); there is no central node.
//
// A report describes a committed checkpoint of its shard, its cut: whether the shard was idle then, and per other shard
// the number of the last batch that it had made for it and up to which batch of its epoch it had taken. The crawl is
// done when all shards were idle at their cuts, and each had taken exactly what each other had sent: the same epoch,
// the same number, no gaps.
//
// Proof. Suppose a shard does something after its cut although all reports fit; let S be the first to do so, in real
// time. An idle shard acts only on a message that it takes. (A process that dies and begins again is no action: it
// begins with a checkpoint at the cut or after it, and one after it would be an action of S before.) Let R be the
// sender, in batch n of epoch e, and (E, N) what R's report says of its cut.
//   sent after R's cut    then R acted after its cut, before S: contradiction.
//   before, e = E         then n <= N, and S had taken it at its cut: the ledger drops it.
//   before, e < E         S had taken batches of E at its cut: the ledger refuses it.
//   e > E                 is after R's cut, see above.
// So nothing ever happens again. The cuts need not be at one time, and a report may be old: that is why one look
// suffices where counting messages alone needs two (Mattern): here each pair of shards has its own count, with epochs,
// and only durable states are counted. It holds as long as a shard's next process begins with the checkpoint that was
// reported or a later one. So as long as a copy is kept on another machine, what that has is reported
// (committed_cuts.h).
//
// What a process sends again after a restart (its outbox) is refused or known to the receiver: it may make a shard look
// busy for a moment, but finds nothing new.
//
// Pure. Memory bound: the newest report of each shard.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/shard_report.h"

namespace portolan {

class EndDetector {
 public:
  explicit EndDetector(uint32_t shards) : reports_(shards) {}

  // The shard's newest report. One of an older epoch than is known is ignored.
  void Set(const ShardReport& report);

  // All reports fit, or somebody found that they do.
  bool Done() const;
  // All shards say that nothing is left but waits. False as long as one never reported.
  bool OnlyWaits() const;
  // Of all shards but that one.
  struct Sums {
    uint64_t pages = 0;
    uint64_t bytes = 0;
  };
  Sums Others(uint32_t than) const;
  // In words: what the end waits for. Empty: nothing.
  std::string Missing() const;

 private:
  std::vector<std::optional<ShardReport>> reports_;
};

}  // namespace portolan
