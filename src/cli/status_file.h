// The status file of a crawl: status.json, a picture of how it stands, written again every few seconds.
//
// Written beside and renamed, so that a reader never sees half of it; not synced: it is a picture, not state. On a full
// disk the old one is written over, which needs no room: it is then that people look at it. No link is followed: the
// directory may be one where others may write, too. What fails is forgotten.

#pragma once

#include <string>

#include "crawl/progress.h"

namespace portolan {

inline constexpr const char* kStatusFile = "status.json";

void WriteStatus(const std::string& path, const CrawlProgress& progress);

}  // namespace portolan
