// From settings to stages: what the configuration means for each part, and how memory is divided among them.
//
//   --memory M:  1/4 URLseen · 1/8 robots · 1/4 frontier · 1/16 mail between threads · 1/16 archive queues ·
//                the rest (1/4) for what fetches hold: buffers, bodies, pages being parsed

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"
#include "crawl/engine.h"
#include "crawl/scope.h"

namespace portolan {

// `dir` is the crawl directory; `seeds` are canonical. kInvalidArgument where the settings cannot work together.
Result<EngineOptions> WireCrawl(const Config& config, const std::string& dir, const std::vector<std::string>& seeds,
                                const std::string& version);

// Where a running crawl can be asked (engine.h).
std::string ControlPathOf(const std::string& dir);

// Where an entry of archive.directories is.
std::string ArchiveDirectory(const std::string& dir, const std::string& setting);

// Threads that fetch, on this machine.
size_t LoopsOf(const Config& config);

// Which URLs belong to the crawl.
ScopeOptions ScopeOf(const Config& config, const std::vector<std::string>& seeds);

// The text of a seed as people write it ("example.org", "https://example.org/a") made canonical.
Result<std::string> CanonicalSeed(std::string_view text, const Config& config);

}  // namespace portolan
