// ShardReport: what a shard tells all others through the server: counts for the limits of the whole crawl, and what the
// end of the crawl is decided by (end_detector.h).
//
// Format: docs/formats/shard_report.md. What is read is checked before it is believed.
//
// Pure. Memory bound: 17 bytes and 24 per shard.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

struct ShardReport {
  // Of a committed checkpoint, with which or a later one the shard's next process would begin (committed_cuts.h).
  struct Kept {
    bool idle = false;           // nothing was left, and nothing that had come waited
    std::vector<uint64_t> sent;  // by receiver: number of the last batch, sent or not; the own one is 0
    struct Taken {
      uint64_t epoch = 0;  // 0: nothing was ever taken
      uint64_t number = 0;
      bool gaps = false;  // and some above it
      bool operator==(const Taken&) const = default;
    };
    std::vector<Taken> taken;  // by sender
    bool operator==(const Kept&) const = default;
  };

  uint64_t cluster = 0;
  uint32_t shard = 0;
  uint64_t epoch = 0;
  uint64_t pages = 0;       // that count for max_pages, as now
  uint64_t bytes = 0;       // received
  bool only_waits = false;  // nothing is left now but what waits for another attempt
  bool done = false;        // the crawl is done: it found all reports to fit
  Kept kept;

  bool operator==(const ShardReport&) const = default;

  std::string Encode() const;
  // kCorrupt: not a report of a crawl with so many shards. kUnsupported: of a later version.
  static Result<ShardReport> Decode(std::string_view bytes, uint32_t shards);
};

}  // namespace portolan
