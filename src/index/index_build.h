// The follower that builds and updates the search index of a crawl: Xapian databases with the pages of the text log,
// what the link graph says of them, and without the pages that are gone.
//
// Of a crawl whose shards are directories of their own (docs/cluster.md) each shard has parts of its own, and each is
// followed where it is; the link graph is that of all. A shard that is not here any more keeps its parts: its pages are
// found as they were.
//
//   ASSIGN_OR_RETURN(auto builder, IndexBuilder::Open(env, sources, options));
//   RETURN_IF_ERROR(builder->Pass(/*links=*/true));
//
// A pass, in memory that does not depend on the crawl's size:
//
//   1. The link graph is brought up to date (follow/graph_build.h): it has the texts of links and PageRank, whose
//      table (index/inlinks.h) is made anew.
//   2. New pages of the text log become documents, with their links from that table; noindex removes a page, a page
//      that is fetched again replaces its document.
//   3. New lines of the crawl log that say that a page is gone remove its document, if it was fetched before.
//   4. Documents of earlier passes whose links changed are rewritten, in the order of their URLs.
//
// Texts of links arrive long before and after the page that they are about. They are taken from the graph and not from
// the link log, because the graph's build already sorts links in batches and merges them with what it has, so that
// nothing is looked up in the order in which links come; an index of its own would do the same work a second time.
//
// After a pass with links the index equals one that is built from scratch from the same checkpoint. A pass without them
// leaves 1 and 4 out: new pages have the links that were known at the last one.
//
// A part commits its documents together with the position up to which they came, so a kill at any moment costs only
// what was not committed. Parts have positions of their own.
//
// Thread: one caller, beside a running crawl or not; a lock keeps two builds apart. Memory bound: options.memory for
// what waits to be committed, or for the build of the graph and the table (then the former is empty); with what those
// two state. Disk: see docs/formats/index_dir.md.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/output_sources.h"
#include "index/document_maker.h"
#include "index/index_current.h"
#include "index/index_part.h"
#include "index/inlinks.h"
#include "io/env.h"

namespace portolan {

// Of each shard, the same ones in the same order.
struct IndexSources {
  OutputSources text;
  OutputSources log;
  std::optional<OutputSources> links;  // none: the crawl has no link log
};

struct IndexBuildOptions {
  static constexpr size_t kLeastMemory = size_t{1} << 20;

  std::string index_dir;
  std::string graph_dir;
  uint32_t parts = 0;  // per shard, of an index that is begun; 0: default_parts. Of another: must be 0 or what it has
  uint32_t default_parts = 1;
  size_t memory = size_t{256} << 20;
  bool rebuild = false;  // begin a new generation
  // What is being done, and how much of it is done. Called every now and then.
  std::function<void(std::string_view step, uint64_t done)> progress = {};
  // Asked between documents: true ends the pass after what was done was committed.
  std::function<bool()> stop = {};
};

struct IndexCounts {
  uint64_t pages = 0;       // records of the text log
  uint64_t text_bytes = 0;  // of these: title, headings, visible text
  uint64_t added = 0;
  uint64_t replaced = 0;
  uint64_t noindex = 0;   // pages that ask not to be indexed
  uint64_t gone = 0;      // documents removed because the page is gone
  uint64_t relinked = 0;  // documents rewritten because their links changed
  uint64_t commits = 0;
  bool stopped = false;
};

// Held while an index is built or checked. kBusy: it is held by another.
Result<std::unique_ptr<FileLock>> LockIndex(Env& env, const std::string& index_dir);

class IndexBuilder {
 public:
  // kNotFound: the crawl has no text log. kBusy: another build is at work. kCorrupt: a part is damaged; it is named.
  // kInvalidArgument: another number of parts than the index has; or the index of a crawl without shards, and sources
  // of shards, or the other way round.
  static Result<std::unique_ptr<IndexBuilder>> Open(Env& env, const IndexSources& sources,
                                                    const IndexBuildOptions& options);

  Status Pass(bool links);

  // From the next pass on; shards that the index does not have yet become new parts. Errors as Open.
  Status Use(const IndexSources& sources);

  // Writes all databases anew without the room that updates leave in their blocks, as the next generation; smaller and
  // quicker to search. REQUIRES: the last pass was complete. The builder is closed afterwards: no more passes.
  Status Compact();

  // Shards of the index that are not among the sources.
  std::vector<std::string> absent() const;

  const IndexCounts& counts() const { return counts_; }
  uint32_t parts() const { return static_cast<uint32_t>(parts_.size()); }
  uint64_t documents();
  uint64_t generation() const { return generation_; }

 private:
  IndexBuilder(Env& env, const IndexSources& sources, const IndexBuildOptions& options, DocumentMaker maker)
      : env_(env), sources_(sources), options_(options), maker_(std::move(maker)) {}

  using Parts = std::span<const std::unique_ptr<IndexPart>>;

  Status OpenParts();
  Status OpenPart(const IndexPartPlace& place);
  Status AddShards();
  // Of the generation that is built.
  std::vector<std::string>& shards() { return current_.building != 0 ? current_.building_shards : current_.shards; }
  const std::vector<std::string>& shards() const {
    return current_.building != 0 ? current_.building_shards : current_.shards;
  }
  Parts PartsOf(std::string_view shard) const;
  Status UpdateGraph();
  Status OpenTable();
  Status IndexText(const CommittedSource& text);
  Status IndexPage(std::string_view record, const TextPlace& place, Parts parts, const OutputSource& text);
  Status RemoveGone(const CommittedSource& log);
  uint64_t pending_bytes() const;
  Status UpdateLinks();
  Status CommitAll();
  Status CommitLargest();
  Status Finish();
  void Tell(std::string_view step, uint64_t done) const {
    if (options_.progress) options_.progress(step, done);
  }
  bool Stopped() {
    if (!counts_.stopped && options_.stop && options_.stop()) counts_.stopped = true;
    return counts_.stopped;
  }

  Env& env_;
  IndexSources sources_;
  const IndexBuildOptions options_;
  DocumentMaker maker_;
  std::unique_ptr<FileLock> lock_;
  IndexCurrent current_;
  uint64_t generation_ = 0;                        // that is built
  std::vector<std::unique_ptr<IndexPart>> parts_;  // shard by shard, in the order of shards()
  std::unique_ptr<InlinkTable> table_;
  IndexCounts counts_;
};

}  // namespace portolan
