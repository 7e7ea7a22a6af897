// FrontQueues: F queues on disk, one a priority, and the biased selector that draws from them (Mercator).
//
// A queue is drawn with a weight that halves from each priority to the next, among those that have something: the first
// gets half of the draws and the last still gets its share, so nothing starves. A draw is worth a batch of URLs, which
// then wait at the gate (`next`), in RAM, until the back queues have room for them.
//
// URLs that come while everything else is empty go straight to the gate: a small crawl never waits for a disk.
//
// Thread: one owner. Memory bound: kBatch + kDirect records, and two blocks a queue that is not idle.
// Durability: the queues are Checkpointable; what is at the gate belongs to the frontier's snapshot.

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

  // A priority past the last one is the last one.
  Status Add(uint32_t priority, std::string_view record);

  bool empty() const { return size() == 0; }
  uint64_t size() const { return on_disk_ + gate_.size(); }
  uint32_t queues() const { return static_cast<uint32_t>(queues_.size()); }
  // The next record, null when there is none; Pop takes it.
  Result<const std::string*> Next();
  void Pop() { gate_.pop_front(); }

  const std::deque<std::string>& gate() const { return gate_; }
  void RestoreGate(std::string_view record) { gate_.emplace_back(record); }
  void AppendTo(std::vector<Checkpointable*>& all) const;

 private:
  explicit FrontQueues(uint64_t seed) : rng_(seed) {}
  size_t Draw();

  std::vector<std::unique_ptr<DiskQueue>> queues_;
  uint64_t on_disk_ = 0;
  std::deque<std::string> gate_;
  Rng rng_;
};

}  // namespace portolan
