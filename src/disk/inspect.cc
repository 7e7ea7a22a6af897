#include "disk/inspect.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "disk/block_file.h"
#include "disk/gap_code.h"
#include "disk/manifest.h"
#include "disk/record_block.h"
#include "disk/summed_format.h"
#include "disk/z_file.h"

namespace portolan {
namespace {

// Called for each block, then with a text for each of its records.
struct Visitor {
  std::function<void(const Block&)> block;
  std::function<void(const std::string&)> record;
};

std::unexpected<Error> Corrupt(const std::string& path, const Block& block, std::string_view what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: {}", path, block.offset, what));
}

Status VisitRecords(const std::string& path, const Block& block, size_t tag_width, const Visitor& visitor,
                    std::string_view tag_name = "bucket") {
  RecordBlockReader reader;
  reader.Start(block, tag_width);
  uint32_t count = 0;
  for (; reader.Next(); ++count) {
    if (!visitor.record) continue;
    const std::string tag = tag_width == 0 ? "" : fmt::format("{} {} ", tag_name, reader.tag());
    visitor.record(tag + JsonQuote(reader.record()));
  }
  if (!reader.ok() || count != block.records) return Corrupt(path, block, "its records are broken");
  return {};
}

// The size of a row is not in the file, but it divides the payload.
Status VisitRows(const std::string& path, const Block& block, const Visitor& visitor) {
  if (block.records == 0 || block.payload.size() % block.records != 0) {
    return Corrupt(path, block, "its payload is not a whole number of rows");
  }
  const size_t size = block.payload.size() / block.records;
  if (size < 8) return Corrupt(path, block, "rows too short for a key");
  for (uint32_t i = 0; i < block.records && visitor.record; ++i) {
    const std::string_view row = block.payload.substr(i * size, size);
    visitor.record(fmt::format("key {:016x} {}", LoadLe<uint64_t>(row.data()), JsonQuote(row.substr(8))));
  }
  return {};
}

Status VisitAnswers(const std::string& path, const Block& block, const Visitor& visitor) {
  const size_t bits = (size_t{block.records} + 7) / 8;
  if (block.records == 0 || block.payload.size() < bits) return Corrupt(path, block, "too few answers");
  for (uint32_t i = 0; i < block.records && visitor.record; ++i) {
    visitor.record(((block.payload[i / 8] >> (i % 8)) & 1) != 0 ? "unique" : "known or not asked");
  }
  return {};
}

// Z's keys must rise over the whole file, and the end block must count them.
class ZVisitor {
 public:
  Status Visit(const std::string& path, const Block& block, const Visitor& visitor) {
    if (ended_) return Corrupt(path, block, "stands after the end block");
    if (block.kind == kZEndBlock) {
      ended_ = true;
      if (block.payload.size() != 16 || LoadLe<uint64_t>(block.payload.data()) != keys_) {
        return Corrupt(path, block, fmt::format("the end block does not fit the {} keys before it", keys_));
      }
      return {};
    }
    if (block.kind != kZKeysBlock || block.records == 0 || block.records > kKeysPerBlock) {
      return Corrupt(path, block, "not a block of keys");
    }
    std::vector<uint64_t> keys(block.records);
    const size_t used = DecodeGapCoded(block.payload, block.records, keys.data());
    if (used == 0 || (block.payload.size() - used) % block.records != 0)
      return Corrupt(path, block, "its keys do not decode");
    if (keys_ > 0 && keys.front() <= last_) return Corrupt(path, block, "its keys do not follow the block before");
    const size_t size = (block.payload.size() - used) / block.records;
    for (uint32_t i = 0; i < block.records && visitor.record; ++i) {
      const std::string_view value = block.payload.substr(used + i * size, size);
      visitor.record(fmt::format("key {:016x}{}", keys[i], size == 0 ? "" : " " + JsonQuote(value)));
    }
    keys_ += block.records;
    last_ = keys.back();
    return {};
  }
  bool ended() const { return ended_; }

 private:
  uint64_t keys_ = 0;
  uint64_t last_ = 0;
  bool ended_ = false;
};

Status VisitBlocks(Env& env, const std::string& path, FileKind kind, const Visitor& visitor) {
  ASSIGN_OR_RETURN(BlockFileReader reader, BlockFileReader::Open(env, path, kind));
  ZVisitor z;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
    if (!block) break;
    visitor.block(*block);
    switch (kind) {
      case FileKind::kQueue:
      case FileKind::kText:
      case FileKind::kPages:
        RETURN_IF_ERROR(VisitRecords(path, *block, 0, visitor));
        break;
      case FileKind::kLinks:
        RETURN_IF_ERROR(VisitRecords(path, *block, 1, visitor, "flags"));
        break;
      case FileKind::kTuples:
        RETURN_IF_ERROR(VisitRecords(path, *block, 1, visitor));
        break;
      case FileKind::kRows:
      case FileKind::kRun:
        RETURN_IF_ERROR(VisitRows(path, *block, visitor));
        break;
      case FileKind::kAnswers:
        RETURN_IF_ERROR(VisitAnswers(path, *block, visitor));
        break;
      case FileKind::kZ:
        RETURN_IF_ERROR(z.Visit(path, *block, visitor));
        break;
      case FileKind::kRules:
        // What the rules mean is known above this layer; here they are bytes.
        if (visitor.record) visitor.record(JsonQuote(block->payload));
        break;
    }
  }
  if (kind == FileKind::kZ && !z.ended()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: at {}: the file ends without its end block", path, reader.offset()));
  }
  return {};
}

bool IsManifestPath(const std::string& path) { return IsManifestName(path.substr(path.rfind('/') + 1)); }

// A file that is read whole, of a module that disk does not know (summed_format.h).
Result<bool> IsSummed(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  if (file->Size() < kSummedBodyAt) return false;
  char magic[sizeof(uint32_t)];
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, magic, sizeof magic));
  return got == sizeof magic && LoadLe<uint32_t>(magic) == kExchangeStateMagic;
}

Result<FileReport> CheckSummed(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(env, path));
  if (Crc32c(std::string_view(bytes).substr(kSummedBodyAt)) != LoadLe<uint32_t>(bytes.data() + kSummedCrcAt)) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: its checksum differs", path));
  }
  FileReport report;
  report.kind = "state of an exchange between shards";
  report.bytes = report.stored_bytes = report.raw_bytes = bytes.size();
  report.records = 1;
  return report;
}

}  // namespace

Result<FileReport> CheckFile(Env& env, const std::string& path) {
  FileReport report;
  if (IsManifestPath(path)) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
    ASSIGN_OR_RETURN(const ParsedManifest manifest, ParseManifest(text, path));
    report.kind = "manifest";
    report.bytes = text.size();
    for (const ManifestSection& section : manifest.sections) {
      for (const auto& entry : section.files) {
        const std::string named = JoinPath(DirName(path), entry.name);
        ASSIGN_OR_RETURN(const auto file, env.Open(named, OpenMode::kRead));
        if (file->Size() < entry.length) {
          return Fail(ErrorCode::kCorrupt,
                      fmt::format("{}: has {} bytes, {} says {}", named, file->Size(), path, entry.length));
        }
        ++report.records;
      }
    }
    return report;
  }
  ASSIGN_OR_RETURN(const bool summed, IsSummed(env, path));
  if (summed) return CheckSummed(env, path);
  ASSIGN_OR_RETURN(const FileKind kind, IdentifyFile(env, path));
  report.kind = FileKindName(kind);
  Visitor visitor;
  visitor.block = [&](const Block& block) {
    ++report.blocks;
    report.records += block.records;
    report.raw_bytes += block.payload.size();
    report.stored_bytes += block.stored;
    report.bytes = block.end;
  };
  report.bytes = kFileHeaderSize;
  RETURN_IF_ERROR(VisitBlocks(env, path, kind, visitor));
  return report;
}

Status DumpFile(Env& env, const std::string& path, uint64_t limit,
                const std::function<void(const std::string&)>& line) {
  if (IsManifestPath(path)) {
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
    RETURN_IF_ERROR(ParseManifest(text, path));
    line(text.substr(0, text.size() - 1));
    return {};
  }
  ASSIGN_OR_RETURN(const bool summed, IsSummed(env, path));
  if (summed) {
    ASSIGN_OR_RETURN(const FileReport report, CheckSummed(env, path));
    line(fmt::format("{}: {}, {} bytes", path, report.kind, report.bytes));
    return {};
  }
  ASSIGN_OR_RETURN(const FileKind kind, IdentifyFile(env, path));
  line(fmt::format("{}: {}, version {}", path, FileKindName(kind), kFormatVersion));
  uint64_t shown = 0;
  Visitor visitor;
  visitor.block = [&](const Block& block) {
    if (shown >= limit) return;
    line(fmt::format("block at {}: {} records, kind {}, {} bytes stored, {} raw, {}", block.offset, block.records,
                     block.kind, block.stored, block.payload.size(), CodecName(block.codec)));
  };
  visitor.record = [&](const std::string& record) {
    if (shown++ < limit) line("  " + record);
  };
  RETURN_IF_ERROR(VisitBlocks(env, path, kind, visitor));
  if (shown > limit) line(fmt::format("… {} more records (--limit)", shown - limit));
  return {};
}

}  // namespace portolan
