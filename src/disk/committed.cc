#include "disk/committed.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "disk/z_file.h"

namespace portolan {
namespace {

constexpr size_t kLookAhead = size_t{1} << 20;

// Every block of a file; stops when `each` says false, or at an error.
Status ForEachBlock(Env& env, const std::string& dir, const ManifestSection::FileEntry& entry, FileKind kind,
                    uint64_t offset, const std::function<Result<bool>(const Block&)>& each) {
  BlockFileReader::Options options;
  options.length = entry.length;
  options.read_ahead = kLookAhead;
  options.offset = offset;
  ASSIGN_OR_RETURN(BlockFileReader reader, BlockFileReader::Open(env, JoinPath(dir, entry.name), kind, options));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
    if (!block) return {};
    ASSIGN_OR_RETURN(const bool more, each(*block));
    if (!more) return {};
  }
}

std::unexpected<Error> BrokenBlock(const ManifestSection::FileEntry& entry, const Block& block) {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records are broken", entry.name, block.offset));
}

}  // namespace

Status ForEachQueued(Env& env, const std::string& dir, const ManifestSection& queue, const RecordVisitor& each) {
  ASSIGN_OR_RETURN(uint64_t offset, queue.Number("reader_block"));
  ASSIGN_OR_RETURN(uint64_t skip, queue.Number("reader_record"));
  bool go_on = true;
  RecordBlockReader records;
  for (const auto& entry : queue.files) {
    // The reader stands at the end of the first segment.
    const bool read = offset >= entry.length;
    if (!read) {
      RETURN_IF_ERROR(ForEachBlock(env, dir, entry, FileKind::kQueue, offset, [&](const Block& block) -> Result<bool> {
        records.Start(block, 0);
        while (go_on && records.Next()) {
          if (skip > 0) {
            --skip;
          } else {
            go_on = each(records.record());
          }
        }
        if (!records.ok() || skip > 0) return BrokenBlock(entry, block);
        return go_on;
      }));
    }
    if (!go_on) return {};
    offset = 0;
    skip = 0;
  }
  return {};
}

Status ForEachTuple(Env& env, const std::string& dir, const ManifestSection& drum,
                    const std::function<bool(std::string_view aux, bool answered)>& each) {
  bool go_on = true;
  RecordBlockReader records;
  for (const char* const batch : {"sealed", "open"}) {
    ASSIGN_OR_RETURN(const uint64_t id, drum.Number(batch));
    if (id == 0) continue;
    ASSIGN_OR_RETURN(const uint64_t taken, drum.Number(fmt::format("batch.{}.taken", id)));
    const std::string name = fmt::format("{}-{:06}.tuples", drum.name, id);
    uint64_t number = 0;
    for (const auto& entry : drum.files) {
      if (entry.name != name || !go_on) continue;
      RETURN_IF_ERROR(ForEachBlock(env, dir, entry, FileKind::kTuples, 0, [&](const Block& block) -> Result<bool> {
        records.Start(block, 1);
        while (go_on && records.Next()) go_on = each(records.record(), number++ < taken);
        if (!records.ok()) return BrokenBlock(entry, block);
        return go_on;
      }));
    }
  }
  return {};
}

Status ForEachRow(Env& env, const std::string& dir, const ManifestSection& drum, size_t value_size,
                  const std::function<void(DrumOp op, uint64_t key, std::string_view value)>& each) {
  ASSIGN_OR_RETURN(const uint64_t row_size, drum.Number("row_size"));
  if (row_size != 8 + value_size && row_size != 9 + value_size) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("drum {}: rows of {} bytes for values of {}", drum.name, row_size, value_size));
  }
  const size_t value_at = row_size - value_size;
  for (const auto& entry : drum.files) {
    const bool run = entry.name.ends_with(".run");
    if (!run && !entry.name.ends_with(".rows")) continue;
    RETURN_IF_ERROR(ForEachBlock(env, dir, entry, run ? FileKind::kRun : FileKind::kRows, 0,
                                 [&](const Block& block) -> Result<bool> {
                                   if (block.payload.size() != block.records * row_size)
                                     return BrokenBlock(entry, block);
                                   for (size_t at = 0; at < block.payload.size(); at += row_size) {
                                     const std::string_view row = block.payload.substr(at, row_size);
                                     const auto op = value_at == 8 ? DrumOp::kCheckUpdate : static_cast<DrumOp>(row[8]);
                                     if (op > DrumOp::kCheckUpdate) return BrokenBlock(entry, block);
                                     each(op, LoadLe<uint64_t>(row.data()), row.substr(value_at));
                                   }
                                   return true;
                                 }));
  }
  return {};
}

Result<std::optional<std::string>> FindInZ(Env& env, const std::string& dir, const ManifestSection& drum,
                                           size_t value_size, uint64_t key) {
  ASSIGN_OR_RETURN(const uint64_t has_z, drum.Number("z"));
  if (has_z == 0 || drum.files.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(ZReader z,
                   ZReader::Open(env, JoinPath(dir, drum.files[0].name), drum.files[0].length, value_size, kLookAhead));
  while (!z.done()) {
    if (z.key() == key) return std::string(z.value());
    if (z.key() > key) break;
    z.Pop();
    if (z.empty_block()) RETURN_IF_ERROR(z.NextBlock());
  }
  return std::nullopt;
}

uint64_t BytesOf(const ManifestSection& section) {
  uint64_t bytes = 0;
  for (const auto& file : section.files) bytes += file.length;
  return bytes;
}

}  // namespace portolan
