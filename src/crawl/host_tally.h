// HostTally: how much came from each host in this run. It shows users on which hosts a crawl spends its time.
//
// Exact for the first kMost hosts that answer; the others are not counted. Thread: the shard's. Memory bound: kMost
// hosts of about 120 bytes. Durability: none.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace portolan {

struct HostShare {
  std::string host;
  uint64_t pages = 0;
  uint64_t answers = 0;  // robots.txt and errors included
  uint64_t bytes = 0;    // received
};

class HostTally {
 public:
  static constexpr size_t kMost = 10'000;

  // `key` is HostKey of a URL of that host.
  void Add(uint64_t key, std::string_view host, bool page, uint64_t bytes) {
    auto found = hosts_.find(key);
    if (found == hosts_.end()) {
      if (hosts_.size() >= kMost) {
        complete_ = false;
        return;
      }
      found = hosts_.emplace(key, HostShare{.host = std::string(host)}).first;
    }
    found->second.pages += page ? 1 : 0;
    ++found->second.answers;
    found->second.bytes += bytes;
  }

  // Hosts that answered; if !complete(), only the first kMost of them.
  uint64_t hosts() const { return hosts_.size(); }
  bool complete() const { return complete_; }

  // The hosts with most answers first; equal ones by name.
  std::vector<HostShare> Top(size_t max) const {
    std::vector<const HostShare*> all;
    all.reserve(hosts_.size());
    for (const auto& [key, share] : hosts_) all.push_back(&share);
    max = std::min(max, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(max), all.end(),
                      [](const HostShare* a, const HostShare* b) {
                        return a->answers != b->answers ? a->answers > b->answers : a->host < b->host;
                      });
    std::vector<HostShare> top;
    for (size_t i = 0; i < max; ++i) top.push_back(*all[i]);
    return top;
  }

 private:
  std::unordered_map<uint64_t, HostShare> hosts_;  // iterated for displays only
  bool complete_ = true;
};

}  // namespace portolan
