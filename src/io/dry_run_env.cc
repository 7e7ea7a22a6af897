#include "io/dry_run_env.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace portolan {

// A file as it would be: the first `kept` bytes of the base's, then `added`.
struct DryRunEnv::Node {
  std::unique_ptr<File> base;  // null: made here
  uint64_t base_size = 0;
  uint64_t kept = 0;
  std::string added;
};

struct DryRunEnv::State {
  mutable std::mutex mutex;
  // Guarded by mutex:
  std::map<std::string, std::shared_ptr<Node>> nodes;  // null: the name is gone
  std::map<std::string, uint64_t> removed;             // files of the base, with their sizes
  std::set<std::string> dirs;                          // made here
  uint64_t memory_left = 0;
};

class DryRunEnv::DryFile : public File {
 public:
  DryFile(std::string path, std::shared_ptr<Node> node, std::shared_ptr<State> state, bool writable)
      : path_(std::move(path)), node_(std::move(node)), state_(std::move(state)), writable_(writable) {}

  Status Append(std::string_view bytes) override {
    const std::lock_guard lock(state_->mutex);
    if (!writable_) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: opened for reading", path_));
    if (bytes.size() > state_->memory_left) {
      return Fail(ErrorCode::kNoSpace, fmt::format("{}: more than a dry run keeps in memory", path_));
    }
    state_->memory_left -= bytes.size();
    node_->added += bytes;
    return {};
  }
  Result<size_t> ReadAt(uint64_t offset, char* to, size_t count) override {
    const std::lock_guard lock(state_->mutex);
    size_t got = 0;
    if (offset < node_->kept) {
      ASSIGN_OR_RETURN(got, node_->base->ReadAt(offset, to, std::min<uint64_t>(count, node_->kept - offset)));
      if (got < count && offset + got < node_->kept) return got;
    }
    const uint64_t at = offset + got;
    if (got < count && at >= node_->kept && at - node_->kept < node_->added.size()) {
      const std::string_view rest = std::string_view(node_->added).substr(at - node_->kept, count - got);
      std::memcpy(to + got, rest.data(), rest.size());
      got += rest.size();
    }
    return got;
  }
  void WillNeed(uint64_t offset, uint64_t count) override {
    const std::lock_guard lock(state_->mutex);
    if (node_->base != nullptr) node_->base->WillNeed(offset, count);
  }
  Status Preallocate(uint64_t /*size*/) override { return {}; }
  Status Truncate(uint64_t size) override {
    const std::lock_guard lock(state_->mutex);
    const uint64_t added = size > node_->kept ? size - node_->kept : 0;
    if (added < node_->added.size()) state_->memory_left += node_->added.size() - added;
    node_->added.resize(std::min<uint64_t>(added, node_->added.size()));
    node_->kept = std::min(node_->kept, size);
    return {};
  }
  Status Sync() override { return {}; }
  uint64_t Size() const override {
    const std::lock_guard lock(state_->mutex);
    return node_->kept + node_->added.size();
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const std::shared_ptr<Node> node_;
  const std::shared_ptr<State> state_;
  const bool writable_;
};

DryRunEnv::DryRunEnv(Env& base, uint64_t memory) : base_(base), state_(std::make_shared<State>()) {
  state_->memory_left = memory;
}
DryRunEnv::~DryRunEnv() = default;

Result<std::unique_ptr<File>> DryRunEnv::Open(const std::string& path, OpenMode mode, const FileOptions& options) {
  const std::lock_guard lock(state_->mutex);
  auto found = state_->nodes.find(path);
  const bool gone = found != state_->nodes.end() && found->second == nullptr;
  if (mode == OpenMode::kRead) {
    if (gone) return Fail(ErrorCode::kNotFound, fmt::format("open {}: it would be removed", path));
    if (found == state_->nodes.end()) return base_.Open(path, mode, options);
    return std::make_unique<DryFile>(path, found->second, state_, false);
  }
  std::shared_ptr<Node>& node = state_->nodes[path];
  if (found == state_->nodes.end() || gone) {
    node = std::make_shared<Node>();
    if (!gone && base_.Exists(path)) {
      auto base = base_.Open(path, OpenMode::kRead);
      if (!base) {
        state_->nodes.erase(path);
        return std::unexpected(std::move(base).error());
      }
      node->base = *std::move(base);
      node->kept = node->base_size = node->base->Size();
    }
  }
  if (mode == OpenMode::kCreate) {
    node->kept = 0;
    state_->memory_left += node->added.size();
    node->added.clear();
  }
  return std::make_unique<DryFile>(path, node, state_, true);
}

bool DryRunEnv::Exists(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->nodes.find(path);
  if (found != state_->nodes.end()) return found->second != nullptr;
  return state_->dirs.contains(path) || base_.Exists(path);
}

Result<std::vector<std::string>> DryRunEnv::List(const std::string& dir) {
  const std::lock_guard lock(state_->mutex);
  std::set<std::string> names;
  auto listed = base_.List(dir);
  if (listed) {
    names.insert(listed->begin(), listed->end());
  } else if (!state_->dirs.contains(dir)) {
    return listed;
  }
  for (const auto& [path, node] : state_->nodes) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (JoinPath(dir, name) != path) continue;
    if (node == nullptr) {
      names.erase(name);
    } else {
      names.insert(name);
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Status DryRunEnv::CreateDirs(const std::string& dir) {
  const std::lock_guard lock(state_->mutex);
  if (!base_.Exists(dir)) state_->dirs.insert(dir);
  return {};
}

Status DryRunEnv::Remove(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->nodes.find(path);
  const bool known = found != state_->nodes.end();
  if ((known && found->second == nullptr) || (!known && !base_.Exists(path))) {
    return Fail(ErrorCode::kNotFound, fmt::format("remove {}: no such file", path));
  }
  if (known) state_->memory_left += found->second->added.size();
  if (base_.Exists(path)) {
    const auto base = base_.Open(path, OpenMode::kRead);
    state_->removed[path] = base ? (*base)->Size() : 0;
  }
  state_->nodes[path] = nullptr;
  return {};
}

Status DryRunEnv::Rename(const std::string& from, const std::string& to) {
  // Opened for appending, so that there is a node to move.
  if (!Exists(from)) return Fail(ErrorCode::kNotFound, fmt::format("rename {}: no such file", from));
  RETURN_IF_ERROR(Open(from, OpenMode::kAppend));
  const std::lock_guard lock(state_->mutex);
  state_->nodes[to] = std::exchange(state_->nodes[from], nullptr);
  return {};
}

namespace {
class NoLock : public FileLock {};
}  // namespace

Result<std::unique_ptr<FileLock>> DryRunEnv::Lock(const std::string& /*path*/) { return std::make_unique<NoLock>(); }

Result<std::string> DryRunEnv::Identity(const std::string& dir) {
  const std::lock_guard lock(state_->mutex);
  if (base_.Exists(dir) || !state_->dirs.contains(dir)) return base_.Identity(dir);
  // The directory would be made: identified by its nearest existing parent and the names below that.
  std::vector<std::string> names;
  std::string above = dir;
  while (!base_.Exists(above)) {
    while (above.size() > 1 && above.back() == '/') above.pop_back();
    const std::string name = above.substr(above.rfind('/') + 1);
    above = DirName(above);
    if (name != "." && !name.empty()) names.push_back(name);
  }
  ASSIGN_OR_RETURN(std::string identity, base_.Identity(above));
  for (auto name = names.rbegin(); name != names.rend(); ++name) identity += '/' + *name;
  return identity;
}

std::vector<DryRunEnv::Cut> DryRunEnv::Cuts() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Cut> cuts;
  for (const auto& [path, node] : state_->nodes) {
    if (node != nullptr && node->kept < node->base_size) cuts.push_back({path, node->base_size - node->kept});
  }
  return cuts;
}

std::vector<DryRunEnv::Cut> DryRunEnv::Removals() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Cut> removals;
  for (const auto& [path, size] : state_->removed) {
    const auto node = state_->nodes.find(path);
    if (node != state_->nodes.end() && node->second == nullptr) removals.push_back({path, size});
  }
  return removals;
}

}  // namespace portolan
