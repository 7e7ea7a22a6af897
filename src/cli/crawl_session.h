// CrawlSession: one run of a crawl in its directory, as the verbs crawl, resume, run and demo share it: settings,
// signals, display, status file, summary.
//
// The directory (docs/crawl_directory.md): crawl.toml holds the settings, state/ the seeds and the shard's state, warc/
// and log/ the results, status.json the current status. Locking, and how a crawl begins: crawl_place.h.
//
// Ctrl-C, SIGTERM or SIGHUP once: nothing new is fetched, what is in flight is given a few seconds, everything is
// saved, exit code 0. Again, more than two seconds later: what is in flight is cancelled. A third time: the process
// ends at once; the last checkpoint stays valid.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/crawl_place.h"
#include "cli/crawl_summary.h"
#include "cli/exit_code.h"
#include "cli/seeds.h"
#include "cli/status_file.h"
#include "crawl/config.h"
#include "crawl/progress.h"

namespace portolan {

struct SessionOptions {
  std::string dir;
  Config config;
  GivenSeeds given;  // to be offered; for a continued crawl those that may be new
  // For a continued crawl whose seeds become too many for its settings: the seeds in its settings.
  std::vector<std::string> listed_before;
  bool seed_list = false;         // for a continued crawl: its seeds are too many for its settings
  bool resume = false;            // the directory must hold a crawl; otherwise it must hold none that has pages
  bool settings_changed = false;  // for a continued crawl: the settings are stored again
  bool quiet = false;
  bool json = false;    // the summary as JSON on standard output, else as text
  bool summary = true;  // false: the caller reports
};

struct SessionEnd {
  CrawlProgress progress;
  std::string limit;  // which limit ended it; empty: none
  // Nothing is left to fetch, and no page was fetched.
  bool fruitless() const { return progress.state == "done" && progress.counts.pages() == 0; }
};

// kExists: a crawl is there already. kNotFound: there is none to resume. kBusy: another process works on it. Nothing is
// left behind if it fails before the first fetch.
Result<SessionEnd> RunCrawlSession(const SessionOptions& options);

// Runs it and prints its messages; returns the verb's exit code.
int RunCrawlVerb(const SessionOptions& options);

}  // namespace portolan
