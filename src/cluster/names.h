// Names of clusters and nodes. They become parts of subjects, streams and buckets of NATS, where dots, spaces, '*' and
// '>' have a meaning: so letters, digits, '-' and '_', 1 to 32 of them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

inline constexpr size_t kMaxClusterName = 32;

bool IsClusterName(std::string_view name);

// "portolan-NAME": the bucket with the settings and the leases.
std::string ClusterBucket(std::string_view cluster);
// "portolan-NAME-shard-K", the stream of a receiving shard, and "portolan.NAME.shard.K", its subject.
std::string LinkStreamName(std::string_view cluster, uint32_t shard);
std::string LinkSubject(std::string_view cluster, uint32_t shard);
// "portolan.NAME.mail.K": datagrams to that shard. "report.K": a key of the bucket.
std::string MailSubject(std::string_view cluster, uint32_t shard);
std::string ReportKey(uint32_t shard);
// "clock.K": a key of the bucket that shard K writes to see when the server stores it.
std::string ClockKey(uint32_t shard);
// "portolan.NAME.copy.K": where the holder of a shard is asked for its files.
std::string CopySubject(std::string_view cluster, uint32_t shard);

// "portolan-NAME-seeds" and "portolan.NAME.seeds".
std::string SeedStreamName(std::string_view cluster);
std::string SeedSubject(std::string_view cluster);

}  // namespace portolan
