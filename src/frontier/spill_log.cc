#include "frontier/spill_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/check.h"

namespace portolan {
namespace {

// Prefix of a number in the manifest; the segment's number follows.
constexpr std::string_view kRecordsOf = "records.";

}  // namespace

SpillLog::SpillLog(Env& env, std::string dir, const Options& options)
    : env_(env), dir_(std::move(dir)), options_(options) {
  described_.name = options.name;
  described_.kind = kKind;
}

SpillLog::~SpillLog() = default;

std::string SpillLog::NameOf(uint32_t segment) const { return fmt::format("{}-{:09}.spill", options_.name, segment); }

Result<std::unique_ptr<SpillLog>> SpillLog::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<SpillLog> log(new SpillLog(env, manifest.dir(), options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section == nullptr) return log;
  ASSIGN_OR_RETURN(const uint64_t next, section->Number("next_segment"));
  log->next_segment_ = static_cast<uint32_t>(next);
  std::map<std::string_view, uint64_t> lengths;
  for (const auto& file : section->files) lengths[file.name] = file.length;
  for (const auto& [key, records] : section->numbers) {
    if (!key.starts_with(kRecordsOf)) continue;
    uint32_t number = 0;
    std::from_chars(key.data() + kRecordsOf.size(), key.data() + key.size(), number);
    const auto length = lengths.find(log->NameOf(number));
    if (length != lengths.end()) log->segments_[number] = {length->second, records, 0};
  }
  if (log->segments_.size() != section->files.size()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("spill {}: {} files and {} segments", section->name,
                                                 section->files.size(), log->segments_.size()));
  }
  log->described_ = *section;
  return log;
}

Result<SpillRef> SpillLog::Write(const BlockParts& parts) {
  if (writer_ && writer_->length() >= options_.segment_size) {
    RETURN_IF_ERROR(writer_->Sync());
    writer_.reset();
    const auto last = std::prev(segments_.end());
    if (last->second.live == 0) Retire(last->first);
  }
  if (!writer_) {
    ASSIGN_OR_RETURN(BlockFileWriter writer, BlockFileWriter::Create(env_, JoinPath(dir_, NameOf(next_segment_)),
                                                                     FileKind::kQueue, options_.codec));
    writer_ = std::move(writer);
    segments_[next_segment_] = {writer_->length(), 0, 0};
    ++next_segment_;
  }
  const SpillRef ref{next_segment_ - 1, static_cast<uint32_t>(writer_->length()), parts.records};
  RETURN_IF_ERROR(writer_->Append(parts));
  Segment& segment = segments_.rbegin()->second;
  segment.length = writer_->length();
  segment.records += ref.records;
  segment.live += ref.records;
  live_ += ref.records;
  return ref;
}

Result<SpillRef> SpillLog::Append(RecordBlockBuilder& block) {
  ASSIGN_OR_RETURN(const SpillRef ref, Write(block.Finish(kBlockKind)));
  block.Clear();
  return ref;
}

Result<Block> SpillLog::ReadBlock(const SpillRef& ref) {
  const auto found = segments_.find(ref.segment);
  CHECK(found != segments_.end(), "segment {} of the spill", ref.segment);
  const auto open =
      std::find_if(readers_.begin(), readers_.end(), [&](const auto& item) { return item.first == ref.segment; });
  if (open == readers_.end()) {
    BlockFileReader::Options options;
    options.read_ahead = kReadAhead;
    ASSIGN_OR_RETURN(BlockFileReader reader,
                     BlockFileReader::Open(env_, JoinPath(dir_, NameOf(ref.segment)), FileKind::kQueue, options));
    if (readers_.size() == kOpenReaders) readers_.erase(readers_.begin());
    readers_.emplace_back(ref.segment, std::move(reader));
  } else {
    std::rotate(open, open + 1, readers_.end());
  }
  BlockFileReader& reader = readers_.back().second;
  reader.Seek(ref.offset, found->second.length);
  ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
  if (!block || block->records != ref.records) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: not the {} records that its host expects",
                                                 NameOf(ref.segment), ref.offset, ref.records));
  }
  return *block;
}

// A segment without a reader is opened just for this: a reader would have to read its header at once.
void SpillLog::Ask(uint32_t segment, uint64_t offset, uint64_t count) {
  const auto open =
      std::find_if(readers_.begin(), readers_.end(), [&](const auto& item) { return item.first == segment; });
  if (open != readers_.end()) return open->second.WillNeed(offset, count);
  const auto file = env_.Open(JoinPath(dir_, NameOf(segment)), OpenMode::kRead);
  if (!file) return;  // the read will report the error
  (*file)->WillNeed(0, kFileHeaderSize);
  (*file)->WillNeed(offset, count);
}

void SpillLog::WillNeed(const SpillRef& ref) {
  const auto found = segments_.find(ref.segment);
  CHECK(found != segments_.end() && ref.offset < found->second.length, "segment {} of the spill", ref.segment);
  Ask(ref.segment, ref.offset, std::min(kAsked, found->second.length - ref.offset));
}

uint64_t SpillLog::WillNeedPart(uint32_t segment, uint64_t offset) {
  const auto found = segments_.find(segment);
  if (found == segments_.end() || offset >= found->second.length) return 0;
  const uint64_t count = std::min(kAskedPart, found->second.length - offset);
  Ask(segment, offset, count);
  return offset + count < found->second.length ? offset + count : 0;
}

Status SpillLog::Read(const SpillRef& ref, RecordFifo& out) {
  ASSIGN_OR_RETURN(const Block block, ReadBlock(ref));
  const uint32_t before = out.count();
  records_.Start(block, 0);
  while (records_.Next()) out.PushBack(records_.record());
  const bool whole = records_.ok() && out.count() - before == ref.records;
  records_ = RecordBlockReader();  // frees the memory
  if (whole) return {};
  out.CutAfter(before);
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{}: block at {}: its records do not parse", NameOf(ref.segment), ref.offset));
}

void SpillLog::Free(const SpillRef& ref) {
  const auto found = segments_.find(ref.segment);
  CHECK(found != segments_.end() && found->second.live >= ref.records, "segment {} of the spill", ref.segment);
  found->second.live -= ref.records;
  live_ -= ref.records;
  const bool writing = writer_ && std::next(found) == segments_.end();
  if (found->second.live == 0 && !writing) Retire(ref.segment);
}

Result<SpillRef> SpillLog::Move(const SpillRef& ref) {
  ASSIGN_OR_RETURN(const Block block, ReadBlock(ref));
  // The payload belongs to the reader; the writer copies it before the reader moves on.
  ASSIGN_OR_RETURN(const SpillRef moved, Write({block.kind, block.records, block.payload.substr(0, block.plain),
                                                block.payload.substr(block.plain)}));
  Free(ref);
  return moved;
}

void SpillLog::Retire(uint32_t segment) {
  segments_.erase(segment);
  std::erase_if(readers_, [&](const auto& item) { return item.first == segment; });
  retired_.push_back(NameOf(segment));
}

Status SpillLog::Adopt(const SpillRef& ref) {
  const auto found = segments_.find(ref.segment);
  if (found == segments_.end() || ref.offset >= found->second.length || ref.records == 0 ||
      found->second.live + ref.records > found->second.records) {
    return Fail(ErrorCode::kCorrupt, fmt::format("spill {}: no block of {} records at {} of segment {}", options_.name,
                                                 ref.records, ref.offset, ref.segment));
  }
  found->second.live += ref.records;
  live_ += ref.records;
  return {};
}

void SpillLog::DropDead() {
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    const auto here = segment++;
    if (here->second.live == 0) Retire(here->first);
  }
}

std::optional<uint32_t> SpillLog::sparse() const {
  std::optional<uint32_t> emptiest;
  uint64_t least = 0;
  for (const auto& [number, segment] : segments_) {
    if (writer_ && number == segments_.rbegin()->first) continue;
    // The live share, as a fraction of 2^16; only below a half counts.
    const uint64_t share = (segment.live << 16) / std::max<uint64_t>(segment.records, 1);
    if (share < (uint64_t{1} << 15) && (!emptiest || share < least)) {
      emptiest = number;
      least = share;
    }
  }
  return emptiest;
}

uint64_t SpillLog::bytes_on_disk() const {
  uint64_t sum = 0;
  for (const auto& [number, segment] : segments_) sum += segment.length;
  return sum;
}

Status SpillLog::Flush() {
  if (writer_) RETURN_IF_ERROR(writer_->Sync());
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  section.numbers["next_segment"] = next_segment_;
  for (const auto& [number, segment] : segments_) {
    section.files.push_back({NameOf(number), segment.length});
    section.numbers[fmt::format("{}{}", kRecordsOf, number)] = segment.records;
  }
  described_ = std::move(section);
  return {};
}

Status SpillLog::Committed() { return RemoveUnnamed(env_, dir_, described_, retired_); }

}  // namespace portolan
