// What the verbs that look into a crawl's directory share.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

// kUnsupported: the crawl in `dir` is of another format. Anything else that is wrong with it is found by whoever reads
// it.
Status CheckFormat(const std::string& dir);

// The settings of the crawl in `dir`. kNotFound: there is no crawl. kCorrupt: its file is not what the crawl wrote.
// kUnsupported: as CheckFormat.
Result<Config> LoadCrawlConfig(const std::string& dir);

std::string StateDirOf(const std::string& dir);

// Does a process work on the crawl now? (It holds the state's lock.)
bool IsRunning(const std::string& dir);

// "2026-01-31T12:30:01Z"; of 0 "never".
std::string TimeOfCheckpoint(int64_t unix_ns);

}  // namespace portolan
