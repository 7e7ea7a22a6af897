// BlockListWatcher: reads the block lists of a running crawl again when their files change.
//
// Look compares what the file system says about the files (FileStamp) with what it said when they were read. When
// something differs, and did not change any more since the look before, all of them are read. So a file that is being
// written is left alone until it rests. Files that cannot be read or are not block lists leave the last good list in
// force; Trouble says why until they are good again. Each state of the files is read, and complained about, once.
//
// Thread: Look on any thread, one call at a time; Trouble from any.
// Memory bound: LoadBlockLists'.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "crawl/rule_files.h"
#include "io/env.h"
#include "rules/block_list.h"

namespace portolan {

class BlockListWatcher {
 public:
  // `loaded` is what the crawl began with.
  BlockListWatcher(Env& env, std::vector<std::string> files, uint64_t max_names, LoadedBlockList loaded)
      : env_(env),
        files_(std::move(files)),
        max_names_(max_names),
        read_(loaded.stamps),
        last_look_(loaded.stamps),
        fingerprint_(loaded.list ? loaded.list->fingerprint() : 0) {}

  // A list that differs from the last one; null: nothing has changed, or what is there now is not usable.
  std::shared_ptr<const BlockList> Look();

  // Why the files as they are now are not in force; empty: they are.
  std::string Trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  void SetTrouble(std::string why);

  Env& env_;
  const std::vector<std::string> files_;
  const uint64_t max_names_;
  std::vector<std::string> read_;       // stamps of what was read last, good or not
  std::vector<std::string> last_look_;  // of the look before
  uint64_t fingerprint_;                // of the list in force
  mutable std::mutex mutex_;
  std::string trouble_;  // guarded by mutex_
};

}  // namespace portolan
