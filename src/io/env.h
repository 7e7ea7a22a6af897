// Env: every access to the file system goes through here.
//
// So tests can put a file system in memory (MemEnv) or a failing one (FaultyEnv) under any structure, and nothing above
// io/ makes system calls. Paths are plain strings with '/' as separator.
//
// Thread: all members may be called from any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file.h"

namespace portolan {

enum class OpenMode : uint8_t {
  kRead,    // must exist; Append fails
  kCreate,  // made anew; an old file is truncated to 0 bytes
  kAppend,  // made if absent; appends go to its end
};

struct FileOptions {
  // Bypass the page cache where the file system can: for large sequential files that would only evict others.
  bool direct = false;
};

// Held as long as the object lives; also released by the system when the process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// The bytes of a file, read in place. Valid as long as the object lives, also when the name is removed meanwhile.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  virtual std::string_view view() const = 0;
  // Memory that the bytes take in this process goes back to the system where they can be had again from the file; what
  // is touched later comes back. For reading a large file from front to back without keeping it.
  virtual void Release() const {}
};

class Env {
 public:
  virtual ~Env() = default;

  virtual Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode, const FileOptions& options) = 0;
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) { return Open(path, mode, {}); }

  virtual bool Exists(const std::string& path) = 0;
  // Names (not paths) in `dir`, sorted.
  virtual Result<std::vector<std::string>> List(const std::string& dir) = 0;
  // Makes the directory and its parents. The names of new directories are durable where the file system can do that.
  virtual Status CreateDirs(const std::string& dir) = 0;
  virtual Status Remove(const std::string& path) = 0;
  // Replaces `to` if it exists, in one step. Durable after SyncDir.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status SyncDir(const std::string& dir) = 0;
  // kBusy when another process, or another holder in this process, holds the lock.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Bytes that may still be written below `dir`.
  virtual Result<uint64_t> FreeSpace(const std::string& dir) = 0;
  // The identity of the directory: two names of one directory give the same text, different directories give different
  // texts. For comparing only. kUnsupported from an Env that cannot tell.
  virtual Result<std::string> Identity(const std::string& dir);

  // The whole file, for readers that use it in place. This machine's file system maps it: pages are read when they are
  // touched, and the system drops them when it needs memory. The file must not be cut while it is mapped. Elsewhere it
  // is a copy in memory.
  virtual Result<std::unique_ptr<FileBytes>> Map(const std::string& path);

  // The file system of this machine. Never destroyed.
  static Env& Posix();
};

std::string JoinPath(std::string_view dir, std::string_view name);
std::string DirName(std::string_view path);

// SyncDir, but like SyncOnce any error is kIo.
Status SyncDirOnce(Env& env, const std::string& dir);

Result<std::string> ReadWholeFile(Env& env, const std::string& path);

// The safe replacement of a small file: write beside it, sync, rename, sync the directory.
// After a crash the file holds either the old or the new contents, whole. A sync that fails is kIo.
Status ReplaceFile(Env& env, const std::string& path, std::string_view contents);

}  // namespace portolan
