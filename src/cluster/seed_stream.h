// The stream of seeds (portolan-NAME-seeds): the seeds of a cluster's crawl that are too many for its settings, in
// messages of up to kSeedMessage bytes, one canonical URL per line. Written once by `cluster init`; every shard reads
// it once, when its directory is made, and keeps what it needs on its own disk. Nobody holds all of it in memory.
//
// Thread: one. Memory bound: one message. Durability: each message is stored before the next one is sent.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/nats_connection.h"

namespace portolan {

inline constexpr size_t kSeedMessage = 256 << 10;  // a quarter of what nats-server takes by default

class SeedStreamWriter {
 public:
  // Makes the stream. kExists: it is there.
  static Result<std::unique_ptr<SeedStreamWriter>> Create(NatsConnection& connection, std::string_view cluster,
                                                          int replicas);
  Status Add(std::string_view url);
  Status Finish();
  uint64_t count() const { return count_; }

 private:
  SeedStreamWriter(NatsConnection& connection, std::string_view cluster);
  Status Send();

  NatsConnection& connection_;
  const std::string stream_;
  const std::string subject_;
  std::string message_;
  uint64_t count_ = 0;
};

// Reads all of them, in their order. kNotFound: the stream is gone. kCorrupt: it has not `expected` seeds. An error of
// `each` ends it.
Status ForEachSeed(NatsConnection& connection, std::string_view cluster, uint64_t expected,
                   const std::function<Status(std::string_view url)>& each);

}  // namespace portolan
