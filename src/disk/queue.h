// DiskQueue: first in, first out, of byte strings, on disk.
//
// A queue is a sequence of segments, files of record blocks (record_block.h). Producers append to the last one, the
// consumer reads the first; a segment that is read to its end is freed. Records wait in RAM only until they fill a
// block, and a consumer that catches up takes them from there. Every byte is written once and read at most once.
//
// Thread: Append from any thread; Pop and the Checkpointable functions from one thread, the owner. One lock inside.
// Memory bound: two blocks (one being filled, one being read) and only while there is something in them: an idle queue
// holds a few hundred bytes, so hundreds of queues may be open.
// Size bound: only the disk's. A failed write leaves the queue unchanged: Append returns the error, no record of that
// batch is in the queue, and the same batch may be tried again.
// Durability: what was appended or popped before a Commit stays so after a crash; later appends and pops are undone.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/manifest.h"
#include "disk/record_block.h"
#include "io/env.h"

namespace portolan {

class DiskQueue : public Checkpointable {
 public:
  struct Options {
    std::string name;                            // of the section and the beginning of the files' names
    size_t block_size = size_t{32} << 10;        // raw bytes of a block
    uint64_t segment_size = uint64_t{64} << 20;  // a segment is closed when it is this long
    Codec codec = Codec::kLz4;
    // Consumed segments are kept until a manifest without them is committed. False for a queue that is in no manifest:
    // they are removed at once.
    bool durable = true;
  };

  // Opens the state that the manifest's section describes, or an empty queue when there is no section.
  static Result<std::unique_ptr<DiskQueue>> Open(Env& env, const Manifest& manifest, const Options& options);
  ~DiskQueue() override;

  // All records or none.
  Status Append(std::span<const std::string_view> records);
  Status Append(std::string_view record) { return Append(std::span(&record, 1)); }

  // Up to `max` of the oldest records; fewer when the queue has no more, or when reading fails: then the next call
  // returns the error.
  Result<std::vector<std::string>> Pop(size_t max);

  // The oldest record, null when there is none. It stays in the queue, and the pointer valid, until PopFront or Pop. A
  // caller that moves it elsewhere pops it afterwards, so an error in between loses nothing.
  Result<const std::string*> Front();
  void PopFront();  // REQUIRES: Front gave a record.

  uint64_t size() const;  // records that wait

  Status Flush() override;
  ManifestSection Describe() const override;
  Status Committed() override;

  static constexpr std::string_view kKind = "queue";

 private:
  struct Segment {
    std::string name;
    uint64_t length = 0;  // valid bytes
  };

  DiskQueue(Env& env, std::string dir, const Options& options);
  Status Restore(const ManifestSection& section);
  // The following need mutex_.
  Status WriteBlock();
  Result<bool> Step();
  void CountPopped();
  Status StartSegment();
  // Moves the reader to its next record in the blocks on disk: opens, reads and frees segments. False when all blocks
  // are read.
  Result<bool> NextOnDisk();
  Status FreeFrontSegment();

  Env& env_;
  const std::string dir_;
  const Options options_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  uint64_t next_segment_ = 1;
  std::deque<Segment> segments_;  // oldest first; the writer's is the last, if writer_ is there
  std::optional<BlockFileWriter> writer_;
  RecordBlockBuilder building_;  // records that are in no block yet
  uint64_t pushed_ = 0;          // records ever appended
  uint64_t popped_ = 0;          // records ever popped
  uint64_t written_ = 0;         // records ever written to blocks
  // The reader: in the front segment, at a block, after some of its records.
  std::optional<BlockFileReader> reader_;
  uint64_t reader_block_ = kFileHeaderSize;  // offset of the block being read, or of the next one
  uint32_t reader_record_ = 0;               // records of that block already popped
  RecordBlockReader records_;
  bool in_block_ = false;
  std::string front_;                 // the record that records_ stands at, when it was asked for and not popped
  bool has_front_ = false;            // there is one
  std::vector<std::string> retired_;  // consumed segments that the committed manifest may still name
  ManifestSection described_;         // as of the last Flush
};

}  // namespace portolan
