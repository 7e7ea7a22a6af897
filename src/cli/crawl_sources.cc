#include "cli/crawl_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/build_info.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_place.h"
#include "cli/shard_dirs.h"
#include "cluster/shard_place.h"
#include "crawl/wiring.h"
#include "io/env.h"

namespace portolan {
namespace {

std::string NameOfShardDir(const std::string& dir) { return dir.substr(dir.rfind('/') + 1); }

Result<CrawlSource> OpenSource(const std::string& shard, const std::string& dir) {
  CrawlSource source{.shard = shard, .dir = dir, .config = {}, .wired = {}};
  ASSIGN_OR_RETURN(source.config, LoadCrawlConfig(dir));
  ASSIGN_OR_RETURN(source.wired, WireCrawl(source.config, dir, source.config.crawl.seeds, PORTOLAN_VERSION));
  return source;
}

// kExists: two are of one shard, or of different crawls. `dirs` are sorted by their last part.
Status RequireOneOfEachShard(const std::vector<std::string>& dirs) {
  std::optional<ShardPlace> last;
  for (size_t i = 0; i < dirs.size(); ++i) {
    ASSIGN_OR_RETURN(const std::optional<ShardPlace> place, ReadShardPlace(Env::Posix(), dirs[i]));
    if (!place) return Fail(ErrorCode::kCorrupt, fmt::format("{}: does not say which shard it is", dirs[i]));
    if (last && (place->cluster != last->cluster || place->id != last->id)) {
      return Fail(ErrorCode::kExists, fmt::format("{} and {} are shards of different crawls", dirs[i - 1], dirs[i]));
    }
    if (last && place->shard == last->shard) {
      return Fail(ErrorCode::kExists,
                  fmt::format("{} and {} both hold shard {}, and nothing says which is the newer one: "
                              "remove the one that was left when the shard moved",
                              dirs[i - 1], dirs[i], place->shard));
    }
    last = place;
  }
  return {};
}

OutputSources SourcesOf(const CrawlSources& crawl, OutputSource (*make)(const std::string&, const std::string&),
                        const std::string& (*dir_of)(const CrawlSource&)) {
  std::vector<OutputSource> sources;
  for (const CrawlSource& shard : crawl.shards) {
    sources.push_back(make(shard.wired.state_dir, dir_of(shard)));
    sources.back().shard = shard.shard;
  }
  return OutputSources(std::move(sources));
}

}  // namespace

bool CrawlSources::AnyRuns() const {
  return std::ranges::any_of(shards, [](const CrawlSource& shard) { return IsRunning(shard.dir); });
}

OutputSources CrawlSources::CrawlLogs() const {
  return SourcesOf(*this, &CrawlLogSource,
                   [](const CrawlSource& shard) -> const std::string& { return shard.wired.outputs.log.files.dir; });
}

OutputSources CrawlSources::LinkLogs() const {
  return SourcesOf(*this, &LinkLogSource,
                   [](const CrawlSource& shard) -> const std::string& { return shard.wired.outputs.links.files.dir; });
}

OutputSources CrawlSources::TextLogs() const {
  return SourcesOf(*this, &TextLogSource,
                   [](const CrawlSource& shard) -> const std::string& { return shard.wired.outputs.text.files.dir; });
}

std::vector<std::string> CrawlSources::Archives() const {
  std::vector<std::string> archives;
  for (const CrawlSource& shard : shards)
    std::ranges::copy(shard.wired.outputs.warc.directories, std::back_inserter(archives));
  return archives;
}

Result<CrawlSources> OpenCrawlSources(const std::string& dir, const std::vector<std::string>& also) {
  CrawlSources crawl{.dir = dir, .shards = {}};
  std::vector<std::string> dirs = ShardDirsIn(dir);
  if (dirs.empty() && also.empty()) {
    ASSIGN_OR_RETURN(CrawlSource one, OpenSource("", dir));
    crawl.shards.push_back(std::move(one));
    return crawl;
  }
  if (Env::Posix().Exists(JoinPath(dir, kConfigFile))) {
    return Fail(ErrorCode::kExists, fmt::format("{}: a crawl in one directory has no other parts", dir));
  }
  for (const std::string& other : also) {
    const std::vector<std::string> more = ShardDirsIn(other);
    if (more.empty())
      return Fail(ErrorCode::kNotFound, fmt::format("{}: there are no shards of a cluster here", other));
    dirs.insert(dirs.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(dirs, {}, NameOfShardDir);
  DropLeftBehind(dirs);
  RETURN_IF_ERROR(RequireOneOfEachShard(dirs));
  for (const std::string& shard : dirs) {
    ASSIGN_OR_RETURN(CrawlSource one, OpenSource(NameOfShardDir(shard), shard));
    crawl.shards.push_back(std::move(one));
  }
  return crawl;
}

Result<CrawlSources> OpenCrawlSourceOf(const std::string& dir, const std::string& url) {
  ASSIGN_OR_RETURN(CrawlSources crawl, OpenCrawlSources(dir));
  if (!crawl.several()) return crawl;
  std::vector<std::string> dirs;
  for (const CrawlSource& shard : crawl.shards) dirs.push_back(shard.dir);
  ASSIGN_OR_RETURN(const std::string owner, ShardDirFor(dirs, url));
  std::erase_if(crawl.shards, [&owner](const CrawlSource& shard) { return shard.dir != owner; });
  return crawl;
}

}  // namespace portolan
