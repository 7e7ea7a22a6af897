#include "follow/output_sources.h"

#include <fmt/core.h>

#include <algorithm>

namespace portolan {

const OutputSource* OutputSources::Of(std::string_view shard) const {
  const auto found = std::ranges::find(sources_, shard, &OutputSource::shard);
  return found == sources_.end() ? nullptr : &*found;
}

Result<std::vector<CommittedSource>> FindCommitted(Env& env, const OutputSources& sources) {
  std::vector<CommittedSource> found;
  size_t without = 0;
  for (const OutputSource& source : sources) {
    const auto committed = ReadCommitted(env, source);
    if (!committed) {
      // One of several that has just begun.
      if (committed.error().code() == ErrorCode::kNotFound && ++without < sources.size()) continue;
      return std::unexpected(committed.error());
    }
    if (*committed && !(*committed)->lanes.empty()) found.push_back({source, (*committed)->lanes[0]});
  }
  return found;
}

Result<std::vector<CommittedSource>> ReadCommittedSources(Env& env, const OutputSources& sources) {
  ASSIGN_OR_RETURN(auto found, FindCommitted(env, sources));
  if (!found.empty()) return found;
  const std::string where = sources.size() == 0 ? "" : sources.begin()->state_dir + ": ";
  const std::string name = sources.size() == 0 ? "" : sources.begin()->name;
  return Fail(ErrorCode::kNotFound, where + "the crawl has no output '" + name + "'");
}

Result<SourcesReader> SourcesReader::Open(Env& env, const std::vector<CommittedSource>& sources,
                                          const OutputPositions& from) {
  SourcesReader reader(from);
  for (const CommittedSource& source : sources) {
    const std::string& shard = source.source.shard;
    if (!from.shards.empty() && shard.empty() != from.OfOneCrawl()) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: the positions are those of {}; remove them and what was made from them",
                              source.source.dir, shard.empty() ? "several shards" : "a crawl without shards"));
    }
    ASSIGN_OR_RETURN(OutputReader one, OutputReader::Open(env, source.source, source.until, from.Of(shard)));
    reader.readers_.emplace_back(shard, std::move(one));
  }
  return reader;
}

Result<SourcesReader> SourcesReader::Open(Env& env, const OutputSources& sources, const OutputPositions& from) {
  ASSIGN_OR_RETURN(const std::vector<CommittedSource> committed, ReadCommittedSources(env, sources));
  return Open(env, committed, from);
}

Result<bool> SourcesReader::Next(const OutputReader::Each& each) {
  for (; at_ < readers_.size(); ++at_) {
    auto& [shard, reader] = readers_[at_];
    ASSIGN_OR_RETURN(const bool more, reader.Next(each));
    positions_.shards.insert_or_assign(shard, reader.position());
    if (more) return true;
  }
  return false;
}

}  // namespace portolan
