// CrawlSession: one run of a crawl in its directory, as the verbs crawl, resume and demo share it: settings, signals,
// display, status file, summary.
//
// The directory (docs/crawl_directory.md): crawl.toml holds the settings with the seeds, state/ what the shard knows,
// warc/ and log/ what came, status.json how it stands.
//
// Ctrl-C or SIGTERM once: nothing new is fetched, what is in flight is given a few seconds, everything is saved, exit
// code 0. Twice: the process ends at once; the last checkpoint stands.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/progress.h"

namespace portolan {

struct SessionOptions {
  std::string dir;
  Config config;
  std::vector<std::string> seeds;  // canonical
  bool resume = false;             // the directory must hold a crawl; else it must not
  bool quiet = false;
  bool json = false;    // the summary as JSON on standard output, else as text
  bool summary = true;  // false: the caller reports
};

struct SessionEnd {
  CrawlProgress progress;
  std::string limit;  // which limit ended it; empty: none
};

// kExists: a crawl is there already. kNotFound: there is none to resume. Nothing is left behind where it fails before
// the first fetch.
Result<SessionEnd> RunCrawlSession(const SessionOptions& options);

void PrintSummary(const SessionEnd& end, const SessionOptions& options);

inline constexpr const char* kConfigFile = "crawl.toml";
inline constexpr const char* kStatusFile = "status.json";

}  // namespace portolan
