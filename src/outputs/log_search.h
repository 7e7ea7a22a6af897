// Finds all lines of a URL in the crawl log (crawl_log.h), in the order of the fetches.
//
// The files are read from front to back; a large log takes as long as the disk takes to read it. A line that is still
// being written is ignored.
//
// Thread: one caller; a crawl may be writing. Memory bound: 1 MiB and the longest line (kMaxLine; a longer one is
// skipped).

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

inline constexpr size_t kMaxLogLine = size_t{256} << 10;

// Bytes of all files of the log in `dir`.
Result<uint64_t> LogBytes(Env& env, const std::string& dir);

// Calls `each` with every line whose "url" is the given one, without its end. A directory that does not exist has none.
Status ForEachLogLine(Env& env, const std::string& dir, std::string_view url,
                      const std::function<void(std::string_view line)>& each);

}  // namespace portolan
