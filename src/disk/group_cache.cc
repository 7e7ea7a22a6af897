#include "disk/group_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "disk/block_file.h"
#include "disk/record_block.h"

namespace portolan {
namespace {

constexpr size_t kSetBytes = GroupCache::kWays * sizeof(GroupCache::Entry);
constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr size_t kCopySets = 4096;    // looked at in one part: a quarter of a mebibyte
constexpr size_t kPieceSets = 16384;  // handed to the writer together
static_assert(kSetBytes == 64);

}  // namespace

GroupCache::GroupCache(Env& env, std::string dir, const Options& options)
    : env_(env),
      dir_(std::move(dir)),
      name_(options.name),
      sets_(std::bit_floor(std::clamp<uint64_t>(options.memory / kSetBytes, 1, uint64_t{1} << 32))),
      copy_at_(sets_.size()) {}

GroupCache::~GroupCache() = default;

Result<std::unique_ptr<GroupCache>> GroupCache::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<GroupCache> cache(new GroupCache(env, manifest.dir(), options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(cache->Restore(*section));
  return cache;
}

const GroupCache::Entry* GroupCache::Find(uint64_t hash) const {
  const Entries& set = sets_[SetOf(hash)].entries;
  const uint32_t tag = TagOf(hash);
  for (const Entry& entry : set) {
    if (entry.tag == tag) return &entry;
  }
  return nullptr;
}

GroupCache::Entry& GroupCache::Touch(uint64_t hash) {
  changed_ = true;
  const size_t number = SetOf(hash);
  if (number >= copy_at_) Copy(number);
  Entry* const set = sets_[number].entries.data();
  const uint32_t tag = TagOf(hash);
  size_t at = 0;
  while (at < kWays && set[at].tag != tag && set[at].tag != 0) ++at;
  if (at < kWays && set[at].tag == tag) {
    std::rotate(set, set + at, set + at + 1);
    return set[0];
  }
  if (at == kWays) {
    ++forgotten_;
    at = kWays - 1;
  } else {
    ++used_;
  }
  set[at] = {.tag = tag};
  const size_t middle = std::min(at, kWays / 2);
  std::rotate(set + middle, set + at, set + at + 1);
  return set[middle];
}

// A file that is being written. Jobs use it one after the other; the owner only when they are finished.
struct GroupCache::Saving {
  Env* env = nullptr;
  std::string path;
  ManifestSection section;  // its file comes in at the end
  std::function<void(Status)> done;
  std::optional<BlockFileWriter> file;
  RecordBlockBuilder block;
  Status status;

  std::string FileName() const { return path.substr(path.rfind('/') + 1); }
  Status Create() {
    if (file) return {};
    ASSIGN_OR_RETURN(file, BlockFileWriter::Create(*env, path, FileKind::kQueue, Codec::kLz4));
    return {};
  }
  Status Append() {
    RETURN_IF_ERROR(Create());
    RETURN_IF_ERROR(file->Append(block.Finish(kBlockKind)));
    block.Clear();
    return {};
  }
  Status Write(const std::vector<SetCopy>& sets) {
    std::string record;
    for (const SetCopy& copy : sets) {
      record.clear();
      AppendLe<uint32_t>(record, copy.set);
      for (size_t i = 0; i < kWays && copy.entries[i].tag != 0; ++i) {
        AppendLe<uint32_t>(record, copy.entries[i].tag);
        AppendLe<uint32_t>(record, copy.entries[i].number());
      }
      block.Add(record);
      if (block.size() >= kBlockBytes) RETURN_IF_ERROR(Append());
    }
    return {};
  }
  Status Finish() {
    RETURN_IF_ERROR(block.empty() ? Create() : Append());
    RETURN_IF_ERROR(file->Sync());
    section.files = {{FileName(), file->length()}};
    return {};
  }
};

void GroupCache::StartFlush(std::function<void(Status)> done) {
  CHECK(copy_at_ == sets_.size(), "a checkpoint is being copied");
  if (!changed_ && !saving_) {
    done({});
    return;
  }
  // It was never committed: its file is not needed.
  if (saving_ && saving_->file) retired_.push_back(saving_->FileName());
  saving_ = std::make_shared<Saving>();
  saving_->env = &env_;
  saving_->path = JoinPath(dir_, fmt::format("{}-{:09}.groups", name_, next_file_++));
  saving_->section.name = name_;
  saving_->section.kind = kKind;
  saving_->section.numbers = {{"sets", sets_.size()}, {"entries", used_}, {"next_file", next_file_}};
  saving_->done = std::move(done);
  changed_ = false;
  copy_at_ = 0;
  copied_.assign(sets_.size(), false);
}

void GroupCache::Copy(size_t set) {
  if (copied_[set]) return;
  copied_[set] = true;
  const Entries& entries = sets_[set].entries;
  if (entries[0].tag != 0) copy_.push_back({.set = static_cast<uint32_t>(set), .entries = entries});
}

bool GroupCache::ContinueFlush(Executor& writer) {
  if (copy_at_ == sets_.size()) return false;
  const size_t end = std::min(sets_.size(), copy_at_ + kCopySets);
  for (; copy_at_ < end; ++copy_at_) Copy(copy_at_);
  const bool more = copy_at_ < sets_.size();
  if (more && copy_.size() < kPieceSets) return true;
  writer.Submit([saving = saving_, part = std::exchange(copy_, {}), more] {
    if (saving->status) saving->status = saving->Write(part);
    if (more) return;
    if (saving->status) saving->status = saving->Finish();
    if (!saving->status) {
      // No manifest names it, and on a full disk its room is needed.
      saving->file.reset();
      static_cast<void>(saving->env->Remove(saving->path));
    }
    std::exchange(saving->done, nullptr)(saving->status);
  });
  return more;
}

Status GroupCache::Flush() {
  Status flushed;
  StartFlush([&](Status status) { flushed = std::move(status); });
  InlineExecutor here;
  while (ContinueFlush(here)) {
  }
  return flushed;
}

ManifestSection GroupCache::Describe() const { return saving_ ? saving_->section : described_; }

Status GroupCache::Committed() {
  if (saving_) {
    for (const auto& file : described_.files) retired_.push_back(file.name);
    described_ = std::move(saving_->section);
    saving_.reset();
  }
  return RemoveUnnamed(env_, dir_, described_, retired_);
}

bool GroupCache::RestoreSet(std::string_view record) {
  ByteReader in(record);
  uint32_t set = 0;
  if (!in.Read(set) || set >= sets_.size() || in.remaining() == 0 || in.remaining() % sizeof(Entry) != 0 ||
      in.remaining() > kSetBytes) {
    return false;
  }
  Entry* entry = sets_[set].entries.data();
  if (entry->tag != 0) return false;
  for (uint32_t number = 0; !in.done(); ++entry, ++used_) {
    if (!in.Read(entry->tag) || !in.Read(number) || entry->tag == 0) return false;
    entry->set_number(number);
  }
  return true;
}

Status GroupCache::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(const uint64_t sets, section.Number("sets"));
  ASSIGN_OR_RETURN(const uint64_t entries, section.Number("entries"));
  ASSIGN_OR_RETURN(next_file_, section.Number("next_file"));
  if (section.files.size() != 1) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} files", section.name, section.files.size()));
  }
  described_ = section;
  if (sets != sets_.size()) return {};  // another size: begins empty
  const std::string path = JoinPath(dir_, section.files[0].name);
  BlockFileReader::Options options;
  options.length = section.files[0].length;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env_, path, FileKind::kQueue, options));
  RecordBlockReader records;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) break;
    records.Start(*block, 0);
    while (records.Next()) {
      if (block->kind != kBlockKind || !RestoreSet(records.record())) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: not a set of groups", path, block->offset));
      }
    }
    if (!records.ok()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: its records are broken", path, block->offset));
    }
  }
  if (used_ != entries) return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} groups of {}", path, used_, entries));
  changed_ = false;
  return {};
}

}  // namespace portolan
