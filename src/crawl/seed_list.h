// The seeds of a crawl in its state: two queues on disk.
//
//   "seeds"       records (url_record.h) of the seeds that were not yet offered to URLseen. The shard takes each once,
//                 as soon as there is room for it.
//   "seed_list"   the URLs of all seeds, if they are too many for crawl.toml; otherwise crawl.toml names them and this
//                 queue does not exist. The scope and `why` read it; nothing is ever taken out of it.
//
// SeedWriter writes both before the crawl begins, or between two of its runs: it opens the manifest, appends, and
// commits the next manifest, in which everything else is unchanged. If it is killed before that, nothing was appended.
//
// Thread: one. Memory bound: two blocks per queue, and a batch of seeds. Durability: what Finish committed.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "crawl/config.h"
#include "crawl/seed_names.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/env.h"

namespace portolan {

inline constexpr const char* kSeedQueue = "seeds";
inline constexpr const char* kArrivals = "arrivals";  // messages of other shards (crossing.h)
inline constexpr const char* kSeedList = "seed_list";
inline constexpr size_t kSeedsInSettings = 100;  // if there are more, they are not written to crawl.toml
// The most seeds with which secrets (passwords, cookies, fields) may be used: each of their servers is stored by name.
inline constexpr size_t kSeedsWithSecrets = 10'000;

class SeedWriter {
 public:
  // REQUIRES: the state's lock is held, and recovery is allowed (recovery.h). `key` is used for a new crawl.
  static Result<SeedWriter> Open(Env& env, const std::string& state_dir, const HashKey& key);

  // Appends to the queue of seeds that wait to be offered.
  Status Offer(std::string_view url);
  // Appends to the list of all seeds.
  Status Keep(std::string_view url);
  // Commits. Nothing was appended unless this succeeded.
  Status Finish();

  uint64_t kept() const;  // seeds in the list, including earlier ones
  const Manifest& manifest() const { return *manifest_; }

 private:
  struct Target {
    std::unique_ptr<DiskQueue> queue;
    std::vector<std::string> batch;
  };
  explicit SeedWriter(const HashKey& key) : key_(key) {}
  static Status Add(Target& target, std::string_view record);
  static Status Write(Target& target);

  HashKey key_;
  std::unique_ptr<Manifest> manifest_;
  Target offered_;
  Target kept_;
  std::string encoded_;
};

// Reads the list of all seeds, until `each` returns false. Does nothing if there is no list.
Status ForEachListedSeed(Env& env, const Manifest& manifest, const std::function<bool(std::string_view url)>& each);

// The names of all listed seeds, for the scope. kInvalidArgument if there are more than `most`.
Result<SeedNames> ReadSeedNames(Env& env, const Manifest& manifest, ScopeMode mode, const HashKey& key, uint64_t most);

}  // namespace portolan
