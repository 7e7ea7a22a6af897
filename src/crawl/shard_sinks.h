// Sinks that pass what one part of the shard emits to the next part. Only the shard's own files include this.

#pragma once

#include "crawl/shard.h"

namespace portolan {

// What the robots loop emits.
class Shard::GateToFrontier : public GateSink {
 public:
  GateToFrontier(Shard& shard, Moment now) : shard_(shard), now_(now) {}

  Status OnAllowed(const UrlRecord& record) override { return shard_.frontier_->Add(record); }
  Status OnDenied(const UrlRecord& record, DenyReason reason) override {
    shard_.Deny(record, reason, now_);
    return {};
  }
  Status OnRobotsWanted(const UrlRecord& robots) override { return shard_.WantRobots(robots); }

 private:
  Shard& shard_;
  const Moment now_;
};

// New URLs go to admission, or without budgets to the robots loop.
class Shard::UniqueOnward : public UniqueSink {
 public:
  UniqueOnward(Shard& shard, Moment now) : shard_(shard), now_(now), passed_(shard, now) {}
  Status OnUnique(std::string_view bytes) override {
    const std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "urlseen gave back bytes that are not a record");
    if (shard_.refresh_ != nullptr) shard_.refresh_->Brought(record->via);
    return shard_.AddNew(*record, passed_, now_);
  }

 private:
  Shard& shard_;
  const Moment now_;
  GateToFrontier passed_;
};

}  // namespace portolan
