// The system's limits for this process, descriptors and memory, and how a crawl uses them.
//
// Thread: any. The functions with arguments are pure, except for the files that they read.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace portolan {

// Raises the soft limit of descriptors to the hard one. Returns how many there may be.
uint64_t RaiseDescriptorLimit();

// How a crawl divides its descriptors: how many connections it may have, how many may be kept open idle per loop, and
// how many questions to name servers may be outstanding, each with its own socket.
struct ConnectionPlan {
  uint64_t connections = 0;  // 0: there are too few descriptors
  uint64_t idle = 0;
  uint64_t questions = 0;
};
// `queues`: those of budgets, each with a file.
ConnectionPlan PlanConnections(uint64_t descriptors, uint64_t wanted, uint64_t loops, uint64_t queues = 0);
// Descriptors for the crawl's files, the archive, libraries, and merges.
inline constexpr uint64_t kDescriptorsForFiles = 96;

// The memory that this process may use: the smallest of RAM and memory.max of its control group and those above it
// (cgroup v2). `root` is "" except in tests. 0: unknown.
uint64_t MemoryLimit(const std::string& root);

// A crawl takes at most three quarters of `limit` bytes: the rest is for the page cache, without which its files are
// slow, and for libraries.
uint64_t SafeMemory(uint64_t limit);

}  // namespace portolan
