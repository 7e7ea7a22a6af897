#include "io/faulty_env.h"

#include <fmt/core.h>

#include <atomic>

namespace portolan {

// The plan and its progress. Shared by the Env and its files.
struct FaultyEnv::Faults {
  std::mutex mutex;
  FaultPlan plan;
  uint64_t operations = 0;
  bool power_is_cut = false;

  enum class Verdict : uint8_t { kGoOn, kFail, kHalf, kFull };

  static std::unexpected<Error> Full(std::string_view what, const std::string& path) {
    return Fail(ErrorCode::kNoSpace, fmt::format("{} {}: no space left (injected)", what, path));
  }

  // Null: there is no bound for this path.
  uint64_t* SpaceFor(const std::string& path) {
    return plan.space && path.starts_with(plan.space_below) ? &*plan.space : nullptr;
  }

  std::unexpected<Error> Failure(std::string_view what, const std::string& path) const {
    return Fail(ErrorCode::kIo, fmt::format("{} {}: {}", what, path, power_is_cut ? "power is cut" : "injected fault"));
  }

  // Counts one operation and returns its result. REQUIRES: mutex held.
  Verdict Next() {
    if (power_is_cut) return Verdict::kFail;
    const uint64_t number = ++operations;
    if (plan.power_cut_at == number) {
      power_is_cut = true;
      return Verdict::kHalf;
    }
    if (plan.short_write_at == number) return Verdict::kHalf;
    if (plan.fail_at == number) return Verdict::kFail;
    if (plan.full_at == number) return Verdict::kFull;
    return Verdict::kGoOn;
  }

  // For everything except appends: these operations have no half-done state.
  Status Step(std::string_view what, const std::string& path) {
    const std::lock_guard lock(mutex);
    const Verdict verdict = Next();
    if (verdict == Verdict::kGoOn) return {};
    return verdict == Verdict::kFull ? Full(what, path) : Failure(what, path);
  }

  Status Powered(std::string_view what, const std::string& path) {
    const std::lock_guard lock(mutex);
    if (power_is_cut) return Failure(what, path);
    return {};
  }
};

class FaultyFile : public File {
 public:
  FaultyFile(std::unique_ptr<File> base, std::shared_ptr<FaultyEnv::Faults> faults)
      : base_(std::move(base)), faults_(std::move(faults)) {}

  Status Append(std::string_view bytes) override {
    using Verdict = FaultyEnv::Faults::Verdict;
    const std::lock_guard lock(faults_->mutex);
    switch (faults_->Next()) {
      case Verdict::kFail:
        return faults_->Failure("write", path());
      case Verdict::kHalf:
        RETURN_IF_ERROR(base_->Append(bytes.substr(0, bytes.size() / 2)));
        return faults_->Failure("write", path());
      case Verdict::kFull:
        RETURN_IF_ERROR(base_->Append(bytes.substr(0, bytes.size() / 2)));
        return FaultyEnv::Faults::Full("write", path());
      case Verdict::kGoOn:
        break;
    }
    uint64_t* const space = faults_->SpaceFor(path());
    if (space != nullptr && *space < bytes.size()) {
      RETURN_IF_ERROR(base_->Append(bytes.substr(0, *space)));
      *space = 0;
      return FaultyEnv::Faults::Full("write", path());
    }
    if (space != nullptr) *space -= bytes.size();
    return base_->Append(bytes);
  }

  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    RETURN_IF_ERROR(faults_->Powered("read", path()));
    return base_->ReadAt(offset, to, count);
  }
  void WillNeed(uint64_t offset, uint64_t count) override { base_->WillNeed(offset, count); }
  Status Preallocate(uint64_t size) override {
    RETURN_IF_ERROR(faults_->Step("preallocate", path()));
    return base_->Preallocate(size);
  }
  Status Truncate(uint64_t size) override {
    RETURN_IF_ERROR(faults_->Step("truncate", path()));
    return base_->Truncate(size);
  }
  Status Sync() override {
    if (const Status step = faults_->Step("sync", path()); !step) {
      dropped_ = dropped_ || step.error().code() == ErrorCode::kNoSpace;
      return step;
    }
    return dropped_ ? Status() : base_->Sync();
  }
  uint64_t Size() const override { return base_->Size(); }
  const std::string& path() const override { return base_->path(); }

 private:
  const std::unique_ptr<File> base_;
  const std::shared_ptr<FaultyEnv::Faults> faults_;
  std::atomic<bool> dropped_ = false;  // by a sync that found no room
};

FaultyEnv::FaultyEnv(Env& base, const FaultPlan& plan) : base_(base), faults_(std::make_shared<Faults>()) {
  faults_->plan = plan;
}
FaultyEnv::~FaultyEnv() = default;

Result<std::unique_ptr<File>> FaultyEnv::Open(const std::string& path, OpenMode mode, const FileOptions& options) {
  if (mode == OpenMode::kRead) {
    RETURN_IF_ERROR(faults_->Powered("open", path));
  } else {
    RETURN_IF_ERROR(faults_->Step("open", path));
  }
  ASSIGN_OR_RETURN(auto file, base_.Open(path, mode, options));
  return std::make_unique<FaultyFile>(std::move(file), faults_);
}

bool FaultyEnv::Exists(const std::string& path) { return base_.Exists(path); }

Result<std::vector<std::string>> FaultyEnv::List(const std::string& dir) {
  RETURN_IF_ERROR(faults_->Powered("list", dir));
  return base_.List(dir);
}

Status FaultyEnv::CreateDirs(const std::string& dir) {
  RETURN_IF_ERROR(faults_->Powered("create directory", dir));
  return base_.CreateDirs(dir);
}

Status FaultyEnv::Remove(const std::string& path) {
  RETURN_IF_ERROR(faults_->Step("remove", path));
  return base_.Remove(path);
}

Status FaultyEnv::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(faults_->Step("rename", from));
  return base_.Rename(from, to);
}

Status FaultyEnv::SyncDir(const std::string& dir) {
  RETURN_IF_ERROR(faults_->Step("sync directory", dir));
  return base_.SyncDir(dir);
}

Result<std::unique_ptr<FileLock>> FaultyEnv::Lock(const std::string& path) {
  RETURN_IF_ERROR(faults_->Powered("lock", path));
  return base_.Lock(path);
}

Result<uint64_t> FaultyEnv::FreeSpace(const std::string& dir) {
  const std::lock_guard lock(faults_->mutex);
  if (const uint64_t* space = faults_->SpaceFor(dir); space != nullptr) return *space;
  return base_.FreeSpace(dir);
}

Result<std::string> FaultyEnv::Identity(const std::string& dir) {
  RETURN_IF_ERROR(faults_->Powered("stat", dir));
  return base_.Identity(dir);
}

uint64_t FaultyEnv::operations() const {
  const std::lock_guard lock(faults_->mutex);
  return faults_->operations;
}

bool FaultyEnv::power_is_cut() const {
  const std::lock_guard lock(faults_->mutex);
  return faults_->power_is_cut;
}

void FaultyEnv::AddSpace(uint64_t bytes) {
  const std::lock_guard lock(faults_->mutex);
  if (faults_->plan.space) *faults_->plan.space += bytes;
}

void FaultyEnv::SetPlan(const FaultPlan& plan) {
  const std::lock_guard lock(faults_->mutex);
  faults_->plan = plan;
}

}  // namespace portolan
