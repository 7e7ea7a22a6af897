#include "disk/z_file.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "disk/gap_code.h"

namespace portolan {

ZWriter::ZWriter(BlockFileWriter file, size_t value_size) : file_(std::move(file)), value_size_(value_size) {
  keys_.reserve(kKeysPerBlock);
}

Result<ZWriter> ZWriter::Create(Env& env, const std::string& path, size_t value_size) {
  ASSIGN_OR_RETURN(BlockFileWriter file, BlockFileWriter::Create(env, path, FileKind::kZ, Codec::kNone));
  return ZWriter(std::move(file), value_size);
}

Status ZWriter::WriteBlock() {
  if (keys_.empty()) return {};
  payload_.clear();
  AppendGapCoded(keys_, payload_);
  payload_ += values_;
  RETURN_IF_ERROR(file_.Append(
      {.kind = kZKeysBlock, .records = static_cast<uint32_t>(keys_.size()), .plain = payload_, .compressible = {}}));
  written_ += keys_.size();
  keys_.clear();
  values_.clear();
  return {};
}

Status ZWriter::Finish(bool sync) {
  RETURN_IF_ERROR(WriteBlock());
  payload_.clear();
  AppendLe<uint64_t>(payload_, written_);
  AppendLe<uint64_t>(payload_, value_size_);
  RETURN_IF_ERROR(file_.Append({.kind = kZEndBlock, .records = 0, .plain = payload_, .compressible = {}}));
  return sync ? file_.Sync() : Status();
}

Result<ZReader> ZReader::Open(Env& env, const std::string& path, uint64_t length, size_t value_size,
                              size_t read_ahead) {
  ZReader reader(value_size);
  if (path.empty()) return reader;
  BlockFileReader::Options options;
  options.read_ahead = read_ahead;
  options.length = length;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env, path, FileKind::kZ, options));
  reader.file_.push_back(std::move(file));
  reader.path_ = path;
  reader.keys_.resize(kKeysPerBlock);
  RETURN_IF_ERROR(reader.NextBlock());
  return reader;
}

Status ZReader::NextBlock() {
  at_ = count_ = 0;
  if (file_.empty()) return {};
  const auto corrupt = [&](uint64_t offset, std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: {}", path_, offset, what));
  };
  ASSIGN_OR_RETURN(const std::optional<Block> block, file_[0].Next());
  if (!block) return corrupt(file_[0].offset(), "the file ends without its end block");
  if (block->kind == kZEndBlock) {
    if (block->payload.size() != 16 || LoadLe<uint64_t>(block->payload.data()) != keys_read_ ||
        LoadLe<uint64_t>(block->payload.data() + 8) != value_size_) {
      return corrupt(block->offset, "the end block does not fit the keys before it");
    }
    file_.clear();
    return {};
  }
  if (block->kind != kZKeysBlock || block->records == 0 || block->records > kKeysPerBlock) {
    return corrupt(block->offset, "not a block of keys");
  }
  const size_t used = DecodeGapCoded(block->payload, block->records, keys_.data());
  if (used == 0 || block->payload.size() - used != block->records * value_size_) {
    return corrupt(block->offset, "its keys do not decode");
  }
  if (keys_read_ > 0 && keys_[0] <= last_key_) return corrupt(block->offset, "its keys do not follow the block before");
  values_ = block->payload.substr(used);
  count_ = block->records;
  keys_read_ += count_;
  last_key_ = keys_[count_ - 1];
  return {};
}

}  // namespace portolan
