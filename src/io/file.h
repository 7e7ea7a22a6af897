// File: one open file, appended at its end and read at any place.
//
// Thread: one thread appends; ReadAt may run on other threads at the same time on bytes that were appended before.
// Durability: nothing is safe before Sync returns, and the file's name not before Env::SyncDir on its directory.

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

  // Reserves disk blocks up to `size` without changing Size(). A file system that cannot is no error.
  virtual Status Preallocate(uint64_t size) = 0;

  virtual Status Truncate(uint64_t size) = 0;
  virtual Status Sync() = 0;
  virtual uint64_t Size() const = 0;
  virtual const std::string& path() const = 0;
};

// Reads exactly `count` bytes or fails with kCorrupt, naming file and offset.
Status ReadExactly(File& file, uint64_t offset, char* to, size_t count);

// Sync for callers that try again when a disk is full: any error is kIo here. Some systems (NFS, btrfs, thin volumes)
// learn only now that there is no room, say so once and drop the bytes; another Sync finds nothing to write and says
// that all is well. So after an error it is not known which bytes are on disk, and nobody may ask a second time.
Status SyncOnce(File& file);

}  // namespace portolan
