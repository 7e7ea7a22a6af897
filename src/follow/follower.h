// Follower: reads an output of a crawl as it grows, and keeps its own position.
//
//   ASSIGN_OR_RETURN(Follower follower, Follower::Open(env, LinkLogSource(state, dir), "my.position"));
//   // first cut your own copy back to follower.copied() bytes: what came after was not saved
//   for (;;) {
//     ASSIGN_OR_RETURN(const bool more, follower.Next(each));      // `each` adds to your copy
//     if (!more) break;
//   }
//   // sync your copy, then
//   RETURN_IF_ERROR(follower.Save(length of the copy));
//
// The crawl may have several shards in directories of their own: then records come shard by shard, and the file has a
// position for each.
//
// Whenever the crawl or the follower crashes, after this loop the copy again holds exactly the crawl's committed
// records, each once. A follower may run beside the crawl, after it, or both. It changes nothing in the crawl, and can
// be deleted with its position and started again.
//
// Thread: one owner. Durability: what Save was told. Memory: SourcesReader's.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "follow/output_sources.h"
#include "io/env.h"

namespace portolan {

class Follower {
 public:
  // kNotFound: the crawl has no such output (yet).
  static Result<Follower> Open(Env& env, const OutputSources& sources, const std::string& position_path);

  // Up to the crawl's checkpoint at Open.
  Result<bool> Next(const OutputReader::Each& each) { return reader_.Next(each); }
  uint64_t copied() const { return reader_.positions().copied; }
  Status Save(uint64_t copied);

 private:
  Follower(Env& env, SourcesReader reader, std::string name, std::string path)
      : env_(&env), reader_(std::move(reader)), name_(std::move(name)), path_(std::move(path)) {}

  Env* env_;
  SourcesReader reader_;
  std::string name_;
  std::string path_;
};

}  // namespace portolan
