// IndexCurrent: the small file of a search index, DIR/index/CURRENT, that says which databases belong to it.
//
// A generation of the index is `parts` databases, gen-G-part-0 …; of a crawl whose shards are directories of their own
// (docs/cluster.md) so many of each shard, gen-G-shard-03-part-0 …, in which are just the pages of that shard. A build
// adds to them in place. `--rebuild` makes the next generation beside the valid one, which can be queried until then.
// docs/formats/index_dir.md has the format.
//
// Thread: one caller. Memory: at most 64 KiB. Durability: the file is replaced as a whole.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

inline constexpr std::string_view kIndexCurrent = "CURRENT";
inline constexpr uint32_t kMostParts = 1024;

// A database of a generation.
struct IndexPartPlace {
  std::string path;
  std::string shard;  // empty: of a crawl in one directory
  uint32_t part = 0;  // of the shard's
  uint32_t parts = 1;
};

struct IndexCurrent {
  uint32_t schema = 0;
  uint32_t parts = 0;       // of the valid generation, of each shard
  uint64_t generation = 0;  // the valid one, from 1; in the first one pages appear as they are indexed
  uint64_t building = 0;    // another one that is being built; 0: none
  uint32_t building_parts = 0;
  std::vector<std::string> shards = {};  // of the valid generation; none: a crawl in one directory
  std::vector<std::string> building_shards = {};
  bool operator==(const IndexCurrent&) const = default;

  // The databases of one of the two generations.
  std::vector<IndexPartPlace> Parts(const std::string& index_dir, uint64_t of_generation) const;

  std::string ToText() const;
  static Result<IndexCurrent> Parse(std::string_view text, const std::string& path);

  // kNotFound: there is no index in `index_dir`. kCorrupt, kUnsupported: the error says how it is built again.
  static Result<IndexCurrent> Load(Env& env, const std::string& index_dir);
  Status Save(Env& env, const std::string& index_dir) const;
};

// "DIR/gen-2-part-0", "DIR/gen-2-shard-03-part-0"
std::string IndexPartPath(const std::string& index_dir, uint64_t generation, uint32_t part,
                          const std::string& shard = "");
// The databases of the valid generation, for those who query them. Errors as Load.
Result<std::vector<IndexPartPlace>> IndexPartPlaces(Env& env, const std::string& index_dir);
Result<std::vector<std::string>> IndexPartPaths(Env& env, const std::string& index_dir);

// "…; 'portolan index build --rebuild DIR' makes it again".
std::string RebuildAdvice(const std::string& index_dir);

// Removes what belongs to no generation that CURRENT names: databases, temporary files.
Status RemoveIndexLeftovers(Env& env, const std::string& index_dir, const IndexCurrent& current);

}  // namespace portolan
