// A cluster on one machine: `portolan crawl --nodes N`. A nats-server of its own on a loopback port with a password, N
// processes of this program as nodes, and this process, which watches them: one that dies is started again, and all end
// when this one does, however that happens (io/child_process.h).
//
// The directory:
//   local        "portolan-local 1 nodes=3 shards=3 password=…", readable by its owner only
//   nats/        the server's settings, its log, its streams
//   node-1/ …    the directories of the nodes, each with its shards; node-1.log what it says
//
// Thread: one owner. Memory bound: small; the nodes share memory.total evenly.

#pragma once

#include <string>

#include "base/result.h"
#include "cli/seeds.h"
#include "crawl/config.h"

namespace portolan {

inline constexpr const char* kLocalFile = "local";
inline constexpr const char* kLocalCluster = "local";  // its name in NATS
inline constexpr uint32_t kMostLocalNodes = 64;

// Is there a crawl with several nodes in this directory?
bool HoldsLocalCluster(const std::string& dir);

struct LocalClusterOptions {
  std::string dir;
  uint32_t nodes = 2;
  Config config;     // of a new crawl
  GivenSeeds given;  // likewise
  bool resume = false;
  bool quiet = false;
  bool json = false;  // the summary as one JSON object
};

// Runs it until the crawl is done or a stop is requested, prints its summary, and returns the verb's exit code.
int RunLocalCluster(LocalClusterOptions options);

}  // namespace portolan
