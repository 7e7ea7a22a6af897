#include "disk/queue.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "base/check.h"

namespace portolan {
namespace {

constexpr uint8_t kRecordsBlock = 1;

// The number of a segment: 7 for "q-000000007.q" of the queue "q". 0: not a segment of that queue.
uint64_t SegmentNumber(std::string_view queue, std::string_view file) {
  if (!file.starts_with(queue) || !file.ends_with(".q")) return 0;
  const std::string_view digits = file.substr(queue.size(), file.size() - queue.size() - 2);
  uint64_t number = 0;
  if (digits.size() < 2 || digits[0] != '-') return 0;
  const auto [end, error] = std::from_chars(digits.data() + 1, digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

}  // namespace

DiskQueue::DiskQueue(Env& env, std::string dir, const Options& options)
    : env_(env), dir_(std::move(dir)), options_(options) {}

DiskQueue::~DiskQueue() = default;

Result<std::unique_ptr<DiskQueue>> DiskQueue::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<DiskQueue> queue(new DiskQueue(env, manifest.dir(), options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(queue->Restore(*section));
  return queue;
}

Status DiskQueue::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(next_segment_, section.Number("next_segment"));
  ASSIGN_OR_RETURN(pushed_, section.Number("pushed"));
  ASSIGN_OR_RETURN(popped_, section.Number("popped"));
  ASSIGN_OR_RETURN(reader_block_, section.Number("reader_block"));
  ASSIGN_OR_RETURN(const uint64_t record, section.Number("reader_record"));
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("queue {}: {}", section.name, what));
  };
  reader_record_ = static_cast<uint32_t>(record);
  if (record > std::numeric_limits<uint32_t>::max()) return corrupt(fmt::format("reader_record is {}", record));
  written_ = pushed_;
  uint64_t last = 0;
  for (const auto& file : section.files) {
    const uint64_t number = SegmentNumber(section.name, file.name);
    // A segment that is made later must not take the name of one that is there.
    if (number <= last || number >= next_segment_) {
      return corrupt(fmt::format("{} is no segment between {} and next_segment, {}", file.name, last, next_segment_));
    }
    last = number;
    segments_.push_back({file.name, file.length});
  }
  if (popped_ > pushed_ || (segments_.empty() && popped_ != pushed_) || pushed_ > ~uint64_t{0} / 2) {
    return corrupt(fmt::format("{} popped of {} pushed in {} segments", popped_, pushed_, segments_.size()));
  }
  if (reader_block_ < kFileHeaderSize || (!segments_.empty() && reader_block_ > segments_.front().length)) {
    return corrupt(fmt::format("reader_block is {}, which is in no block of {}", reader_block_,
                               segments_.empty() ? "a segment" : segments_.front().name));
  }
  described_ = section;
  return {};
}

Status DiskQueue::StartSegment() {
  const std::string name = fmt::format("{}-{:09}.q", options_.name, next_segment_);
  ASSIGN_OR_RETURN(BlockFileWriter writer,
                   BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kQueue, options_.codec));
  writer_ = std::move(writer);
  ++next_segment_;
  segments_.push_back({name, writer_->length()});
  return {};
}

Status DiskQueue::WriteBlock() {
  if (building_.empty()) return {};
  if (writer_ && writer_->length() >= options_.segment_size) {
    if (options_.durable) RETURN_IF_ERROR(writer_->Sync());
    writer_.reset();
  }
  if (!writer_) RETURN_IF_ERROR(StartSegment());
  RETURN_IF_ERROR(writer_->Append(building_.Finish(kRecordsBlock)));
  segments_.back().length = writer_->length();
  written_ += building_.records();
  building_ = RecordBlockBuilder();  // gives the memory back
  return {};
}

Status DiskQueue::Append(std::span<const std::string_view> records) {
  const std::lock_guard lock(mutex_);
  // Room first, so that a failing disk refuses a batch before any of it is taken.
  if (building_.size() >= options_.block_size) RETURN_IF_ERROR(WriteBlock());
  for (const std::string_view record : records) {
    if (record.size() > kMaxBlockPayload / 2) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("queue {}: a record of {} bytes", options_.name, record.size()));
    }
  }
  for (const std::string_view record : records) {
    building_.Add(record);
    ++pushed_;
    // Later blocks of a large batch are written when they can be; if not, they wait here for the next call.
    if (building_.size() >= options_.block_size) static_cast<void>(WriteBlock());
  }
  return {};
}

Status DiskQueue::FreeFrontSegment() {
  reader_.reset();
  in_block_ = false;
  reader_block_ = kFileHeaderSize;
  reader_record_ = 0;
  if (segments_.size() == 1) writer_.reset();  // the next append starts a new one
  const std::string name = segments_.front().name;
  segments_.pop_front();
  if (options_.durable) {
    retired_.push_back(name);
    return {};
  }
  return env_.Remove(JoinPath(dir_, name));
}

Result<bool> DiskQueue::NextOnDisk() {
  while (!segments_.empty()) {
    const Segment& segment = segments_.front();
    if (reader_block_ >= segment.length) {
      const bool writing = segments_.size() == 1 && writer_.has_value();
      if (writing && segment.length < options_.segment_size) return false;
      RETURN_IF_ERROR(FreeFrontSegment());
      continue;
    }
    if (!reader_ || reader_->length() != segment.length) {
      BlockFileReader::Options options;
      options.read_ahead = options_.block_size;
      options.length = segment.length;
      options.offset = reader_block_;
      ASSIGN_OR_RETURN(BlockFileReader reader,
                       BlockFileReader::Open(env_, JoinPath(dir_, segment.name), FileKind::kQueue, options));
      reader_ = std::move(reader);
    }
    ASSIGN_OR_RETURN(const std::optional<Block> block, reader_->Next());
    if (!block) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: no block at {}", JoinPath(dir_, segment.name), reader_block_));
    }
    records_.Start(*block, 0);
    for (uint32_t i = 0; i < reader_record_; ++i) {
      if (!records_.Next()) break;
    }
    if (!records_.ok() || reader_record_ > block->records) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: block at {}: its records are broken", JoinPath(dir_, segment.name), block->offset));
    }
    in_block_ = true;
    return true;
  }
  return false;
}

// In the block being read, or in a new one that has a record: true, and it is the next.
Result<bool> DiskQueue::Step() {
  if (in_block_) {
    if (records_.Next()) return true;
    if (!records_.ok()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records are broken",
                                                   JoinPath(dir_, segments_.front().name), reader_block_));
    }
    in_block_ = false;
    reader_record_ = 0;
    reader_block_ = reader_->offset();
    return false;
  }
  ASSIGN_OR_RETURN(const bool found, NextOnDisk());
  // Everything in blocks is read: the rest is in the block being filled. It is closed and read like the others.
  if (!found) {
    if (building_.empty()) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("queue {}: the manifest says that {} records wait, but its segments have no more",
                              options_.name, pushed_ - popped_));
    }
    RETURN_IF_ERROR(WriteBlock());
  }
  return false;
}

void DiskQueue::CountPopped() {
  has_front_ = false;
  ++reader_record_;
  ++popped_;
  if (popped_ < pushed_) return;
  // Nothing to read: hold no memory and no descriptor. Everything in blocks was read to the end of the last one.
  if (in_block_) {
    in_block_ = false;
    reader_block_ = reader_->offset();
    reader_record_ = 0;
  }
  reader_.reset();
  records_ = RecordBlockReader();
}

Result<std::vector<std::string>> DiskQueue::Pop(size_t max) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  while (out.size() < max && popped_ < pushed_) {
    const Result<bool> next = has_front_ ? Result<bool>(true) : Step();
    if (!next) {
      // Records that are already popped must reach the caller; the next call returns the error again.
      if (!out.empty()) return out;
      return std::unexpected(next.error());
    }
    if (!*next) continue;
    out.emplace_back(records_.record());
    CountPopped();
  }
  return out;
}

Result<const std::string*> DiskQueue::Front() {
  const std::lock_guard lock(mutex_);
  while (!has_front_) {
    if (popped_ == pushed_) return nullptr;
    ASSIGN_OR_RETURN(has_front_, Step());
    if (has_front_) front_ = records_.record();
  }
  return &front_;
}

void DiskQueue::PopFront() {
  const std::lock_guard lock(mutex_);
  CHECK(has_front_, "queue {}: no record was looked at", options_.name);
  CountPopped();
}

uint64_t DiskQueue::size() const {
  const std::lock_guard lock(mutex_);
  return pushed_ - popped_;
}

Status DiskQueue::Flush() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(WriteBlock());
  if (writer_) RETURN_IF_ERROR(writer_->Sync());
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  for (const Segment& segment : segments_) section.files.push_back({segment.name, segment.length});
  section.numbers = {{"next_segment", next_segment_},
                     {"pushed", pushed_},
                     {"popped", popped_},
                     {"reader_block", reader_block_},
                     {"reader_record", reader_record_}};
  described_ = std::move(section);
  return {};
}

ManifestSection DiskQueue::Describe() const {
  const std::lock_guard lock(mutex_);
  return described_;
}

Status DiskQueue::Committed() {
  const std::lock_guard lock(mutex_);
  // Segments that were consumed after the Flush are still named; they wait for the next commit.
  return RemoveUnnamed(env_, dir_, described_, retired_);
}

}  // namespace portolan
