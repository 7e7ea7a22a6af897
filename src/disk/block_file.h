// Writing and reading files of checksummed blocks (block_format.h), one after the other.
//
// BlockFileWriter appends whole blocks. After a failed append (disk full, I/O error) the file is cut back to its last
// whole block, so the caller may try the same block again later: a writer never continues behind a torn block.
//
// BlockFileReader reads ahead in large pieces and gives one decoded block at a time. It trusts nothing: a wrong length,
// codec or checksum is a kCorrupt error that names file and offset; a version from the future is kUnsupported.
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

// What a writer says of a block; the payload's plain part goes before the part to be compressed.
struct BlockParts {
  uint8_t kind = 0;
  uint32_t records = 0;
  std::string_view plain;
  std::string_view compressible;
};

class BlockFileWriter {
 public:
  // Makes the file anew and writes its header.
  static Result<BlockFileWriter> Create(Env& env, const std::string& path, FileKind kind, Codec codec);
  // Goes on at `length`, where a block ends; what the file has beyond it is cut. Checks the header.
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
    // Bytes of the file that count; what lies beyond is not looked at. Default: all.
    std::optional<uint64_t> length;
    // Where to begin: 0 for the first block, or the offset of a block.
    uint64_t offset = 0;
  };

  static Result<BlockFileReader> Open(Env& env, const std::string& path, FileKind kind, const Options& options);
  static Result<BlockFileReader> Open(Env& env, const std::string& path, FileKind kind) {
    return Open(env, path, kind, Options{});
  }

  // The next block, or nothing at the end. An end in the middle of a block is kCorrupt.
  Result<std::optional<Block>> Next();
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

// The kind of the file at `path` from its first bytes; kCorrupt if it is none of ours, kUnsupported for a version that
// this program does not know.
Result<FileKind> IdentifyFile(Env& env, const std::string& path);

}  // namespace portolan
