// The directories of a cluster's shards, for verbs that look at what is on this machine: a node's directory
// (DIR/shard-00 …) or that of a crawl with several nodes on one machine (DIR/node-1/shard-00 …).
//
// Thread: any.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace portolan {

// Sorted by the last part of their names, without copies of other nodes' shards (docs/formats/copy.md) and without
// directories that a shard left when it moved, as far as their marks tell; empty if `dir` holds a crawl of its own, or
// none.
std::vector<std::string> ShardDirsIn(const std::string& dir);

// Of directories that are sorted so: removes those of a shard that was claimed anew in the next or the last one.
void DropLeftBehind(std::vector<std::string>& dirs);

// That of the shard to which a URL belongs. `dirs` are of one cluster. kNotFound: it is not among them.
Result<std::string> ShardDirFor(const std::vector<std::string>& dirs, const std::string& url);

}  // namespace portolan
