// FrontQueues: F queues on disk, one per priority, and the biased selector that draws from them (Mercator).
//
// Among the queues that are not empty, one is drawn with a weight that halves from each priority to the next: the first
// gets half of the draws and the last still gets its share, so none starves. Each draw takes a batch of URLs, which
// then wait in RAM (`drawn`) until the back queues have room for them.
//
// URLs that come while all queues on disk are empty go straight to `drawn`: a small crawl never waits for a disk.
//
// Thread: one owner. Memory bound: kBatch + kDirect records, and two blocks per queue that is not idle.
// Durability: the queues are Checkpointable; `drawn` belongs to the frontier's snapshot.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/queue.h"
#include "io/rng.h"

namespace portolan {

class FrontQueues {
 public:
  static constexpr size_t kBatch = 64;
  static constexpr size_t kDirect = 256;
  static constexpr uint32_t kMaxQueues = 32;

  struct Options {
    std::string name;
    uint32_t queues = 8;
    uint64_t segment_size = uint64_t{64} << 20;
    uint64_t seed = 1;
  };
  static Result<std::unique_ptr<FrontQueues>> Open(Env& env, const Manifest& manifest, const Options& options);

  // A priority beyond the last one counts as the last one.
  Status Add(uint32_t priority, std::string_view record);

  bool empty() const { return size() == 0; }
  uint64_t size() const { return on_disk_ + drawn_.size(); }
  uint32_t queues() const { return static_cast<uint32_t>(queues_.size()); }
  // The next record, null if there is none; Pop removes it.
  Result<const std::string*> Next();
  void Pop() { drawn_.pop_front(); }

  const std::deque<std::string>& drawn() const { return drawn_; }
  void RestoreDrawn(std::string_view record) { drawn_.emplace_back(record); }
  void AppendTo(std::vector<Checkpointable*>& all) const;

 private:
  explicit FrontQueues(uint64_t seed) : rng_(seed) {}
  size_t Draw();

  std::vector<std::unique_ptr<DiskQueue>> queues_;
  uint64_t on_disk_ = 0;
  std::deque<std::string> drawn_;
  Rng rng_;
};

}  // namespace portolan
