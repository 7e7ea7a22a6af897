// SpillLog: blocks of URLs for which their hosts have no room in RAM, in append-only segments shared by all hosts.
//
// One file per host would be millions of files; one queue for all hosts would have to be read as a whole for one host's
// URLs. Here a host's newest URLs become one compressed block at the end of the log, and the host keeps a reference of
// 12 bytes. A block is read back once, then it is free. A segment without live blocks is removed, and one that is less
// than half alive is offered for compaction (sparse()): the owner of the references writes its live blocks again.
//
// Invariants: a segment's live records are the sum of the records of the references that were returned or adopted and
// not freed. The last segment takes blocks; no other changes.
// Thread: one owner. Memory bound: 48 bytes per segment and kOpenReaders readers of about two blocks each; references
// belong to their holder.
// Durability: Checkpointable. Committed segments stay until a manifest without them is committed. The references are in
// the snapshot of the same commit.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/manifest.h"
#include "disk/record_block.h"
#include "frontier/record_fifo.h"
#include "io/env.h"

namespace portolan {

struct SpillRef {
  uint32_t segment = 0;
  uint32_t offset = 0;  // of the block in the segment
  uint32_t records = 0;

  bool operator==(const SpillRef&) const = default;
};

class SpillLog : public Checkpointable {
 public:
  struct Options {
    std::string name;                            // of the section, and prefix of the files' names
    uint64_t segment_size = uint64_t{64} << 20;  // below 2 GiB
    Codec codec = Codec::kLz4;
  };

  // Opens what the manifest describes. Then the holder of the references must Adopt each one and call DropDead.
  static Result<std::unique_ptr<SpillLog>> Open(Env& env, const Manifest& manifest, const Options& options);
  ~SpillLog() override;

  // Writes the records of `block`, which is then cleared. On an error nothing has changed.
  Result<SpillRef> Append(RecordBlockBuilder& block);
  // Appends the block's records to `out`. The reference stays live. On an error `out` is unchanged.
  Status Read(const SpillRef& ref, RecordFifo& out);
  // The block will be read soon: the page cache is asked to fetch it (File::WillNeed). Changes nothing.
  void WillNeed(const SpillRef& ref);
  // The same for a part of a segment, from `offset` on. Returns where the next part begins; 0 after the last.
  uint64_t WillNeedPart(uint32_t segment, uint64_t offset);
  // The block is not needed any more.
  void Free(const SpillRef& ref);
  // Writes the same block at the end of the log; the old reference is freed.
  Result<SpillRef> Move(const SpillRef& ref);

  // After Open: the reference was found in the snapshot. kCorrupt if there can be no such block.
  Status Adopt(const SpillRef& ref);
  void DropDead();

  // The emptiest closed segment that is less than half alive, if any: only then is compaction worth its traffic.
  std::optional<uint32_t> sparse() const;
  uint64_t records() const { return live_; }
  size_t segments() const { return segments_.size(); }
  uint64_t bytes_on_disk() const;

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override;

  static constexpr std::string_view kKind = "spill";
  static constexpr uint8_t kBlockKind = 2;  // on disk: of a block in a queue segment file

 private:
  struct Segment {
    uint64_t length = 0;
    uint64_t records = 0;  // ever written
    uint64_t live = 0;
  };
  static constexpr size_t kOpenReaders = 16;
  static constexpr size_t kReadAhead = size_t{24} << 10;  // one read for most blocks
  static constexpr uint64_t kAsked = 2 * kReadAhead;      // for a block of unknown length: nearly all fit
  static constexpr uint64_t kAskedPart = uint64_t{1} << 20;

  SpillLog(Env& env, std::string dir, const Options& options);
  std::string NameOf(uint32_t segment) const;
  void Ask(uint32_t segment, uint64_t offset, uint64_t count);
  Result<Block> ReadBlock(const SpillRef& ref);
  Result<SpillRef> Write(const BlockParts& parts);
  void Retire(uint32_t segment);

  Env& env_;
  const std::string dir_;
  const Options options_;
  uint32_t next_segment_ = 1;
  uint64_t live_ = 0;
  std::map<uint32_t, Segment> segments_;
  std::optional<BlockFileWriter> writer_;                      // of the last segment
  std::vector<std::pair<uint32_t, BlockFileReader>> readers_;  // last used at the end
  RecordBlockReader records_;
  std::vector<std::string> retired_;
  ManifestSection described_;
};

}  // namespace portolan
