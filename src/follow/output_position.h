// OutputPosition: how far a follower has read an output; OutputPositions: how far it has read that of each shard, and
// the small file that stores this.
//
// A crawl in one directory is one shard without a name. In a crawl on several nodes each shard is a directory of its
// own (docs/cluster.md), and its name there, "shard-03", is its name here: it stays when the shard moves to another
// node. A shard that is not here any more keeps its position: it may come back.
//
// The file is text with a checksum, and is replaced as a whole (write, sync, rename, sync the directory): after a crash
// it holds the last positions that were saved, or those before, of all shards.
//
// Thread: one caller. Memory: some bytes per shard.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct OutputPosition {
  uint64_t serial = 1;  // of the file that is read next
  uint64_t offset = 0;  // in it, of its text where it is packed
  bool operator==(const OutputPosition&) const = default;
};

struct OutputPositions {
  std::map<std::string, OutputPosition, std::less<>> shards;  // by name
  uint64_t copied = 0;  // set by the follower: the length of its own copy at these positions
  bool operator==(const OutputPositions&) const = default;

  // The beginning of a shard that was never read.
  OutputPosition Of(std::string_view shard) const;
  // Whether they are those of one crawl without shards that have names.
  bool OfOneCrawl() const { return shards.empty() || (shards.size() == 1 && shards.begin()->first.empty()); }
};

// Lines "position NAME SERIAL OFFSET", and from the front of `text` back again. False: they cannot be read.
std::string PositionLines(const OutputPositions& positions);
bool TakePositionLines(std::string_view& text, OutputPositions& positions);

// The positions stored in the file, for the output `name`; none if there is no file. kCorrupt: not a file of
// positions, of another version, or of those in another output.
Result<OutputPositions> LoadPositions(Env& env, const std::string& path, std::string_view name);
Status SavePositions(Env& env, const std::string& path, std::string_view name, const OutputPositions& positions);

}  // namespace portolan
