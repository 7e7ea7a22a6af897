#include "io/mem_env.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/check.h"
#include "io/rng.h"

namespace portolan {

class MemFile : public File {
 public:
  MemFile(std::string path, bool writable, std::shared_ptr<std::mutex> mutex, std::shared_ptr<MemEnv::State> state,
          std::shared_ptr<MemEnv::Inode> inode)
      : path_(std::move(path)),
        writable_(writable),
        generation_(state->generation),
        mutex_(std::move(mutex)),
        state_(std::move(state)),
        inode_(std::move(inode)) {}

  Status Append(std::string_view bytes) override {
    const std::lock_guard lock(*mutex_);
    RETURN_IF_ERROR(Alive("append"));
    if (!writable_) return Fail(ErrorCode::kIo, fmt::format("write {}: opened for reading", path_));
    inode_->data.append(bytes);
    return {};
  }

  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    const std::lock_guard lock(*mutex_);
    RETURN_IF_ERROR(Alive("read"));
    const std::string& data = inode_->data;
    if (offset >= data.size()) return size_t{0};
    count = std::min<size_t>(count, data.size() - offset);
    std::memcpy(to, data.data() + offset, count);
    return count;
  }

  Status Preallocate(uint64_t) override {
    const std::lock_guard lock(*mutex_);
    return Alive("preallocate");
  }

  Status Truncate(uint64_t size) override {
    const std::lock_guard lock(*mutex_);
    RETURN_IF_ERROR(Alive("truncate"));
    inode_->data.resize(size, '\0');
    return {};
  }

  Status Sync() override {
    const std::lock_guard lock(*mutex_);
    RETURN_IF_ERROR(Alive("sync"));
    inode_->synced = inode_->data;
    return {};
  }

  uint64_t Size() const override {
    const std::lock_guard lock(*mutex_);
    return inode_->data.size();
  }
  const std::string& path() const override { return path_; }

 private:
  Status Alive(std::string_view what) const {
    if (state_->generation == generation_) return {};
    return Fail(ErrorCode::kIo, fmt::format("{} {}: the handle is from before a crash", what, path_));
  }

  const std::string path_;
  const bool writable_;
  const uint64_t generation_;
  const std::shared_ptr<std::mutex> mutex_;
  const std::shared_ptr<MemEnv::State> state_;
  const std::shared_ptr<MemEnv::Inode> inode_;
};

namespace {

// "a//b/./c/" and "a/b/c" are one name.
std::string Normal(std::string_view path) {
  std::string out;
  bool absolute = !path.empty() && path.front() == '/';
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") out += (out.empty() && !absolute ? "" : "/") + std::string(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out.empty() ? (absolute ? "/" : ".") : out;
}

std::unexpected<Error> Missing(std::string_view what, const std::string& path) {
  return Fail(ErrorCode::kNotFound, fmt::format("{} {}: no such file or directory", what, path));
}

class MemLock : public FileLock {
 public:
  explicit MemLock(std::function<void()> release) : release_(std::move(release)) {}
  ~MemLock() override { release_(); }

 private:
  std::function<void()> release_;
};

}  // namespace

MemEnv::MemEnv() : mutex_(std::make_shared<std::mutex>()), state_(std::make_shared<State>()) {
  state_->dirs = {".", "/"};
}
MemEnv::~MemEnv() = default;

void MemEnv::Apply(Names& names, const NameChange& change) {
  if (change.inode) {
    names[change.path] = change.inode;
  } else {
    names.erase(change.path);
  }
  if (!change.also_removes.empty()) names.erase(change.also_removes);
}

Result<std::unique_ptr<File>> MemEnv::Open(const std::string& raw_path, OpenMode mode, const FileOptions&) {
  const std::string path = Normal(raw_path);
  const std::lock_guard lock(*mutex_);
  const auto found = state_->names.find(path);
  std::shared_ptr<Inode> inode = found == state_->names.end() ? nullptr : found->second;
  if (!inode) {
    if (mode == OpenMode::kRead || !state_->dirs.contains(Normal(DirName(path)))) return Missing("open", path);
    inode = std::make_shared<Inode>();
    const NameChange change{path, inode, ""};
    Apply(state_->names, change);
    state_->unsynced[Normal(DirName(path))].push_back(change);
  } else if (mode == OpenMode::kCreate) {
    inode->data.clear();
  }
  return std::make_unique<MemFile>(path, mode != OpenMode::kRead, mutex_, state_, inode);
}

bool MemEnv::Exists(const std::string& path) {
  const std::lock_guard lock(*mutex_);
  return state_->names.contains(Normal(path)) || state_->dirs.contains(Normal(path));
}

Result<std::vector<std::string>> MemEnv::List(const std::string& raw_dir) {
  const std::string dir = Normal(raw_dir);
  const std::lock_guard lock(*mutex_);
  if (!state_->dirs.contains(dir)) return Missing("list", dir);
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    if (path != dir && Normal(DirName(path)) == dir) names.insert(path.substr(path.rfind('/') + 1));
  };
  for (const auto& [path, inode] : state_->names) add(path);
  for (const std::string& path : state_->dirs) {
    if (path != "." && path != "/") add(path);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Status MemEnv::CreateDirs(const std::string& raw_dir) {
  const std::lock_guard lock(*mutex_);
  for (std::string dir = Normal(raw_dir); !state_->dirs.contains(dir); dir = Normal(DirName(dir))) {
    if (state_->names.contains(dir)) return Fail(ErrorCode::kExists, fmt::format("create directory {}", dir));
    state_->dirs.insert(dir);
  }
  return {};
}

Status MemEnv::Remove(const std::string& raw_path) {
  const std::string path = Normal(raw_path);
  const std::lock_guard lock(*mutex_);
  if (!state_->names.contains(path)) return Missing("remove", path);
  const NameChange change{path, nullptr, ""};
  Apply(state_->names, change);
  state_->unsynced[Normal(DirName(path))].push_back(change);
  return {};
}

Status MemEnv::Rename(const std::string& raw_from, const std::string& raw_to) {
  const std::string from = Normal(raw_from);
  const std::string to = Normal(raw_to);
  const std::lock_guard lock(*mutex_);
  const auto found = state_->names.find(from);
  if (found == state_->names.end()) return Missing("rename", from);
  if (from == to) return {};
  const NameChange change{to, found->second, from};
  Apply(state_->names, change);
  state_->unsynced[Normal(DirName(to))].push_back(change);
  return {};
}

Status MemEnv::SyncDir(const std::string& raw_dir) {
  const std::string dir = Normal(raw_dir);
  const std::lock_guard lock(*mutex_);
  if (!state_->dirs.contains(dir)) return Missing("sync directory", dir);
  for (const NameChange& change : state_->unsynced[dir]) Apply(state_->synced_names, change);
  state_->unsynced.erase(dir);
  return {};
}

Result<std::unique_ptr<FileLock>> MemEnv::Lock(const std::string& raw_path) {
  const std::string path = Normal(raw_path);
  const std::lock_guard lock(*mutex_);
  if (!state_->locks.insert(path).second) {
    return Fail(ErrorCode::kBusy, fmt::format("{} is locked: another process uses it", path));
  }
  return std::make_unique<MemLock>([mutex = mutex_, state = state_, generation = state_->generation, path] {
    const std::lock_guard release(*mutex);
    if (state->generation == generation) state->locks.erase(path);
  });
}

Result<uint64_t> MemEnv::FreeSpace(const std::string&) { return uint64_t{1} << 40; }

Result<std::string> MemEnv::Identity(const std::string& raw_dir) {
  std::string dir = Normal(raw_dir);
  const std::lock_guard lock(*mutex_);
  if (!state_->dirs.contains(dir)) return Missing("stat", dir);
  return dir;
}

MemEnv::State MemEnv::AfterCrash(const State& state, CrashMode mode, uint64_t seed) {
  Rng rng(seed);
  State after;
  after.dirs = state.dirs;
  after.generation = state.generation + 1;

  Names names = state.synced_names;
  for (const auto& [dir, changes] : state.unsynced) {
    size_t kept = 0;
    if (mode == CrashMode::kKeepAll) kept = changes.size();
    if (mode == CrashMode::kTorn) kept = rng.Below(changes.size() + 1);
    for (size_t i = 0; i < kept; ++i) Apply(names, changes[i]);
  }

  for (const auto& [path, inode] : names) {
    std::string bytes = inode->synced;
    if (mode == CrashMode::kKeepAll) {
      bytes = inode->data;
    } else if (mode == CrashMode::kTorn && inode->data != inode->synced) {
      // Bytes that both have are safe. Beyond them either version may be on the platter, to any length.
      const auto differ =
          std::mismatch(inode->data.begin(), inode->data.end(), inode->synced.begin(), inode->synced.end());
      const auto safe = static_cast<size_t>(differ.first - inode->data.begin());
      const std::string& version = safe < inode->data.size() && (safe == inode->synced.size() || rng.Below(2) == 0)
                                       ? inode->data
                                       : inode->synced;
      bytes = version.substr(0, safe + rng.Below(version.size() - safe + 1));
      const size_t zeros = rng.Below(2) == 0 ? 0 : rng.Below(std::min<size_t>(bytes.size() - safe, 4096) + 1);
      std::fill(bytes.end() - static_cast<ptrdiff_t>(zeros), bytes.end(), '\0');
    }
    auto fresh = std::make_shared<Inode>();
    fresh->data = bytes;
    fresh->synced = std::move(bytes);
    after.names[path] = std::move(fresh);
  }
  after.synced_names = after.names;
  return after;
}

void MemEnv::Crash(CrashMode mode, uint64_t seed) {
  const std::lock_guard lock(*mutex_);
  *state_ = AfterCrash(*state_, mode, seed);
}

std::unique_ptr<MemEnv> MemEnv::CrashedCopy(CrashMode mode, uint64_t seed) const {
  const std::lock_guard lock(*mutex_);
  auto copy = std::make_unique<MemEnv>();
  *copy->state_ = AfterCrash(*state_, mode, seed);
  return copy;
}

void MemEnv::Corrupt(const std::string& raw_path, uint64_t offset, std::string_view bytes) {
  const std::lock_guard lock(*mutex_);
  const auto found = state_->names.find(Normal(raw_path));
  CHECK(found != state_->names.end(), "no file {}", raw_path);
  std::string& data = found->second->data;
  CHECK(offset + bytes.size() <= data.size(), "{} has {} bytes", raw_path, data.size());
  data.replace(offset, bytes.size(), bytes);
  found->second->synced = data;
}

}  // namespace portolan
