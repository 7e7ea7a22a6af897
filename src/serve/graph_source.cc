#include "serve/graph_source.h"

#include <algorithm>

#include "base/log.h"

namespace portolan {

Result<std::unique_ptr<GraphLook>> OpenGraph::Take(GraphLevel level, GraphDirection direction) {
  Slot& slot = SlotOf(level, direction);
  const std::lock_guard lock(slot.mutex);
  if (slot.view == nullptr) {
    ASSIGN_OR_RETURN(slot.view, LinkView::Open(*files_, level, direction));
  }
  if (!slot.idle.empty()) {
    std::unique_ptr<GraphLook> look = std::move(slot.idle.back());
    slot.idle.pop_back();
    return look;
  }
  ASSIGN_OR_RETURN(GraphLook look, GraphLook::Open(*slot.view));
  return std::make_unique<GraphLook>(std::move(look));
}

void OpenGraph::Return(GraphLevel level, GraphDirection direction, std::unique_ptr<GraphLook> look) {
  Slot& slot = SlotOf(level, direction);
  const std::lock_guard lock(slot.mutex);
  slot.idle.push_back(std::move(look));
}

Result<std::shared_ptr<OpenGraph>> GraphSource::Current() {
  // Who comes during a look waits: opening takes milliseconds.
  const std::lock_guard lock(mutex_);
  const int64_t now = clock_.NowNs();
  if (checked_ && now - checked_at_ < kCheckNs) return last_;
  last_ = Look(last_);
  checked_ = true;
  checked_at_ = now;
  return last_;
}

void GraphSource::Reopen() {
  const std::lock_guard lock(mutex_);
  checked_ = false;
  last_ = std::shared_ptr<OpenGraph>();
}

Result<std::shared_ptr<OpenGraph>> GraphSource::Look(const Result<std::shared_ptr<OpenGraph>>& last) {
  ASSIGN_OR_RETURN(const GraphCurrent current, GraphCurrent::Load(env_, dir_));
  const auto whole = [&](const GraphCurrent::FileEntry& entry) {
    const auto file = env_.Open(GraphFilePath(dir_, current.generation, entry.name), OpenMode::kRead);
    return file && (*file)->Size() == entry.size;
  };
  const bool had = last && *last != nullptr;
  if (had && (*last)->files().current() == current && std::ranges::all_of(current.files, whole)) return last;
  ASSIGN_OR_RETURN(auto files, GraphFiles::Open(env_, dir_));
  const uint64_t generation = files->generation();
  if (!had || (*last)->files().generation() != generation) {
    Log(LogLevel::kInfo, "serving a link graph", {{"dir", dir_}, {"generation", generation}});
  }
  return std::make_shared<OpenGraph>(std::move(files));
}

}  // namespace portolan
