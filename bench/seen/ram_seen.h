// RamSeen: a hash set of all keys in memory, without any bound. No method that touches a disk can be faster; it also
// shows what the benchmark itself costs.

#pragma once

#include <absl/container/flat_hash_set.h>

#include "bench/seen/url_seen.h"

namespace portolan::bench {

class RamSeen : public UrlSeen {
 public:
  explicit RamSeen(const UrlSeenOptions& options) : unique_(options.unique) {}

  Status Add(uint64_t key, std::string_view text) override {
    if (keys_.insert(key).second) unique_(text);
    return {};
  }
  Status Finish() override { return {}; }
  std::optional<Traffic> traffic() const override { return Traffic{}; }

 private:
  // Keys are hashes already: hashing them again would only cost time.
  struct Identity {
    size_t operator()(uint64_t key) const { return key; }
  };

  const UniqueSink unique_;
  absl::flat_hash_set<uint64_t, Identity> keys_;
};

}  // namespace portolan::bench
