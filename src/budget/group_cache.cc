#include "budget/group_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "disk/block_file.h"
#include "disk/record_block.h"

namespace portolan {
namespace {

constexpr size_t kSetBytes = GroupCache::kWays * sizeof(GroupCache::Entry);
constexpr size_t kBlockBytes = size_t{64} << 10;
static_assert(kSetBytes == 64);

}  // namespace

GroupCache::GroupCache(Env& env, std::string dir, const Options& options)
    : env_(env),
      dir_(std::move(dir)),
      name_(options.name),
      sets_(std::bit_floor(std::clamp<uint64_t>(options.memory / kSetBytes, 1, uint64_t{1} << 32))),
      entries_(sets_ * kWays) {}

GroupCache::~GroupCache() = default;

Result<std::unique_ptr<GroupCache>> GroupCache::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<GroupCache> cache(new GroupCache(env, manifest.dir(), options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(cache->Restore(*section));
  return cache;
}

const GroupCache::Entry* GroupCache::Find(uint64_t hash) const {
  const Entry* set = &entries_[SetOf(hash) * kWays];
  const uint32_t tag = TagOf(hash);
  for (size_t i = 0; i < kWays; ++i) {
    if (set[i].tag == tag) return &set[i];
  }
  return nullptr;
}

GroupCache::Entry& GroupCache::Touch(uint64_t hash) {
  changed_ = true;
  Entry* set = &entries_[SetOf(hash) * kWays];
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

Status GroupCache::Save() {
  const std::string name = fmt::format("{}-{:09}.groups", name_, next_file_);
  ASSIGN_OR_RETURN(BlockFileWriter file,
                   BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kQueue, Codec::kLz4));
  ++next_file_;
  RecordBlockBuilder block;
  std::string record;
  for (size_t set = 0; set < sets_; ++set) {
    const Entry* entries = &entries_[set * kWays];
    if (entries[0].tag == 0) continue;
    record.clear();
    AppendLe<uint32_t>(record, static_cast<uint32_t>(set));
    for (size_t i = 0; i < kWays && entries[i].tag != 0; ++i) {
      AppendLe<uint32_t>(record, entries[i].tag);
      AppendLe<uint32_t>(record, entries[i].number());
    }
    block.Add(record);
    if (block.size() < kBlockBytes) continue;
    RETURN_IF_ERROR(file.Append(block.Finish(kBlockKind)));
    block.Clear();
  }
  if (!block.empty()) RETURN_IF_ERROR(file.Append(block.Finish(kBlockKind)));
  RETURN_IF_ERROR(file.Sync());
  ManifestSection section;
  section.name = name_;
  section.kind = kKind;
  section.files = {{name, file.length()}};
  section.numbers = {{"sets", sets_}, {"entries", used_}, {"next_file", next_file_}};
  for (const auto& old : described_.files) retired_.push_back(old.name);
  described_ = std::move(section);
  return {};
}

Status GroupCache::Flush() {
  if (!changed_) return {};
  RETURN_IF_ERROR(Save());
  changed_ = false;
  return {};
}

bool GroupCache::RestoreSet(std::string_view record) {
  ByteReader in(record);
  uint32_t set = 0;
  if (!in.Read(set) || set >= sets_ || in.remaining() == 0 || in.remaining() % sizeof(Entry) != 0 ||
      in.remaining() > kSetBytes) {
    return false;
  }
  Entry* entry = &entries_[set * kWays];
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
  if (sets != sets_) return {};  // another size: begins empty
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
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: no set of groups", path, block->offset));
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
