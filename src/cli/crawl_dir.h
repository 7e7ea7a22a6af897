// Functions shared by the verbs that inspect a crawl's directory.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "crawl/config.h"

namespace portolan {

// kUnsupported: the crawl in `dir` has another format. Any other fault is left to the code that reads it.
Status CheckFormat(const std::string& dir);

// The settings of the crawl in `dir`. kNotFound: there is no crawl. kCorrupt: its file is not what the crawl wrote.
// kUnsupported: as CheckFormat.
Result<Config> LoadCrawlConfig(const std::string& dir);

std::string StateDirOf(const std::string& dir);

// Is a process working on the crawl now? (It holds the state's lock.)
bool IsRunning(const std::string& dir);

// "2026-01-31T12:30:01Z"; of 0 "never".
std::string TimeOfCheckpoint(int64_t unix_ns);

}  // namespace portolan
