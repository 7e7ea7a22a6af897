// CheckpointFiles: which files, with which lengths, make up the newest committed checkpoint of a crawl.
//
// The state's files are in the manifest. Those of outputs follow from its marks (outputs/output.h): finished files
// whole, the one that grows to its committed length. In all of them the listed bytes never change again, whatever
// happens to the crawl, except that a file may be removed by a later checkpoint. So a copy of these bytes, with the
// manifest, is a crawl that recovery accepts.
//
// Thread: one caller. Memory bound: about 100 bytes per file.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

// The directories of one crawl. Empty: the crawl has no such output.
struct CrawlPlaces {
  std::string state;
  std::string log;
  std::string links;
  std::string text;
  std::vector<std::string> warc;  // in the order of the settings
  std::string prefix;             // of the archive's files, as in the settings

  // Place 0 is the state, 1 to 3 are the logs, the archive's directories follow. Nullptr: there is none.
  const std::string* Dir(uint64_t place) const;
  uint32_t count() const { return kFirstWarcPlace + static_cast<uint32_t>(warc.size()); }

  static constexpr uint32_t kStatePlace = 0;
  static constexpr uint32_t kFirstWarcPlace = 4;
};

struct CheckpointFile {
  uint32_t place = 0;
  std::string name;
  uint64_t length = 0;

  auto operator<=>(const CheckpointFile&) const = default;
};

struct CheckpointFiles {
  uint64_t sequence = 0;
  std::string manifest;               // its text; it is not among the files
  std::vector<CheckpointFile> files;  // by place and name
};

// kNotFound: there is no manifest. A crawl may be running; what it commits meanwhile may or may not be seen.
Result<CheckpointFiles> ListCheckpoint(Env& env, const CrawlPlaces& places);

// Whether a crawl keeps files of this name in that place: what is not listed and is the crawl's may be removed.
bool IsCrawlFile(const CrawlPlaces& places, uint32_t place, std::string_view name);

}  // namespace portolan
