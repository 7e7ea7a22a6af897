// EndCounts: how many URLs of each pay-level domain have ended, on the way to STAR's record of the domain.
//
// STAR may be busy (its disk is at its bound) when a fetch ends, and a fetch that ended cannot wait. So counts that
// STAR refuses are stored here by domain, and added later.
//
// These are statistics: while kMaxDomains domains wait, the ends of further domains are dropped and counted.
// Thread: one owner. Memory bound: kMaxDomains × about 64 bytes. Durability: Checkpointable; the waiting counts are in
// the section, as numbers end.i.pld, end.i.fetched and end.i.failed.

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
  static constexpr std::string_view kKind = "ends";

  // `name` is the name of its section.
  static Result<std::unique_ptr<EndCounts>> Open(const Manifest& manifest, const std::string& name = "ends");

  // Adds one end. Cannot fail: what STAR refuses waits here.
  void Add(Star& star, uint64_t pld, bool fetched);
  // Passes waiting counts to STAR, as far as it has room. An error is a disk error.
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

  std::string name_;
  std::map<uint64_t, Ends> waiting_;  // by pld, so that the order is always the same
  uint64_t dropped_ = 0;
  ManifestSection described_;
};

}  // namespace portolan
