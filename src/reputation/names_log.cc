#include "reputation/names_log.h"

#include <fmt/core.h>

#include "base/bytes.h"

namespace portolan {
namespace {

constexpr uint8_t kNamesBlock = 1;

std::string FileName(const std::string& name) { return name + ".names"; }

}  // namespace

NamesLog::NamesLog(Env& env, const Manifest& manifest, const std::string& name)
    : env_(env), name_(name), path_(JoinPath(manifest.dir(), FileName(name))) {}

Result<std::unique_ptr<NamesLog>> NamesLog::Open(Env& env, const Manifest& manifest, const std::string& name) {
  std::unique_ptr<NamesLog> log(new NamesLog(env, manifest, name));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name, kKind));
  if (section != nullptr) {
    ASSIGN_OR_RETURN(log->names_, section->Number("names"));
    if (!section->files.empty()) {
      ASSIGN_OR_RETURN(log->file_, BlockFileWriter::Reopen(env, log->path_, FileKind::kQueue, Codec::kLz4,
                                                           section->files[0].length));
    }
    log->described_ = *section;
  }
  return log;
}

void NamesLog::Add(uint64_t pld, std::string_view name) {
  record_.clear();
  AppendLe<uint64_t>(record_, pld);
  record_.append(name);
  block_.Add(record_);
  ++names_;
}

Status NamesLog::MakeRoom() { return block_.size() < kBlockSize ? Status() : WriteBlock(); }

Status NamesLog::WriteBlock() {
  if (block_.empty()) return {};
  if (!file_) {
    ASSIGN_OR_RETURN(file_, BlockFileWriter::Create(env_, path_, FileKind::kQueue, Codec::kLz4));
  }
  RETURN_IF_ERROR(file_->Append(block_.Finish(kNamesBlock)));
  block_.Clear();
  return {};
}

Status NamesLog::Flush() {
  RETURN_IF_ERROR(WriteBlock());
  ManifestSection section;
  section.name = name_;
  section.kind = kKind;
  section.numbers["names"] = names_;
  if (file_) {
    RETURN_IF_ERROR(file_->Sync());
    section.files.push_back({FileName(name_), file_->length()});
  }
  described_ = std::move(section);
  return {};
}

Status ForEachName(Env& env, const std::string& dir, const ManifestSection& section,
                   const std::function<void(uint64_t pld, std::string_view name)>& each) {
  if (section.files.empty()) return {};
  BlockFileReader::Options options;
  options.length = section.files[0].length;
  options.read_ahead = size_t{256} << 10;
  const std::string path = JoinPath(dir, section.files[0].name);
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env, path, FileKind::kQueue, options));
  RecordBlockReader records;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) return {};
    records.Start(*block, 0);
    while (records.Next()) {
      const std::string_view record = records.record();
      if (record.size() < 8) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("{}: block at {}: a record is too short for a name", path, block->offset));
      }
      each(LoadLe<uint64_t>(record.data()), record.substr(8));
    }
    if (!records.ok()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records do not parse", path, block->offset));
    }
  }
}

}  // namespace portolan
