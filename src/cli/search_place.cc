#include "cli/search_place.h"

#include "base/units.h"
#include "cli/crawl_place.h"
#include "cli/crawl_sources.h"
#include "cli/index_parts.h"
#include "cli/shard_dirs.h"

namespace portolan {

void RemoteFlags::AddTo(VerbApp& app) {
  app->add_option("--remote", remotes,
                  "A part of the index on another machine, served by 'portolan index serve'; "
                  "several: several times")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  app->add_option("--remote-wait", wait, "How long a remote part may take for each step before it is left out")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"))
      ->capture_default_str();
}

Result<SearcherOptions> SearcherOptionsOf(const std::string& dir, const RemoteFlags& remotes) {
  SearcherOptions options;
  options.index_dir = IndexDirOf(dir);
  options.search.remotes = remotes.remotes;
  ASSIGN_OR_RETURN(const double seconds, ParseSeconds(remotes.wait));
  options.search.remote_step_ns = static_cast<int64_t>(seconds * 1e9);
  if (Env::Posix().Exists(JoinPath(dir, kConfigFile)) || !ShardDirsIn(dir).empty()) {
    ASSIGN_OR_RETURN(const CrawlSources crawl, OpenCrawlSources(dir));
    options.texts = crawl.TextLogs();
  }
  return options;
}

}  // namespace portolan
