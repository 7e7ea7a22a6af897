// SnapshotCopy: items of a snapshot as flat bytes. The thread that owns the frontier makes them quickly; another thread
// turns them into blocks (front-coded, compressed, checksummed, written).
//
// A queue's records are copied as they are in memory, all at once; the reader separates them.
//
// In memory only: a length (varint), a byte with the kind (SnapshotItem; kMany added for a RecordFifo's bytes), the
// bytes. Thread: one owner at a time. Memory bound: bytes(); the owner passes it on when it is large enough.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "flow/address.h"
#include "frontier/record_fifo.h"
#include "frontier/snapshot.h"

namespace portolan {

class SnapshotCopy {
 public:
  void Host(const SnapshotHost& host, std::span<const Address> addresses);
  void Url(SnapshotItem item, std::string_view record);     // kHead, kTail, kGate
  void Urls(SnapshotItem item, const RecordFifo& records);  // kHead, kTail
  void Later(int64_t left_ns, std::string_view record);
  void Blocks(std::span<const SpillRef> refs);
  void Ip(const Address& address, int64_t left_ns);

  bool empty() const { return bytes_.empty(); }
  size_t bytes() const { return bytes_.size(); }
  // Returns the content and leaves this empty.
  SnapshotCopy Take() { return std::exchange(*this, SnapshotCopy()); }

  // Writes every item, in order.
  Status WriteTo(SnapshotWriter& writer) const;

 private:
  static constexpr uint8_t kMany = 0x80;

  std::string bytes_;
  std::string scratch_;
};

}  // namespace portolan
