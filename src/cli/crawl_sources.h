// CrawlSources: the outputs of the crawl in a directory, for verbs that read them: one crawl directory, or those of a
// cluster's shards that are in it (cli/shard_dirs.h). A verb that takes them works on both alike.
//
// Copies of other nodes' shards are not among them: whoever puts the results of several nodes together would have them
// twice. Of a directory that a shard left when it moved, and the one where it is now, the latter counts.
//
// Thread: any. Memory: the settings of each shard.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/engine.h"
#include "follow/output_sources.h"

namespace portolan {

struct CrawlSource {
  std::string shard;  // "shard-03"; empty: a crawl in one directory
  std::string dir;
  Config config;
  EngineOptions wired;
};

struct CrawlSources {
  std::string dir;  // what was asked for; what is made from all of them is put there
  std::vector<CrawlSource> shards;

  bool several() const { return !shards.front().shard.empty(); }
  // Is a process working on one of them?
  bool AnyRuns() const;
  OutputSources CrawlLogs() const;
  OutputSources LinkLogs() const;
  OutputSources TextLogs() const;
  // Of all of them.
  std::vector<std::string> Archives() const;
};

// `also`: directories of other nodes, whose shards are taken, too. kNotFound: there is no crawl. kExists: two
// directories hold one shard, or shards are of different crawls. Else as LoadCrawlConfig.
Result<CrawlSources> OpenCrawlSources(const std::string& dir, const std::vector<std::string>& also = {});
// Only what belongs to a URL: the shard that owns its domain. kNotFound: it is not here.
Result<CrawlSources> OpenCrawlSourceOf(const std::string& dir, const std::string& url);

}  // namespace portolan
