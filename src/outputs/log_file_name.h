// Names of a log's files, PREFIX-<serial>SUFFIX and, where finished files are packed, the same with ".gz"; and what of
// them is in a directory. Shared by who writes logs and who reads them.

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
// The files in `dir` by serial. Of a file that is there plain and packed (a crash came between) the plain one. A
// directory that is not there has none.
Result<std::map<uint64_t, LogFilePath>> ListLogFiles(Env& env, const std::string& dir, const LogNames& names);

}  // namespace portolan
