// The status file of a crawl: status.json, its current status, rewritten every few seconds.
//
// It is written to a new file and renamed, so that a reader never sees half of it. It is not synced, because nothing
// depends on it. On a full disk the old file is overwritten in place, which needs no space: users need the status just
// then. No link is followed, because others may be able to write in the directory. Errors are ignored.

#pragma once

#include <string>

#include "crawl/progress.h"

namespace portolan {

inline constexpr const char* kStatusFile = "status.json";

void WriteStatus(const std::string& path, const CrawlProgress& progress);

}  // namespace portolan
