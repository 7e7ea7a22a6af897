// What the frontier may use, and how polite it is. All its bounds are here.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/hash_key.h"
#include "frontier/phase_partition.h"
#include "frontier/politeness.h"

namespace portolan {

struct FrontierOptions {
  std::string name = "frontier";               // prefix of the names of its sections and files
  size_t memory = size_t{256} << 20;           // bytes of RAM for hosts, addresses and their URLs
  uint32_t front_queues = 8;                   // F: priorities 0 … F-1; at most 32
  uint32_t back_queues = 3072;                 // hosts with URLs that are wanted in RAM: at least 3 × connections
  uint32_t max_hosts = 1'000'000;              // host records, including hosts that only wait for their clocks
  size_t head_bytes = size_t{64} << 10;        // of a host's URLs in RAM before the rest goes to the spill
  size_t block_bytes = size_t{64} << 10;       // of URLs in one block of the spill
  uint64_t segment_size = uint64_t{64} << 20;  // of the files on disk
  uint32_t max_resolving = 256;                // names looked up at the same time
  uint32_t pull_step = 256;                 // URLs moved from the front in one call of Next, so that calls stay short
  uint32_t copy_hosts = 512;                // hosts examined in one part of a snapshot, likewise
  int64_t min_ttl_ns = 60'000'000'000;      // a shorter time to live of an address is raised to this
  int64_t max_ttl_ns = 86'400'000'000'000;  // and a longer one is cut to this
  // A host that failed this many times in a row, with back-off in between, is given up: its URLs fail with the last
  // outcome. 0: never.
  uint32_t give_up_after = 12;
  uint32_t connections_per_host = 1;  // to a host, and to an address, at one time; 1 … kMaxConnectionsPerHost
  PolitenessOptions politeness;
  uint64_t seed = 1;
  HashKey key;          // the crawl's; hashes hosts, URLs and addresses
  uint32_t shards = 1;  // of the crawl: they share addresses (address_book.h)
  uint32_t shard = 0;   // the index of this one
  // How long a shard may use an address after it asked for it, unless it asks again. 0: without end, for shards that
  // live and die together and lose no notice.
  int64_t lease_ns = 0;
  int64_t lease_retry_ns = 2'000'000'000;  // without an answer for so long, an address is asked for again
  // Of this process's claim to the shard. After the first, addresses of this shard are not lent before all leases that
  // an earlier process gave have ended.
  uint64_t epoch = 0;
  // The shards share hosts and fetch from them in turns (phase_partition.h); none: each has hosts of its own.
  std::optional<PhasePartition::Options> phases;
};

}  // namespace portolan
