#include "io/holding_env.h"

#include <utility>

namespace portolan {

Status HoldingEnv::Hold(std::set<std::string> paths) {
  std::vector<std::string> free;
  {
    const std::lock_guard lock(mutex_);
    held_ = std::move(paths);
    for (const std::string& path : removed_) {
      if (!held_.contains(path)) free.push_back(path);
    }
  }
  for (const std::string& path : free) {
    const Status removed = base_.Remove(path);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
    const std::lock_guard lock(mutex_);
    removed_.erase(path);
  }
  return {};
}

size_t HoldingEnv::waiting() const {
  const std::lock_guard lock(mutex_);
  return removed_.size();
}

Status HoldingEnv::Remove(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (held_.contains(path)) {
      removed_.insert(path);
      return {};
    }
  }
  return base_.Remove(path);
}

}  // namespace portolan
