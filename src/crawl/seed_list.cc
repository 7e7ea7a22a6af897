#include "crawl/seed_list.h"

#include <fmt/core.h>

#include <algorithm>

#include "crawl/engine.h"
#include "crawl/hash_key_store.h"
#include "disk/committed.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

constexpr size_t kBatch = 1024;  // seeds that are appended at once

}  // namespace

Result<SeedWriter> SeedWriter::Open(Env& env, const std::string& state_dir, const HashKey& key) {
  const std::string_view keep[] = {kStateLock};
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, state_dir, keep));
  ASSIGN_OR_RETURN(const HashKey used, HashKeyStore::ReadOr(manifest, key));
  SeedWriter writer(used);
  writer.manifest_ = std::make_unique<Manifest>(std::move(manifest));
  ASSIGN_OR_RETURN(writer.offered_.queue, DiskQueue::Open(env, *writer.manifest_, {.name = kSeedQueue}));
  ASSIGN_OR_RETURN(writer.kept_.queue, DiskQueue::Open(env, *writer.manifest_, {.name = kSeedList}));
  return writer;
}

Status SeedWriter::Offer(std::string_view url) {
  UrlRecord record;
  record.url = url;
  EncodeUrlRecord(record, encoded_);
  return Add(offered_, encoded_);
}
Status SeedWriter::Keep(std::string_view url) { return Add(kept_, url); }

uint64_t SeedWriter::kept() const { return kept_.queue->size() + kept_.batch.size(); }

Status SeedWriter::Add(Target& target, std::string_view record) {
  target.batch.emplace_back(record);
  return target.batch.size() < kBatch ? Status() : Write(target);
}

Status SeedWriter::Write(Target& target) {
  std::vector<std::string_view> views(target.batch.begin(), target.batch.end());
  RETURN_IF_ERROR(target.queue->Append(views));
  target.batch.clear();
  return {};
}

Status SeedWriter::Finish() {
  RETURN_IF_ERROR(Write(offered_));
  RETURN_IF_ERROR(Write(kept_));
  std::vector<ManifestSection> sections;
  for (const ManifestSection& section : manifest_->sections()) {
    const bool ours = section.name == kSeedQueue || section.name == kSeedList || section.name == HashKeyStore::kSection;
    if (!ours) sections.push_back(section);
  }
  HashKeyStore key(key_);
  std::vector<Checkpointable*> written = {offered_.queue.get(), &key};
  if (kept_.queue->size() > 0) written.push_back(kept_.queue.get());
  for (Checkpointable* part : written) {
    RETURN_IF_ERROR(part->Flush());
    sections.push_back(part->Describe());
  }
  RETURN_IF_ERROR(manifest_->WriteNext(sections));
  return manifest_->Adopt(std::move(sections), written);
}

Status ForEachListedSeed(Env& env, const Manifest& manifest, const std::function<bool(std::string_view url)>& each) {
  ASSIGN_OR_RETURN(const ManifestSection* list, manifest.Find(kSeedList, DiskQueue::kKind));
  return list == nullptr ? Status() : ForEachQueued(env, manifest.dir(), *list, each);
}

Result<SeedNames> ReadSeedNames(Env& env, const Manifest& manifest, ScopeMode mode, const HashKey& key, uint64_t most) {
  ASSIGN_OR_RETURN(SeedNames names, SeedNames::Create(mode, key));
  if (mode != ScopeMode::kAny) {
    RETURN_IF_ERROR(ForEachListedSeed(env, manifest, [&](std::string_view url) {
      names.Add(url);
      return names.size() <= 2 * most + 1024;  // duplicates are removed later
    }));
    names.Finish();
  }
  if (names.size() <= most) return names;
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "scope.mode: the seeds have more than {} names, too many for memory.total: use --scope any, which needs "
          "none of them, or give more --memory (64 bytes per name)",
          most));
}

}  // namespace portolan
