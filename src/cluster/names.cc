#include "cluster/names.h"

#include <fmt/core.h>

#include <algorithm>

namespace portolan {

bool IsClusterName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxClusterName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string ClusterBucket(std::string_view cluster) { return fmt::format("portolan-{}", cluster); }
std::string LinkStreamName(std::string_view cluster, uint32_t shard) {
  return fmt::format("portolan-{}-shard-{}", cluster, shard);
}
std::string LinkSubject(std::string_view cluster, uint32_t shard) {
  return fmt::format("portolan.{}.shard.{}", cluster, shard);
}
std::string SeedStreamName(std::string_view cluster) { return fmt::format("portolan-{}-seeds", cluster); }
std::string SeedSubject(std::string_view cluster) { return fmt::format("portolan.{}.seeds", cluster); }
std::string MailSubject(std::string_view cluster, uint32_t shard) {
  return fmt::format("portolan.{}.mail.{}", cluster, shard);
}
std::string ReportKey(uint32_t shard) { return fmt::format("report.{}", shard); }
std::string ClockKey(uint32_t shard) { return fmt::format("clock.{}", shard); }
std::string CopySubject(std::string_view cluster, uint32_t shard) {
  return fmt::format("portolan.{}.copy.{}", cluster, shard);
}

}  // namespace portolan
