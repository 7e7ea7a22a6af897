// The stream of a receiving shard: a JetStream stream with one subject, on the server's disk, in which batches wait
// until the receiver's checkpoint holds them. Full, it takes no more (discard "new"): senders wait.
//
// The receiver's manifest, not the server, says how far it has read; it removes what its checkpoint holds, but never
// the last message that it took, so that a stream is never empty and its numbers never begin anew unseen.
//
// nats-server answers after its write to the file, without a sync of the disk (that comes every two minutes,
// sync_interval). So a crash of the server loses nothing; a power cut may lose the last minutes of a stream with one
// replica. Both sides notice: the stream's newest number is then lower than one that they know.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/nats_connection.h"

namespace portolan {

struct LinkStreamOptions {
  uint64_t max_bytes = uint64_t{1} << 30;
  int replicas = 1;
};

struct LinkStreamInfo {
  int64_t created_ns = 0;  // since 1970, by the server's clock: only compared with itself
  uint64_t first = 0;      // sequence numbers
  uint64_t last = 0;       // 0: nothing was ever sent
  uint64_t bytes = 0;
};

// kExists: it is there.
Status CreateLinkStream(NatsConnection& connection, std::string_view cluster, uint32_t shard,
                        const LinkStreamOptions& options);
// kNotFound: there is none. What is in it is lost.
Status RemoveStream(NatsConnection& connection, const std::string& name);
// kNotFound: nobody made it, or somebody deleted it.
Result<LinkStreamInfo> ReadLinkStream(NatsConnection& connection, std::string_view cluster, uint32_t shard);

}  // namespace portolan
