// GraphCurrent: the small file that says which generation of a link graph is the valid one, and what belongs to it.
//
// A generation is a set of files gen-N-*, written beside the last one and never changed again. `CURRENT` names the
// files with length and checksum, and how far the link log of each shard is in them. It is replaced as a whole once
// everything that it names is durable: that is the moment at which a new generation becomes the valid one. A crash
// before it leaves the old generation, and files that the next build removes. docs/formats/graph_dir.md has the format.
//
// Thread: one caller. Memory: bounded by the file, at most kMaxCurrent.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/output_position.h"
#include "io/env.h"

namespace portolan {

inline constexpr std::string_view kGraphCurrent = "CURRENT";
inline constexpr uint64_t kMaxCurrent = 64 << 10;

struct GraphCurrent {
  struct FileEntry {
    std::string name;  // without "gen-N-": "pages.graph"
    uint64_t size = 0;
    uint32_t crc = 0;
    bool operator==(const FileEntry&) const = default;
  };

  uint64_t generation = 0;    // from 1
  bool imported = false;      // from files of WebGraph, not from a link log: no build continues it
  OutputPositions positions;  // up to here the link logs are in it
  uint64_t records = 0;       // pages that were read from the log
  uint64_t links = 0;         // links that were read from the log
  uint64_t left_out = 0;      // links that are too long to be in it
  std::vector<FileEntry> files;

  bool operator==(const GraphCurrent&) const = default;

  const FileEntry* Find(std::string_view name) const;

  std::string ToText() const;
  // kCorrupt: not such a file, or damaged. kUnsupported: of a later version.
  static Result<GraphCurrent> Parse(std::string_view text, const std::string& path);

  // kNotFound: there is no graph in `dir`.
  static Result<GraphCurrent> Load(Env& env, const std::string& dir);
  Status Save(Env& env, const std::string& dir) const;
};

// "DIR/gen-3-pages.graph"
std::string GraphFilePath(const std::string& dir, uint64_t generation, std::string_view name);

}  // namespace portolan
