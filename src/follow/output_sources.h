// OutputSources: the same log of a crawl, wherever it is: one, or that of each of its shards where these are
// directories of their own (docs/cluster.md). Every follower and reader takes them; one crawl directory is the case of
// one source.
//
// SourcesReader reads what is committed of them, shard after shard, from any positions on. The shards' checkpoints need
// not be of one moment: each log is read up to its own.
//
// Thread: one owner. Memory bound: OutputReader's, of one at a time, and some hundred bytes per shard.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "follow/output_position.h"
#include "follow/output_reader.h"
#include "io/env.h"

namespace portolan {

class OutputSources {
 public:
  OutputSources() = default;
  OutputSources(OutputSource one) : sources_{std::move(one)} {}  // NOLINT(*-explicit-*): one is the usual case
  // REQUIRES: no two of them are of one shard.
  explicit OutputSources(std::vector<OutputSource> sources) : sources_(std::move(sources)) {}

  auto begin() const { return sources_.begin(); }
  auto end() const { return sources_.end(); }
  size_t size() const { return sources_.size(); }
  // That of a shard; null: it is not among them.
  const OutputSource* Of(std::string_view shard) const;

 private:
  std::vector<OutputSource> sources_;
};

// A source that has the output, and how far it is durably committed.
struct CommittedSource {
  OutputSource source;
  OutputMark until;
};

// Of those that have the output: none, if the crawl does not write it. A shard without a checkpoint has none yet;
// kNotFound: all are like that.
Result<std::vector<CommittedSource>> FindCommitted(Env& env, const OutputSources& sources);
// kNotFound, too, if none of them has it.
Result<std::vector<CommittedSource>> ReadCommittedSources(Env& env, const OutputSources& sources);

class SourcesReader {
 public:
  // REQUIRES: env outlives this. kCorrupt: a position is beyond what its shard has committed.
  static Result<SourcesReader> Open(Env& env, const std::vector<CommittedSource>& sources,
                                    const OutputPositions& from = {});
  // All that is committed now. kNotFound: there is no such output.
  static Result<SourcesReader> Open(Env& env, const OutputSources& sources, const OutputPositions& from = {});

  // The next batch; false: there is no more. An error of `each` ends it, and the positions stay before the batch. All
  // records of a batch are of one shard.
  Result<bool> Next(const OutputReader::Each& each);
  // After the last batch; with those of `from` that are of other shards, and its `copied`.
  const OutputPositions& positions() const { return positions_; }

 private:
  explicit SourcesReader(OutputPositions from) : positions_(std::move(from)) {}

  std::vector<std::pair<std::string, OutputReader>> readers_;  // by shard
  size_t at_ = 0;
  OutputPositions positions_;
};

}  // namespace portolan
