// RecentSeen: any method behind the same cache of recent keys that DRUM has, of the same size, out of the same memory.
// It shows how much of a difference is due to the cache.

#pragma once

#include <memory>

#include "bench/seen/url_seen.h"
#include "disk/recent_keys.h"

namespace portolan::bench {

class RecentSeen : public UrlSeen {
 public:
  RecentSeen(std::unique_ptr<UrlSeen> behind, uint64_t bytes) : behind_(std::move(behind)), recent_(bytes) {}

  Status Add(uint64_t key, std::string_view text) override {
    if (recent_.Contains(key)) return {};
    recent_.Insert(key);
    return behind_->Add(key, text);
  }
  Status Finish() override { return behind_->Finish(); }
  std::optional<Traffic> traffic() const override { return behind_->traffic(); }

 private:
  std::unique_ptr<UrlSeen> behind_;
  RecentKeys recent_;
};

}  // namespace portolan::bench
