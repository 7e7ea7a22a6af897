// From settings to stages: what the configuration means for each part. memory_plan.h divides the memory among them.

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

// The path of the socket at which a running crawl answers questions (engine.h).
std::string ControlPathOf(const std::string& dir);

// The path of an entry of archive.directories.
std::string ArchiveDirectory(const std::string& dir, const std::string& setting);

// Number of fetch threads on this machine.
size_t LoopsOf(const Config& config);

// Number of shards of a new crawl. One shard's thread keeps up with about this many fetch threads (docs/shards.md).
inline constexpr size_t kLoopsPerShard = 6;
uint32_t ShardsOf(const Config& config, size_t loops);

// Which URLs belong to the crawl.
// How pages are visited again, all shards together.
ShardRefresh RefreshOf(const Config& config);

ScopeOptions ScopeOf(const Config& config, const std::vector<std::string>& seeds);

// Makes a seed as users write it ("example.org", "https://example.org/a") canonical.
Result<std::string> CanonicalSeed(std::string_view text, const Config& config);

}  // namespace portolan
