#include "cli/shard_dirs.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/crawl_dir.h"
#include "cli/crawl_place.h"
#include "cluster/shard_place.h"
#include "crawl/hash_key_store.h"
#include "crawl/shard.h"
#include "crawl/url_owner.h"
#include "crawl/wiring.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "standby/copy_mark.h"
#include "url/link.h"

namespace portolan {
namespace {

void AddShardDirs(const std::string& dir, std::vector<std::string>& dirs) {
  const auto names = Env::Posix().List(dir);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(dir, name);
    const bool copy = Env::Posix().Exists(JoinPath(path, kCopyMark));
    if (ShardOfDirName(name) && !copy && Env::Posix().Exists(JoinPath(path, kConfigFile))) dirs.push_back(path);
  }
}

}  // namespace

std::vector<std::string> ShardDirsIn(const std::string& dir) {
  std::vector<std::string> dirs;
  if (Env::Posix().Exists(JoinPath(dir, kConfigFile))) return dirs;
  AddShardDirs(dir, dirs);
  if (const auto names = Env::Posix().List(dir)) {
    for (const std::string& name : *names) {
      if (name.starts_with("node-")) AddShardDirs(JoinPath(dir, name), dirs);
    }
  }
  std::ranges::sort(dirs, {}, [](const std::string& path) { return path.substr(path.rfind('/') + 1); });
  DropLeftBehind(dirs);
  return dirs;
}

void DropLeftBehind(std::vector<std::string>& dirs) {
  // Whoever claims a copy of a shard's directory gives it a new number, and notes which one it replaces.
  std::vector<std::string> kept;
  std::optional<ShardPlace> last;
  for (std::string& dir : dirs) {
    const auto read = ReadShardPlace(Env::Posix(), dir);
    const std::optional<ShardPlace> place = read ? *read : std::nullopt;
    const bool same = last && place && place->shard == last->shard && place->id == last->id;
    if (same && last->before != 0 && last->before == place->files) continue;
    if (same && place->before != 0 && place->before == last->files) {
      kept.back() = std::move(dir);
    } else {
      kept.push_back(std::move(dir));
    }
    last = place;
  }
  dirs = std::move(kept);
}

Result<std::string> ShardDirFor(const std::vector<std::string>& dirs, const std::string& text) {
  ASSIGN_OR_RETURN(const Config config, LoadCrawlConfig(dirs.front()));
  ASSIGN_OR_RETURN(const std::string url, CanonicalSeed(text, config));
  ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(Env::Posix(), StateDirOf(dirs.front())));
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::Read(manifest));
  ASSIGN_OR_RETURN(const bool phases, Shard::HasPhases(manifest));
  uint32_t owner = 0;
  for (const std::string& dir : dirs) {
    ASSIGN_OR_RETURN(const std::optional<ShardPlace> place, ReadShardPlace(Env::Posix(), dir));
    if (!place) continue;
    ASSIGN_OR_RETURN(UrlOwner owners, UrlOwner::Create(key, {.shards = place->shards, .by_phases = phases}));
    owner = owners.Of(url);
    if (place->shard == owner) return dir;
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} belongs to shard {}, which is not here: ask on the node that has it", url, owner));
}

}  // namespace portolan
