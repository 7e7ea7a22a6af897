#include "disk/sync_later.h"

#include <fmt/core.h>

#include <utility>

namespace portolan {

class SyncLater::LaterFile : public File {
 public:
  LaterFile(std::shared_ptr<File> base, std::shared_ptr<Notes> notes)
      : base_(std::move(base)), notes_(std::move(notes)) {}

  Status Append(std::string_view bytes) override { return base_->Append(bytes); }
  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override { return base_->ReadAt(offset, to, count); }
  void WillNeed(uint64_t offset, uint64_t count) override { base_->WillNeed(offset, count); }
  Status Preallocate(uint64_t size) override { return base_->Preallocate(size); }
  Status Truncate(uint64_t size) override { return base_->Truncate(size); }
  Status Sync() override {
    std::shared_ptr<File> other = base_;  // an older handle on the same file, destroyed after the lock is released
    const std::lock_guard lock(notes_->mutex);
    notes_->files[base_->path()].swap(other);
    return {};
  }
  uint64_t Size() const override { return base_->Size(); }
  const std::string& path() const override { return base_->path(); }

 private:
  const std::shared_ptr<File> base_;  // shared with the notes: its owner may close it before it is synced
  const std::shared_ptr<Notes> notes_;
};

Result<std::unique_ptr<File>> SyncLater::Open(const std::string& path, OpenMode mode, const FileOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, base_.Open(path, mode, options));
  if (mode == OpenMode::kRead || options.direct) return file;
  return std::make_unique<LaterFile>(std::move(file), notes_);
}

std::shared_ptr<File> SyncLater::Notes::Forget(const std::string& path) {
  const auto found = files.find(path);
  if (found == files.end()) return nullptr;
  std::shared_ptr<File> file = std::move(found->second);
  files.erase(found);
  return file;
}

Status SyncLater::Remove(const std::string& path) {
  std::shared_ptr<File> noted;  // destroyed after the lock: closing the last handle on a removed file frees its space
  {
    const std::lock_guard lock(notes_->mutex);
    if (notes_->holder == std::this_thread::get_id()) {
      noted = notes_->Forget(path);
      notes_->removals.push_back(path);
      return {};
    }
  }
  RETURN_IF_ERROR(base_.Remove(path));
  const std::lock_guard lock(notes_->mutex);
  noted = notes_->Forget(path);
  return {};
}

Status SyncLater::Rename(const std::string& from, const std::string& to) {
  std::shared_ptr<File> noted;
  {
    const std::lock_guard lock(notes_->mutex);
    if (const auto found = notes_->files.find(from); found != notes_->files.end()) noted = found->second;
  }
  if (noted) RETURN_IF_ERROR(noted->Sync());
  RETURN_IF_ERROR(base_.Rename(from, to));
  std::shared_ptr<File> forgotten[2];
  const std::lock_guard lock(notes_->mutex);
  forgotten[0] = notes_->Forget(from);
  forgotten[1] = notes_->Forget(to);
  return {};
}

size_t SyncLater::waiting() const {
  const std::lock_guard lock(notes_->mutex);
  return notes_->files.size();
}

void SyncLater::HoldRemovals() {
  const std::lock_guard lock(notes_->mutex);
  notes_->holder = std::this_thread::get_id();
}

std::vector<std::string> SyncLater::TakeRemovals() {
  const std::lock_guard lock(notes_->mutex);
  notes_->holder.reset();
  return std::exchange(notes_->removals, {});
}

SyncLater::Batch SyncLater::Take() {
  Batch batch;
  batch.notes_ = notes_;
  const std::lock_guard lock(notes_->mutex);
  for (auto& [path, file] : notes_->files) batch.files_.push_back(std::move(file));
  notes_->files.clear();
  return batch;
}

Status SyncLater::Batch::Sync() {
  while (!files_.empty()) {
    if (const Status synced = files_.back()->Sync(); !synced) {
      {
        const std::lock_guard lock(notes_->mutex);
        for (std::shared_ptr<File>& file : files_) {
          const std::string path = file->path();
          notes_->files.try_emplace(path, std::move(file));  // a later handle on the same file will do as well
        }
      }
      files_.clear();
      return Fail(ErrorCode::kIo, synced.error().message());
    }
    files_.pop_back();
  }
  return {};
}

}  // namespace portolan
