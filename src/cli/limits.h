// What the system lets this process have, and what a crawl makes of it: descriptors and memory.
//
// Thread: any. The functions with arguments are pure, but for the files that they name.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace portolan {

// Raises the soft limit of descriptors to the hard one. Returns how many there may be.
uint64_t RaiseDescriptorLimit();

// How many connections a crawl may have with so many descriptors, how many of them may be kept open idle, per loop, and
// how many questions may be at name servers, each of which has a socket.
struct ConnectionPlan {
  uint64_t connections = 0;  // 0: there are too few for any
  uint64_t idle = 0;
  uint64_t questions = 0;
};
// `queues`: those of budgets, each with a file.
ConnectionPlan PlanConnections(uint64_t descriptors, uint64_t wanted, uint64_t loops, uint64_t queues = 0);
// For the crawl's files, the archive, libraries, and what a merge opens.
inline constexpr uint64_t kDescriptorsForFiles = 96;

// The memory that this process may use: the smallest of RAM and memory.max of its control group and those above it
// (cgroup v2). `root` is "" but in tests. 0: nobody knows.
uint64_t MemoryLimit(const std::string& root);

// Of `limit` bytes a crawl takes no more than three quarters: the rest is for the page cache, without which its files
// are slow, and for the libraries' own.
uint64_t SafeMemory(uint64_t limit);

}  // namespace portolan
