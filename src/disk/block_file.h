// Writing and reading files of checksummed blocks (block_format.h), one after the other.
//
// BlockFileWriter appends whole blocks. After a failed append (disk full, I/O error) the file is cut back to its last
// whole block, so the caller may try the same block again later. A writer never appends after a torn block.
//
// BlockFileReader reads ahead in large pieces and gives one decoded block at a time. It does not trust the file: a
// wrong length, codec or checksum is a kCorrupt error that names file and offset; a version from the future is
// kUnsupported.
//
// Thread: one owner each. Memory bound: writer one block; reader `read_ahead` plus one stored and one decoded block.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/block_format.h"
#include "disk/codec.h"
#include "io/env.h"

namespace portolan {

// What the caller gives for a block. The plain part of the payload is stored before the part that is compressed.
struct BlockParts {
  uint8_t kind = 0;
  uint32_t records = 0;
  std::string_view plain;
  std::string_view compressible;
};

class BlockFileWriter {
 public:
  // Creates the file (replacing an old one) and writes its header.
  static Result<BlockFileWriter> Create(Env& env, const std::string& path, FileKind kind, Codec codec);
  // Continues at `length`, where a block ends; anything after it is cut off. Checks the header.
  static Result<BlockFileWriter> Reopen(Env& env, const std::string& path, FileKind kind, Codec codec, uint64_t length);

  Status Append(const BlockParts& block);
  Status Sync() { return file_->Sync(); }
  // The end of the last whole block.
  uint64_t length() const { return length_; }
  const std::string& path() const { return file_->path(); }

 private:
  BlockFileWriter(std::unique_ptr<File> file, Codec codec, uint64_t length)
      : file_(std::move(file)), compressor_(codec), length_(length) {}

  std::unique_ptr<File> file_;
  Compressor compressor_;
  uint64_t length_;
  bool torn_ = false;  // the file may have bytes beyond length_
  std::string frame_;
};

struct Block {
  uint64_t offset = 0;  // of its header in the file
  uint64_t end = 0;     // of its payload
  uint8_t kind = 0;
  Codec codec = Codec::kNone;
  uint32_t records = 0;
  uint32_t plain = 0;        // bytes of payload before the part that was compressed
  uint32_t stored = 0;       // bytes of payload on disk
  std::string_view payload;  // decoded; valid until the next call on the reader
};

class BlockFileReader {
 public:
  struct Options {
    size_t read_ahead = size_t{1} << 20;
    // Valid bytes of the file; what lies beyond is not read. Default: all.
    std::optional<uint64_t> length;
    // Where to begin: 0 for the first block, or the offset of a block.
    uint64_t offset = 0;
  };

  static Result<BlockFileReader> Open(Env& env, const std::string& path, FileKind kind, const Options& options);
  static Result<BlockFileReader> Open(Env& env, const std::string& path, FileKind kind) {
    return Open(env, path, kind, Options{});
  }

  // The next block, or nullopt at the end. A file that ends in the middle of a block is kCorrupt.
  Result<std::optional<Block>> Next();
  // Bytes at `offset` are read soon (File::WillNeed).
  void WillNeed(uint64_t offset, uint64_t count) { file_->WillNeed(offset, count); }
  // Where the next block begins.
  uint64_t offset() const { return offset_; }
  uint64_t length() const { return length_; }

  // Jumps to the block at `offset`; to the end with `until` == `offset`. Blocks from `until` on are not read.
  void Seek(uint64_t offset, uint64_t until);

 private:
  BlockFileReader(std::unique_ptr<File> file, uint64_t length, size_t read_ahead, uint64_t offset)
      : file_(std::move(file)), length_(length), offset_(offset), read_ahead_(read_ahead) {}

  // A view of `count` bytes at offset_, or an error that says what is missing.
  Result<std::string_view> Fetch(size_t count, std::string_view what);
  std::unexpected<Error> Corrupt(std::string_view what) const;

  std::unique_ptr<File> file_;
  uint64_t length_;
  uint64_t offset_;
  size_t read_ahead_;
  std::string buffer_;  // bytes of the file from buffer_start_ on
  uint64_t buffer_start_ = 0;
  std::string decoded_;
  Decompressor decompressor_;
};

// The kind of the file at `path` from its first bytes; kCorrupt if it is not a Portolan file, kUnsupported for a
// version that this program does not know.
Result<FileKind> IdentifyFile(Env& env, const std::string& path);

}  // namespace portolan
