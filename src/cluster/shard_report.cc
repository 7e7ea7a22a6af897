#include "cluster/shard_report.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "cluster/link_batch_format.h"

namespace portolan {
namespace {

// OFFSET  SIZE  FIELD                                        never renumber
//      0     4  magic
//      4     1  version
//      5     1  flags: 1 idle, 2 only waits, 4 done
//      6     2  shard
//      8     4  CRC32C of what follows
//     12     8  id of the cluster
//     20        varints: epoch, pages, bytes, number of shards; for each shard: sent, epoch taken, number taken,
//               1 if there are gaps
constexpr uint32_t kReportMagic = 0x53524c50;  // "PLRS"
constexpr uint8_t kReportVersion = 1;
constexpr size_t kReportCrcAt = 8;
constexpr size_t kReportBodyAt = 12;
constexpr uint8_t kIdle = 1;
constexpr uint8_t kOnlyWaits = 2;
constexpr uint8_t kDone = 4;

}  // namespace

std::string ShardReport::Encode() const {
  CHECK(kept.sent.size() == kept.taken.size() && shard <= UINT16_MAX);
  std::string out;
  AppendLe<uint32_t>(out, kReportMagic);
  AppendLe<uint8_t>(out, kReportVersion);
  AppendLe<uint8_t>(out,
                    static_cast<uint8_t>((kept.idle ? kIdle : 0) | (only_waits ? kOnlyWaits : 0) | (done ? kDone : 0)));
  AppendLe<uint16_t>(out, static_cast<uint16_t>(shard));
  AppendLe<uint32_t>(out, 0);
  AppendLe<uint64_t>(out, cluster);
  AppendVarint(out, epoch);
  AppendVarint(out, pages);
  AppendVarint(out, bytes);
  AppendVarint(out, kept.sent.size());
  for (size_t i = 0; i < kept.sent.size(); ++i) {
    AppendVarint(out, kept.sent[i]);
    AppendVarint(out, kept.taken[i].epoch);
    AppendVarint(out, kept.taken[i].number);
    AppendLe<uint8_t>(out, kept.taken[i].gaps ? 1 : 0);
  }
  StoreLe<uint32_t>(out.data() + kReportCrcAt, Crc32c(std::string_view(out).substr(kReportBodyAt)));
  return out;
}

Result<ShardReport> ShardReport::Decode(std::string_view bytes, uint32_t shards) {
  const auto bad = [](std::string_view why) {
    return Fail(ErrorCode::kCorrupt, fmt::format("not a report of a shard: {}", why));
  };
  ByteReader reader(bytes);
  ShardReport report;
  uint32_t magic = 0, crc = 0;
  uint8_t version = 0, flags = 0;
  uint16_t shard = 0;
  uint64_t count = 0;
  if (!reader.Read(magic) || !reader.Read(version)) return bad("too short");
  if (magic != kReportMagic) return bad("another magic number");
  if (version != kReportVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("a report of version {}: this program reads {}", version, kReportVersion));
  }
  if (!reader.Read(flags) || !reader.Read(shard) || !reader.Read(crc)) return bad("too short");
  if (Crc32c(bytes.substr(kReportBodyAt)) != crc) return bad("checksum differs");
  if (flags > (kIdle | kOnlyWaits | kDone) || !reader.Read(report.cluster) || !reader.ReadVarint(report.epoch) ||
      !reader.ReadVarint(report.pages) || !reader.ReadVarint(report.bytes) || !reader.ReadVarint(count)) {
    return bad("a field has no valid value");
  }
  if (count != shards || shard >= shards || report.epoch - 1 >= kMaxLinkNumber) return bad("of another crawl");
  report.shard = shard;
  report.kept.idle = (flags & kIdle) != 0;
  report.only_waits = (flags & kOnlyWaits) != 0;
  report.done = (flags & kDone) != 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t sent = 0;
    Kept::Taken taken;
    uint8_t gaps = 0;
    if (!reader.ReadVarint(sent) || !reader.ReadVarint(taken.epoch) || !reader.ReadVarint(taken.number) ||
        !reader.Read(gaps) || gaps > 1 || sent > kMaxLinkNumber || taken.epoch > kMaxLinkNumber ||
        taken.number > kMaxLinkNumber) {
      return bad("a count has no valid value");
    }
    taken.gaps = gaps != 0;
    report.kept.sent.push_back(sent);
    report.kept.taken.push_back(taken);
  }
  if (!reader.done()) return bad("too long");
  return report;
}

}  // namespace portolan
