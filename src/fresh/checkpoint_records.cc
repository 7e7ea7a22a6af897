#include "fresh/checkpoint_records.h"

#include <fmt/core.h>

#include <optional>

#include "disk/block_file.h"
#include "disk/record_block.h"

namespace portolan {
namespace {

constexpr size_t kRecordsBlockBytes = size_t{64} << 10;

}  // namespace

CheckpointRecords::CheckpointRecords(Env& env, std::string dir, std::string name, Source source)
    : env_(env), dir_(std::move(dir)), name_(std::move(name)), source_(std::move(source)) {}

Status CheckpointRecords::Flush() {
  const std::string file_name = fmt::format("{}-{:09}.records", name_, next_file_);
  const std::string path = JoinPath(dir_, file_name);
  uint64_t records = 0;
  const auto write = [&]() -> Result<uint64_t> {
    ASSIGN_OR_RETURN(BlockFileWriter file, BlockFileWriter::Create(env_, path, FileKind::kQueue, Codec::kLz4));
    RecordBlockBuilder block;
    const auto append = [&]() -> Status {
      RETURN_IF_ERROR(file.Append(block.Finish(kBlockKind)));
      block.Clear();
      return {};
    };
    RETURN_IF_ERROR(source_([&](std::string_view record) -> Status {
      ++records;
      block.Add(record);
      return block.size() < kRecordsBlockBytes ? Status() : append();
    }));
    if (!block.empty()) RETURN_IF_ERROR(append());
    RETURN_IF_ERROR(file.Sync());
    return file.length();
  };
  const Result<uint64_t> length = write();
  if (!length) {
    static_cast<void>(env_.Remove(path));  // no manifest names it, and on a full disk its room is needed
    return std::unexpected(length.error());
  }
  ++next_file_;
  for (const auto& file : described_.files) retired_.push_back(file.name);
  described_ = {};
  described_.name = name_;
  described_.kind = kKind;
  described_.files = {{file_name, *length}};
  described_.numbers = {{"records", records}, {"next_file", next_file_}};
  return {};
}

Status CheckpointRecords::Committed() { return RemoveUnnamed(env_, dir_, described_, retired_); }

Status CheckpointRecords::Restore(const Manifest& manifest, const Emit& each) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name_, kKind));
  if (section == nullptr) return {};
  ASSIGN_OR_RETURN(const uint64_t expected, section->Number("records"));
  ASSIGN_OR_RETURN(next_file_, section->Number("next_file"));
  if (section->files.size() != 1) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} files", name_, section->files.size()));
  }
  described_ = *section;
  const std::string path = JoinPath(dir_, section->files[0].name);
  BlockFileReader::Options options;
  options.length = section->files[0].length;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env_, path, FileKind::kQueue, options));
  RecordBlockReader records;
  uint64_t count = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) break;
    records.Start(*block, 0);
    for (; records.Next(); ++count) {
      if (block->kind != kBlockKind) break;
      RETURN_IF_ERROR(each(records.record()));
    }
    if (!records.ok() || block->kind != kBlockKind) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records are broken", path, block->offset));
    }
  }
  if (count != expected) return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} records of {}", path, count, expected));
  return {};
}

}  // namespace portolan
