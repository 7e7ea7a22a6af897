// Captures of a URL in a crawl's archive, found by its CDXJ indexes: a binary search in each finished, sorted one, all
// lines of those that still grow. Random access to any page that was ever archived, in milliseconds.
//
// Thread: one caller, beside a crawl or not: files that vanish meanwhile are those that were just finished, and are
// found under their new name. Memory bound: kMaxFound captures; a piece of 64 KiB. Lines that are no CDXJ are ignored.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/env.h"
#include "warc/cdxj.h"

namespace portolan {

inline constexpr size_t kMaxFound = 10'000;

struct FoundCapture {
  std::string timestamp;  // 14 digits
  std::string url;
  std::string digest;
  std::string path;  // of the WARC file
  uint64_t offset = 0;
  bool revisit = false;  // its payload is that of another capture
};

// All captures of the key SurtKey(url), by time. If some are of just this URL, only these. `dirs` that do not exist
// have none.
Result<std::vector<FoundCapture>> FindCaptures(Env& env, const std::vector<std::string>& dirs, std::string_view key,
                                               std::string_view url);

// The one that is meant by "", "2024", "20240501", … up to 14 digits: the newest that is not after the end of that
// time, or the oldest. REQUIRES: captures is not empty, `time` has only digits.
const FoundCapture& CaptureAt(const std::vector<FoundCapture>& captures, std::string_view time);

}  // namespace portolan
