// The seeds of a crawl in its state.
//
//   queue "seeds"       records (url_record.h) of seeds that were not offered to URLseen yet; the shard takes them as
//   there is room, each once queue "seed_list"   the URLs of all seeds, where they are too many for crawl.toml; nobody
//   takes anything out of it. The scope and
//                       `why` read it. Not there where crawl.toml names them.
//
// Both are written before the crawl begins, or between two of its runs, by SeedWriter: it opens the manifest, appends,
// and commits the next one, in which everything else is as it was. Killed in between nothing was appended.
//
// Thread: one. Memory bound: two blocks for each queue, and a batch of seeds. Durability: what Finish committed.

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
inline constexpr const char* kSeedList = "seed_list";
inline constexpr size_t kSeedsInSettings = 100;  // more are not written to crawl.toml
// Seeds up to which secrets (passwords, cookies, fields) may be given: each of their servers is kept by name.
inline constexpr size_t kSeedsWithSecrets = 10'000;

class SeedWriter {
 public:
  // REQUIRES: the state's lock is held, and recovery may happen (recovery.h). `key` is that of a new crawl.
  static Result<SeedWriter> Open(Env& env, const std::string& state_dir, const HashKey& key);

  // To be offered.
  Status Offer(std::string_view url);
  // To the list of all seeds.
  Status Keep(std::string_view url);
  // Nothing was appended unless this went well.
  Status Finish();

  uint64_t kept() const;  // seeds in the list, with those of before
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

// The list of all seeds, as far as `each` wants to hear of it. Nothing where there is none.
Status ForEachListedSeed(Env& env, const Manifest& manifest, const std::function<bool(std::string_view url)>& each);

// The names of all listed seeds, for the scope. kInvalidArgument where they are more than `most`.
Result<SeedNames> ReadSeedNames(Env& env, const Manifest& manifest, ScopeMode mode, const HashKey& key, uint64_t most);

}  // namespace portolan
