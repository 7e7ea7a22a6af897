#include "frontier/snapshot_copy.h"

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {

void SnapshotCopy::Host(const SnapshotHost& host, std::span<const Address> addresses) {
  scratch_.clear();
  AppendSnapshotHost(scratch_, host, addresses);
  AppendString(bytes_, scratch_);
}

void SnapshotCopy::Url(SnapshotItem item, std::string_view record) {
  AppendVarint(bytes_, record.size() + 1);
  bytes_ += static_cast<char>(item);
  bytes_ += record;
}

void SnapshotCopy::Urls(SnapshotItem item, const RecordFifo& records) {
  if (records.empty()) return;
  AppendVarint(bytes_, records.bytes() + 1);
  bytes_ += static_cast<char>(static_cast<uint8_t>(item) | kMany);
  bytes_ += records.raw();
}

void SnapshotCopy::Later(int64_t left_ns, std::string_view record) {
  scratch_.clear();
  AppendSnapshotLater(scratch_, left_ns, record);
  AppendString(bytes_, scratch_);
}

void SnapshotCopy::Blocks(std::span<const SpillRef> refs) {
  scratch_.clear();
  AppendSnapshotBlocks(scratch_, refs);
  AppendString(bytes_, scratch_);
}

void SnapshotCopy::Ip(const Address& address, int64_t left_ns) {
  scratch_.clear();
  AppendSnapshotIp(scratch_, address, left_ns);
  AppendString(bytes_, scratch_);
}

Status SnapshotCopy::WriteTo(SnapshotWriter& writer) const {
  ByteReader in(bytes_);
  while (!in.done()) {
    std::string_view entry;
    CHECK(in.ReadString(entry) && !entry.empty());
    const auto what = static_cast<uint8_t>(entry[0]);
    if ((what & kMany) == 0) {
      RETURN_IF_ERROR(writer.Add(entry));
      continue;
    }
    ByteReader records(entry.substr(1));
    while (!records.done()) {
      std::string_view record;
      CHECK(records.ReadString(record));
      RETURN_IF_ERROR(writer.Url(static_cast<SnapshotItem>(what & ~kMany), record));
    }
  }
  return {};
}

}  // namespace portolan
