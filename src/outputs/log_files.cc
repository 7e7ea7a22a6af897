#include "outputs/log_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "disk/block_file.h"
#include "disk/record_block.h"
#include "outputs/append_file.h"

namespace portolan {
namespace {

class LinesFile : public LogFile {
 public:
  explicit LinesFile(AppendFile file) : file_(std::move(file)) {}
  Status MakeRoom() override { return file_.wants_flush() ? file_.Flush() : Status(); }
  Status Flush() override { return file_.Flush(); }
  Status Sync() override { return file_.Sync(); }
  void Add(std::string_view record, uint32_t /*tag*/) override { file_.Add(record); }
  uint64_t size() const override { return file_.size(); }

 private:
  AppendFile file_;
};

class RecordsFile : public LogFile {
 public:
  RecordsFile(BlockFileWriter file, size_t tag_width) : file_(std::move(file)), block_(tag_width) {}
  Status MakeRoom() override { return block_.size() >= LogFiles::kBlock ? Flush() : Status(); }
  Status Flush() override {
    if (block_.empty()) return {};
    RETURN_IF_ERROR(file_.Append(block_.Finish(0)));
    block_.Clear();
    return {};
  }
  Status Sync() override {
    RETURN_IF_ERROR(Flush());
    // As SyncOnce: the system may have dropped what it had no room for.
    const Status synced = file_.Sync();
    return synced ? synced : Fail(ErrorCode::kIo, synced.error().message());
  }
  void Add(std::string_view record, uint32_t tag) override { block_.Add(record, tag); }
  uint64_t size() const override { return file_.length() + block_.size(); }

 private:
  BlockFileWriter file_;
  RecordBlockBuilder block_;
};

}  // namespace

Result<std::unique_ptr<LogFiles>> LogFiles::Open(Env& env, const LogFilesOptions& options,
                                                 const std::optional<OutputMark>& mark) {
  std::unique_ptr<LogFiles> files(new LogFiles(env, options));
  RETURN_IF_ERROR(files->Recover(mark));
  return files;
}

Status LogFiles::Recover(const std::optional<OutputMark>& mark) {
  RETURN_IF_ERROR(env_.CreateDirs(options_.dir));
  const OutputMark known = mark.value_or(OutputMark{});
  serial_ = known.serial;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env_.List(options_.dir));
  bool removed = false;
  for (const std::string& name : names) {
    const auto parsed = options_.names.Parse(name);
    if (!parsed) continue;
    const std::string path = JoinPath(options_.dir, name);
    if (!mark) {
      return Fail(ErrorCode::kExists, fmt::format("{}: of another crawl; take another directory", path));
    }
    const bool finished = parsed->serial < known.serial || (parsed->serial == known.serial && known.length == 0);
    if (finished && !parsed->packed) to_pack_.push_back(parsed->serial);
    if (parsed->serial <= known.serial) continue;
    RETURN_IF_ERROR(env_.Remove(path));
    removed = true;
  }
  std::ranges::sort(to_pack_);
  if (removed) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  if (known.length == 0) return {};
  // First as bytes, so that one that is missing or short is named.
  ASSIGN_OR_RETURN(AppendFile bytes, AppendFile::Continue(env_, PathOf(serial_), known.length));
  if (!options_.blocks) {
    file_ = std::make_unique<LinesFile>(std::move(bytes));
    return {};
  }
  ASSIGN_OR_RETURN(BlockFileWriter blocks,
                   BlockFileWriter::Reopen(env_, PathOf(serial_), *options_.blocks, Codec::kZstd, known.length));
  file_ = std::make_unique<RecordsFile>(std::move(blocks), options_.tag_width);
  return {};
}

Status LogFiles::FinishFile() {
  RETURN_IF_ERROR(file_->Sync());
  if (!name_is_durable_) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  name_is_durable_ = true;
  file_.reset();
  to_pack_.push_back(serial_);
  return {};
}

Result<LogFile*> LogFiles::Prepare() {
  if (file_ && file_->size() >= options_.file_size) RETURN_IF_ERROR(FinishFile());
  if (!file_) {
    const std::string path = PathOf(serial_ + 1);
    if (options_.blocks) {
      ASSIGN_OR_RETURN(BlockFileWriter blocks, BlockFileWriter::Create(env_, path, *options_.blocks, Codec::kZstd));
      file_ = std::make_unique<RecordsFile>(std::move(blocks), options_.tag_width);
    } else {
      ASSIGN_OR_RETURN(AppendFile bytes, AppendFile::Make(env_, path));
      file_ = std::make_unique<LinesFile>(std::move(bytes));
    }
    ++serial_;
    name_is_durable_ = false;
  }
  RETURN_IF_ERROR(file_->MakeRoom());
  return file_.get();
}

Status LogFiles::Flush() { return file_ ? file_->Flush() : Status(); }

Result<OutputMark> LogFiles::Sync() {
  if (!file_) return OutputMark{.serial = serial_};
  RETURN_IF_ERROR(file_->Sync());
  if (!name_is_durable_) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  name_is_durable_ = true;
  return OutputMark{.serial = serial_, .length = file_->size()};
}

Status LogFiles::BeginPacking(uint64_t serial) {
  const std::string path = PathOf(serial);
  if (!gzip_) {
    ASSIGN_OR_RETURN(GzipMember gzip, GzipMember::Create(/*level=*/1));
    gzip_.emplace(std::move(gzip));
  }
  Packing packing;
  ASSIGN_OR_RETURN(packing.from, env_.Open(path, OpenMode::kRead));
  ASSIGN_OR_RETURN(packing.to, env_.Open(path + std::string(kPackedSuffix) + ".tmp", OpenMode::kCreate));
  packing_.emplace(std::move(packing));
  return {};
}

Result<bool> LogFiles::PackPiece() {
  const uint64_t rest = packing_->from->Size() - packing_->offset;
  if (rest == 0) return true;
  std::string piece(std::min<uint64_t>(rest, kPiece), '\0');
  RETURN_IF_ERROR(ReadExactly(*packing_->from, packing_->offset, piece.data(), piece.size()));
  std::string member;
  gzip_->Append(piece, member);
  RETURN_IF_ERROR(packing_->to->Append(member));
  packing_->offset += piece.size();
  return packing_->offset == packing_->from->Size();
}

Result<bool> LogFiles::PackSome(uint64_t finished) {
  if (!options_.pack || to_pack_.empty() || to_pack_.front() > finished) return false;
  const uint64_t serial = to_pack_.front();
  if (!packing_) RETURN_IF_ERROR(BeginPacking(serial));
  const auto done = PackPiece();
  if (!done) {
    packing_.reset();  // begins anew when it is called again
    return std::unexpected(done.error());
  }
  if (!*done) return true;
  const std::string path = PathOf(serial);
  const std::string packed = path + std::string(kPackedSuffix);
  RETURN_IF_ERROR(SyncOnce(*packing_->to));
  packing_.reset();
  RETURN_IF_ERROR(env_.Rename(packed + ".tmp", packed));
  RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  to_pack_.pop_front();
  // One that cannot be removed now is packed again after the next start.
  static_cast<void>(env_.Remove(path));
  return true;
}

}  // namespace portolan
