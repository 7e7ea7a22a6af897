#include "disk/block_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"

namespace portolan {
namespace {

std::string FileHeader(FileKind kind) {
  std::string header(FileMagic(kind));
  AppendLe<uint32_t>(header, kFormatVersion);
  AppendLe<uint32_t>(header, Crc32c(header));
  return header;
}

// The kind that a file header names.
Result<FileKind> ParseFileHeader(std::string_view header, const std::string& path) {
  if (header.size() < kFileHeaderSize) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} bytes are too few for a file header", path, header.size()));
  }
  for (int i = 0; i < kFileKinds; ++i) {
    const auto kind = static_cast<FileKind>(i);
    if (header.substr(0, 8) != FileMagic(kind)) continue;
    if (LoadLe<uint32_t>(header.data() + 12) != Crc32c(header.substr(0, 12))) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: at 0: checksum of the file header differs", path));
    }
    const auto version = LoadLe<uint32_t>(header.data() + 8);
    if (version != kFormatVersion) {
      return Fail(ErrorCode::kUnsupported, fmt::format("{}: {} of version {}, this program knows version {}", path,
                                                       FileKindName(kind), version, kFormatVersion));
    }
    return kind;
  }
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: at 0: no known magic", path));
}

Result<FileKind> ReadKind(File& file) {
  std::string header(kFileHeaderSize, '\0');
  ASSIGN_OR_RETURN(const size_t got, file.ReadAt(0, header.data(), header.size()));
  header.resize(got);
  return ParseFileHeader(header, file.path());
}

Status CheckKind(File& file, FileKind wanted) {
  ASSIGN_OR_RETURN(const FileKind kind, ReadKind(file));
  if (kind == wanted) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{}: a {}, wanted a {}", file.path(), FileKindName(kind), FileKindName(wanted)));
}

}  // namespace

Result<BlockFileWriter> BlockFileWriter::Create(Env& env, const std::string& path, FileKind kind, Codec codec) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kCreate));
  RETURN_IF_ERROR(file->Append(FileHeader(kind)));
  return BlockFileWriter(std::move(file), codec, kFileHeaderSize);
}

Result<BlockFileWriter> BlockFileWriter::Reopen(Env& env, const std::string& path, FileKind kind, Codec codec,
                                                uint64_t length) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kAppend));
  if (length < kFileHeaderSize || file->Size() < length) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: has {} bytes, its valid length is said to be {}", path, file->Size(), length));
  }
  RETURN_IF_ERROR(CheckKind(*file, kind));
  if (file->Size() > length) RETURN_IF_ERROR(file->Truncate(length));
  return BlockFileWriter(std::move(file), codec, length);
}

Status BlockFileWriter::Append(const BlockParts& block) {
  const size_t raw = block.plain.size() + block.compressible.size();
  CHECK(raw <= kMaxBlockPayload, "block of {} bytes", raw);
  if (torn_) {
    RETURN_IF_ERROR(file_->Truncate(length_));
    torn_ = false;
  }
  frame_.assign(kBlockHeaderSize, '\0');
  frame_.append(block.plain);
  const Codec codec = compressor_.Append(block.compressible, frame_);
  char* header = frame_.data();
  StoreLe<uint32_t>(header + 4, static_cast<uint32_t>(frame_.size() - kBlockHeaderSize));
  StoreLe<uint32_t>(header + 8, static_cast<uint32_t>(raw));
  StoreLe<uint32_t>(header + 12, static_cast<uint32_t>(block.plain.size()));
  StoreLe<uint32_t>(header + 16, block.records);
  header[20] = static_cast<char>(codec);
  header[21] = static_cast<char>(block.kind);
  StoreLe<uint32_t>(header, Crc32c(std::string_view(frame_).substr(4)));
  if (Status status = file_->Append(frame_); !status) {
    torn_ = true;
    return status;
  }
  length_ += frame_.size();
  return {};
}

Result<BlockFileReader> BlockFileReader::Open(Env& env, const std::string& path, FileKind kind,
                                              const Options& options) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kRead));
  const uint64_t size = file->Size();
  const uint64_t length = options.length.value_or(size);
  if (size < length) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: has {} bytes, its valid length is said to be {}", path, size, length));
  }
  RETURN_IF_ERROR(CheckKind(*file, kind));
  return BlockFileReader(std::move(file), length, options.read_ahead,
                         std::max<uint64_t>(options.offset, kFileHeaderSize));
}

std::unexpected<Error> BlockFileReader::Corrupt(std::string_view what) const {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: {}", file_->path(), offset_, what));
}

Result<std::string_view> BlockFileReader::Fetch(size_t count, std::string_view what) {
  if (count > length_ - offset_) {
    return Corrupt(fmt::format("the file ends within its {} ({} of {} bytes)", what, length_ - offset_, count));
  }
  const uint64_t skip = offset_ - buffer_start_;
  if (offset_ < buffer_start_ || skip + count > buffer_.size()) {
    const uint64_t want = std::min<uint64_t>(std::max<uint64_t>(count, read_ahead_), length_ - offset_);
    // What is already here is kept: blocks straddle the pieces that are read.
    size_t kept = 0;
    if (offset_ >= buffer_start_ && skip < buffer_.size()) {
      kept = buffer_.size() - skip;
      std::copy(buffer_.end() - static_cast<ptrdiff_t>(kept), buffer_.end(), buffer_.begin());
    }
    buffer_start_ = offset_;
    buffer_.resize(want);
    ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(offset_ + kept, buffer_.data() + kept, want - kept));
    buffer_.resize(kept + got);
    if (buffer_.size() < count) {
      return Corrupt(fmt::format("the file ends within its {} ({} of {} bytes)", what, buffer_.size(), count));
    }
    return std::string_view(buffer_).substr(0, count);
  }
  return std::string_view(buffer_).substr(skip, count);
}

Result<std::optional<Block>> BlockFileReader::Next() {
  if (offset_ >= length_) return std::nullopt;
  ASSIGN_OR_RETURN(const std::string_view header, Fetch(kBlockHeaderSize, "header"));
  Block block;
  block.offset = offset_;
  block.stored = LoadLe<uint32_t>(header.data() + 4);
  const auto raw = LoadLe<uint32_t>(header.data() + 8);
  block.plain = LoadLe<uint32_t>(header.data() + 12);
  block.records = LoadLe<uint32_t>(header.data() + 16);
  const auto codec = static_cast<uint8_t>(header[20]);
  block.kind = static_cast<uint8_t>(header[21]);
  if (block.stored > kMaxBlockPayload || raw > kMaxBlockPayload || block.plain > raw || block.plain > block.stored) {
    return Corrupt("its lengths make no sense");
  }
  ASSIGN_OR_RETURN(const std::string_view frame, Fetch(kBlockHeaderSize + block.stored, "payload"));
  if (LoadLe<uint32_t>(frame.data()) != Crc32c(frame.substr(4))) return Corrupt("checksum differs");
  if (codec > static_cast<uint8_t>(Codec::kZstd)) return Corrupt(fmt::format("unknown codec {}", codec));
  block.codec = static_cast<Codec>(codec);
  block.end = offset_ + frame.size();
  const std::string_view payload = frame.substr(kBlockHeaderSize);
  if (block.codec == Codec::kNone) {
    if (payload.size() != raw) return Corrupt("its lengths make no sense");
    block.payload = payload;
  } else {
    decoded_.resize(raw);
    std::copy_n(payload.begin(), block.plain, decoded_.begin());
    if (!decompressor_.Decode(block.codec, payload.substr(block.plain), decoded_.data() + block.plain,
                              raw - block.plain)) {
      return Corrupt("its payload does not decompress");
    }
    block.payload = decoded_;
  }
  offset_ = block.end;
  return block;
}

void BlockFileReader::Seek(uint64_t offset, uint64_t until) {
  offset_ = offset;
  length_ = until;
}

Result<FileKind> IdentifyFile(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kRead));
  return ReadKind(*file);
}

}  // namespace portolan
