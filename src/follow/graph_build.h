// The follower that builds the link graph of a crawl, of all its shards together: pages, hosts and pay-level domains,
// each in both directions.
//
// Input is the committed part of the link logs (follow/output_sources.h); output a new generation in the folder of the
// graph (follow/graph_current.h). The work, in memory that does not depend on the number of links:
//
//   1. The new part of each log is read into batches (follow/link_batch.h): sorted keys, sorted links by rank.
//   2. The keys of all batches and of the last generation are merged: the dictionary, and a rising map per batch.
//   3. Each batch's links are rewritten under its map: they stay sorted.
//   4. These and the last generation's links, which are its graph, are merged: the page graph and the texts of links.
//   5. Links turned round, links between hosts, and these between domains, are sorted as numbers (follow/pair_sort.h).
//
// Nothing is looked up one at a time but the keys within a batch, in memory. A string goes through one sort and one
// merge, a link as a number through two, whatever the number of batches, so the cost per link hardly grows with the
// crawl (bench graphbuild). Each log is read once: what the last generation holds is not read again, also of a shard
// whose log is not here any more.
//
// Every URL that the log names is a page of the graph, fetched or not; "pages.fetched" says which were. Every link of
// the log is an arc, whatever its flags; so is a link of a page to itself. Of a page that is in the log twice both
// records' links count (union), and of a link that is there twice the newest flags and text. Links within a host are
// not arcs of the host graph, and those within a domain not of the domain graph.
//
// Thread: one caller, beside a running crawl or not; a lock keeps two builds apart.
// Memory bound: options.memory; besides it 2 bits per page, 4 bytes per host, about 6 bits per page of the last
// generation if there is one, some MiB of buffers, and twenty times the longest list of links (graph/graph_writer.h).
// Files of the last generation are mapped and read from front to back; what was read of them is given back to the
// system every 65,536 links.
// Disk: runs of about 40 bytes per link beside the new and the last generation. Durability: see GraphCurrent.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/output_sources.h"
#include "io/env.h"

namespace portolan {

struct GraphBuildOptions {
  static constexpr size_t kLeastMemory = size_t{64} << 10;

  size_t memory = size_t{256} << 20;
  // What is being done, and how many links, pages or hosts are done. Called every now and then.
  std::function<void(std::string_view step, uint64_t done)> progress = {};
};

struct GraphBuildResult {
  bool built = false;  // false: the log has nothing new, the last generation stays
  uint64_t generation = 0;
  uint64_t new_records = 0;  // pages read from the log, this time
  uint64_t new_links = 0;
  uint64_t left_out = 0;  // links with a URL of more than 64 KiB, this time
  uint64_t batches = 0;
  // Of several shards, by name: those that the last generation did not have, and those that it had and that are not
  // among the sources now. What was read of the latter stays.
  std::vector<std::string> new_shards;
  std::vector<std::string> gone_shards;
};

// kNotFound: the crawl has no link log, in any shard. kBusy: another build is at work. kCorrupt: the log or the last
// generation is damaged; the file is named. After any error the last generation is as it was.
Result<GraphBuildResult> BuildGraph(Env& env, const OutputSources& links, const std::string& graph_dir,
                                    const GraphBuildOptions& options = {});

// Removes files of generations other than `keep` and temporary files.
Status RemoveLeftovers(Env& env, const std::string& graph_dir, uint64_t keep);

}  // namespace portolan
