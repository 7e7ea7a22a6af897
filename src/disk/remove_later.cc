#include "disk/remove_later.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace portolan {

void RemoveLater::Shared::Work() {
  std::vector<std::string> paths;
  {
    const std::lock_guard lock(mutex);
    if (waiting.empty()) return;  // an earlier job removed everything, or the owner is gone, and perhaps the Env, too
    paths = std::exchange(waiting, {});
    ++working;
  }
  std::erase_if(paths, [&](const std::string& path) { return env.Remove(path).has_value(); });
  const std::lock_guard lock(mutex);
  failed.insert(failed.end(), paths.begin(), paths.end());
  --working;
  changed.notify_all();
}

RemoveLater::~RemoveLater() {
  shared_->Work();
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->working == 0; });
}

void RemoveLater::Remove(std::vector<std::string> paths) {
  if (paths.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    std::move(paths.begin(), paths.end(), std::back_inserter(shared_->waiting));
  }
  executor_.Submit([shared = shared_] { shared->Work(); });
}

std::vector<std::string> RemoveLater::TakeFailed() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->failed, {});
}

}  // namespace portolan
