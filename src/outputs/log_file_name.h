// Names of a log's files: PREFIX-<serial>SUFFIX and, if finished files are packed, the same with ".gz"; and a listing
// of those in a directory. Shared by the writers and the readers of logs.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct LogNames {
  std::string prefix;  // "crawl"
  std::string suffix;  // ".jsonl"

  std::string Name(uint64_t serial) const;  // "crawl-00001.jsonl"

  struct Parsed {
    uint64_t serial = 0;  // at least 1
    bool packed = false;
  };
  std::optional<Parsed> Parse(std::string_view name) const;
};

inline const LogNames kCrawlLogNames = {.prefix = "crawl", .suffix = ".jsonl"};
inline const LogNames kLinkLogNames = {.prefix = "links", .suffix = ".blocks"};
inline const LogNames kTextLogNames = {.prefix = "text", .suffix = ".blocks"};
inline constexpr std::string_view kPackedSuffix = ".gz";

struct LogFilePath {
  std::string path;
  bool packed = false;
};
// The files in `dir` by serial. If a file exists plain and packed (after a crash), the plain one. A directory that does
// not exist has none.
Result<std::map<uint64_t, LogFilePath>> ListLogFiles(Env& env, const std::string& dir, const LogNames& names);

}  // namespace portolan
