// BatchLedger: which batches a receiver has taken from each sender. A batch is taken once, however often it was sent.
//
// Per sender it keeps the newest epoch seen, the number up to which everything is taken, and a bit for each of the
// kLinkWindow numbers above. A batch of an older epoch is refused: its sender lost its shard before it sent it, and the
// new holder begins its epoch with a batch to every receiver before it does anything else. What is refused is not
// needed: the new holder starts from a checkpoint whose batches were stored before, or are in its outbox and sent
// again, and finds the rest again.
//
// Lost: a sender never sends number n before everything up to n - kLinkWindow is stored. So a number that far back
// which was not taken was in the stream and is gone.
//
// Pure. Memory bound: 56 bytes per sender that was heard of; Encode is at most 50 bytes for each.

#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/link_batch.h"

namespace portolan {

enum class BatchVerdict : uint8_t {
  kNew,        // take it
  kDuplicate,  // taken before
  kOldEpoch,   // its sender had lost its shard
  kLost,       // take it, but others before it are lost: LostBatches
};

class BatchLedger {
 public:
  struct Lost {
    uint32_t sender = 0;
    uint64_t epoch = 0;
    uint64_t first = 0;  // numbers first … last: those that were not taken are lost
    uint64_t last = 0;
    uint64_t count = 0;
  };

  // Records the batch if it is to be taken. With kLost, `lost` is filled.
  BatchVerdict Judge(const LinkBatchHeader& header, Lost& lost);

  // The newest epoch of that sender, up to which number everything is taken, and whether some above it are.
  struct Taken {
    uint64_t epoch = 0;  // 0: it was never heard of
    uint64_t number = 0;
    bool gaps = false;
  };
  Taken TakenFrom(uint32_t sender) const;

  // One line per sender: what was taken last. For messages about losses.
  std::string Describe() const;

  // For the receiver's manifest.
  std::string Encode() const;
  static Result<BatchLedger> Decode(std::string_view bytes);

  bool operator==(const BatchLedger&) const = default;

 private:
  struct Sender {
    uint64_t epoch = 0;
    uint64_t taken = 0;              // everything up to this number
    std::bitset<kLinkWindow> above;  // bit i: number taken + 1 + i
    bool operator==(const Sender&) const = default;
  };
  std::map<uint32_t, Sender> senders_;
};

}  // namespace portolan
