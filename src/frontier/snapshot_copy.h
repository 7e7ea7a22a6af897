// SnapshotCopy: items of a snapshot as flat bytes, taken quickly by the thread that owns the frontier and made into
// blocks (front-coded, compressed, checksummed, written) by another.
//
// A queue's records are copied as they lie, all at once; taking them apart is left to the reader.
//
// In memory only: a length (varint), a byte that says what it is (SnapshotItem; kMany added: a RecordFifo's bytes), the
// bytes. Thread: one owner at a time. Memory bound: bytes(), the owner hands it on when it is large enough.

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
  // Empties it.
  SnapshotCopy Take() { return std::exchange(*this, SnapshotCopy()); }

  // Every item in its order.
  Status WriteTo(SnapshotWriter& writer) const;

 private:
  static constexpr uint8_t kMany = 0x80;

  std::string bytes_;
  std::string scratch_;
};

}  // namespace portolan
