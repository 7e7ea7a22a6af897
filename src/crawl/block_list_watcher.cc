#include "crawl/block_list_watcher.h"

#include <utility>

#include "base/log.h"
#include "io/small_file.h"

namespace portolan {

void BlockListWatcher::SetTrouble(std::string why) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(why);
}

std::shared_ptr<const BlockList> BlockListWatcher::Look() {
  std::vector<std::string> stamps;
  for (const std::string& file : files_) stamps.push_back(FileStamp(file));
  const bool rests = std::exchange(last_look_, stamps) == stamps;
  if (!rests || stamps == read_) return nullptr;
  auto loaded = LoadBlockLists(env_, files_, max_names_);
  if (!loaded) {
    read_ = std::move(stamps);
    Log(LogLevel::kWarn, "a block list that has changed is not usable: the last good lists stay in force",
        {{"why", loaded.error().message()}});
    SetTrouble(loaded.error().message());
    return nullptr;
  }
  read_ = std::move(loaded->stamps);
  SetTrouble({});
  if (loaded->list->fingerprint() == fingerprint_) return nullptr;
  fingerprint_ = loaded->list->fingerprint();
  Log(LogLevel::kInfo, "the block lists have changed and are in force",
      {{"names", loaded->list->size()}, {"other_filters", loaded->list->skipped()}});
  return std::move(loaded->list);
}

}  // namespace portolan
