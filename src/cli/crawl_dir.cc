#include "cli/crawl_dir.h"

#include <fmt/core.h>

#include <vector>

#include "cli/crawl_place.h"
#include "cli/shard_dirs.h"
#include "crawl/engine.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "io/small_file.h"
#include "warc/warc_time.h"

namespace portolan {

Status CheckFormat(const std::string& dir) {
  const auto manifest = Manifest::Read(Env::Posix(), StateDirOf(dir));
  if (manifest || manifest.error().code() != ErrorCode::kUnsupported) return {};
  return std::unexpected(manifest.error());
}

Result<Config> LoadCrawlConfig(const std::string& dir) {
  const std::string path = JoinPath(dir, kConfigFile);
  if (!Env::Posix().Exists(path)) {
    if (const std::vector<std::string> shards = ShardDirsIn(dir); !shards.empty()) {
      return Fail(ErrorCode::kNotFound, fmt::format("{}: holds {} shards of a cluster, each of them a crawl directory: "
                                                    "name one of them, for example {}",
                                                    dir, shards.size(), shards.front()));
    }
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no crawl here (no {})", dir, kConfigFile));
  }
  RETURN_IF_ERROR(CheckFormat(dir));
  return LoadWholeConfig(Env::Posix(), path);
}

std::string StateDirOf(const std::string& dir) { return JoinPath(dir, "state"); }

bool IsRunning(const std::string& dir) { return IsLocked(JoinPath(StateDirOf(dir), kStateLock)); }

std::string TimeOfCheckpoint(int64_t unix_ns) {
  if (unix_ns == 0) return "never";
  WarcTime time;
  time.seconds = unix_ns / 1'000'000'000;
  return FormatWarcDate(time);
}

}  // namespace portolan
