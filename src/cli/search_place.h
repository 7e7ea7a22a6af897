// What a search of the crawl in a directory reads: its index, and the text logs of its shards for snippets.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb_app.h"
#include "search/searcher.h"

namespace portolan {

// --remote and --remote-wait.
struct RemoteFlags {
  std::vector<std::string> remotes;
  std::string wait = "1s";
  void AddTo(VerbApp& app);
};

// kCorrupt: the crawl's settings cannot be read.
Result<SearcherOptions> SearcherOptionsOf(const std::string& dir, const RemoteFlags& remotes);

}  // namespace portolan
