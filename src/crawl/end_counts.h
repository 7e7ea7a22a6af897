// EndCounts: how many URLs of each pay-level domain came to their ends, on the way to STAR's record of the domain.
//
// STAR may be busy (its disk is at its bound) when a fetch ends, and a fetch that ended cannot wait. So what is refused
// is kept here by domain and added with the next chance.
//
// It is statistics: with kMaxDomains of them waiting, the ends of further ones are dropped and counted.
// Thread: one owner. Memory bound: kMaxDomains × about 64 bytes. Durability: Checkpointable; what waits is in the
// section, as numbers end.i.pld, end.i.fetched and end.i.failed.

#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/result.h"
#include "disk/manifest.h"
#include "reputation/star.h"

namespace portolan {

class EndCounts : public Checkpointable {
 public:
  static constexpr size_t kMaxDomains = 4096;
  static constexpr std::string_view kName = "ends";
  static constexpr std::string_view kKind = "ends";

  static Result<std::unique_ptr<EndCounts>> Open(const Manifest& manifest);

  // One more end. Cannot fail: what STAR refuses waits.
  void Add(Star& star, uint64_t pld, bool fetched);
  // What waits goes on, as far as STAR has room. An error is the disk's.
  Status Pass(Star& star);

  size_t waiting() const { return waiting_.size(); }  // domains
  uint64_t dropped() const { return dropped_; }       // ends

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

 private:
  struct Ends {
    uint32_t fetched = 0;
    uint32_t failed = 0;
  };

  std::map<uint64_t, Ends> waiting_;  // by pld, so that their order is the same each time
  uint64_t dropped_ = 0;
  ManifestSection described_;
};

}  // namespace portolan
