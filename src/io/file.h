// File: one open file, appended at its end and read at any place.
//
// Thread: one thread appends; ReadAt may run on other threads at the same time on bytes that were appended before.
// Durability: bytes are durable when Sync returns, the file's name when Env::SyncDir on its directory returns.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

class File {
 public:
  virtual ~File() = default;

  // Appends all of `bytes` or fails; after a failure the file's tail is undefined from the former size on.
  virtual Status Append(std::string_view bytes) = 0;

  // Reads up to `count` bytes at `offset` into `to`. Fewer only at the end of the file; 0 past it.
  virtual Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) = 0;

  // A hint: `count` bytes at `offset` will be read soon. A page cache begins to fetch them, so that the read finds them
  // there. It does not block, cannot fail, and changes no result.
  virtual void WillNeed(uint64_t /*offset*/, uint64_t /*count*/) {}

  // Reserves disk blocks up to `size` without changing Size(). Not an error where the file system cannot do it.
  virtual Status Preallocate(uint64_t size) = 0;

  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Sync() = 0;
  virtual uint64_t Size() const = 0;
  virtual const std::string& path() const = 0;
};

// Reads exactly `count` bytes or fails with kCorrupt, naming file and offset.
Status ReadExactly(File& file, uint64_t offset, char* to, size_t count);

// Sync for callers that try again when a disk is full: any error is kIo here. Some systems (NFS, btrfs, thin volumes)
// notice only now that there is no room, report it once and drop the bytes; another Sync finds nothing to write and
// reports success. So after an error it is unknown which bytes are on disk, and Sync must not be called again.
Status SyncOnce(File& file);

}  // namespace portolan
