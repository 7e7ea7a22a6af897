// The frontier's snapshot: the part of it that is in RAM, as one file per checkpoint (docs/formats/frontier.md).
//
// A file of record blocks; the first byte of a record says what it is. Items that belong to a host follow it:
//   host ( head | later | tail | blocks )*
// Records drawn from the front queues and clocks of addresses may be anywhere between them.
// Times are stored as the time that was left, and the calendar at the moment of writing is in the manifest: a restored
// clock runs out at the same calendar time, but never takes longer than it had left (the calendar may have been set
// back).
//
// SnapshotWriter and ReadSnapshot know the items, not the frontier. Thread: one owner. Memory bound: one block.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "flow/address.h"
#include "frontier/spill_log.h"
#include "io/env.h"

namespace portolan {

// On disk: never renumber.
enum class SnapshotItem : uint8_t {
  kHost = 1,    // fields of SnapshotHost
  kHead = 2,    // a URL record in the head of the host's queue
  kTail = 3,    // … in its tail
  kLater = 4,   // varint: nanoseconds left; then a URL record
  kBlocks = 5,  // references into the spill: u32 segment, offset, records each
  kGate = 6,    // a URL record that was drawn from the front queues
  kIp = 7,      // an address, varint: nanoseconds that its clock has left
};

struct SnapshotHost {
  uint64_t key = 0;
  int64_t free_left_ns = 0;
  int64_t crawl_delay_ns = 0;
  int64_t address_left_ns = 0;
  uint8_t ill_streak = 0;
  uint8_t dns_failures = 0;
  uint8_t address_at = 0;
  std::optional<uint8_t> verdict;  // FetchOutcome, if the host is given up
  std::vector<Address> addresses;

  bool operator==(const SnapshotHost&) const = default;
};

// These append items as records. A host's addresses are those of `addresses`.
void AppendSnapshotHost(std::string& out, const SnapshotHost& host, std::span<const Address> addresses);
void AppendSnapshotLater(std::string& out, int64_t left_ns, std::string_view record);
void AppendSnapshotBlocks(std::string& out, std::span<const SpillRef> refs);
void AppendSnapshotIp(std::string& out, const Address& address, int64_t left_ns);

// The record of a host, and back; empty for bytes that are not such a record.
std::string EncodeSnapshotHost(const SnapshotHost& host);
std::optional<SnapshotHost> DecodeSnapshotHost(std::string_view record);

class SnapshotWriter {
 public:
  static constexpr uint8_t kBlockKind = 3;  // on disk: of a block in a queue segment file

  static Result<SnapshotWriter> Create(Env& env, const std::string& path);

  Status Add(std::string_view record);                     // of any item
  Status Url(SnapshotItem item, std::string_view record);  // kHead, kTail, kGate
  Status Finish();                                         // and syncs
  uint64_t length() const { return file_.length(); }
  uint64_t items() const { return items_; }

 private:
  static constexpr size_t kBlockBytes = size_t{256} << 10;

  explicit SnapshotWriter(BlockFileWriter file) : file_(std::move(file)) {}

  BlockFileWriter file_;
  RecordBlockBuilder block_;
  std::string scratch_;
  uint64_t items_ = 0;
};

// Receives a snapshot's items in their order. An error ends the reading.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  virtual Status OnHost(const SnapshotHost& host) = 0;
  virtual Status OnUrl(SnapshotItem item, std::string_view record) = 0;
  virtual Status OnLater(int64_t left_ns, std::string_view record) = 0;
  virtual Status OnBlock(const SpillRef& ref) = 0;
  virtual Status OnIp(const Address& address, int64_t left_ns) = 0;
};

// kCorrupt if the file is not a snapshot of `items` items.
Status ReadSnapshot(Env& env, const std::string& path, uint64_t length, uint64_t items, SnapshotSink& sink);

}  // namespace portolan
