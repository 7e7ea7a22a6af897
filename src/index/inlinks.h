// What the link graph says of a page, for the search index: a static score and the texts of links to it.
//
// InlinkTable is that of a generation of the graph (follow/graph_files.h), in one file beside the index: a row per page
// that has any, by its number in the graph. It is made in one pass over the graph's links with texts, which are sorted
// by their targets on disk, and one over the ranks.
//
// The score: with r the PageRank of the page times the number of pages (so that the mean is 1), log2(1 + r) / 20, at
// most 1, in steps of 1/64, so that a page whose rank hardly changed is not written again. Where the graph is too large
// for PageRank's vectors in the memory that is given, r is the number of links to the page.
//
// The texts: of plain links only (not nofollow, no images, frames, redirects, sitemaps, rel=canonical). Of each page at
// most kMostTexts different ones, those that most links have (then by bytes), each with the weight 1 + log2(links):
// a thousand "Home" of a site's own pages count like ten.
//
// Thread: made by one caller; a table has one owner. Memory bound: options.memory, a byte per page of the graph, and a
// few MiB of buffers; reading one block of LinkTexts. Disk: the texts twice while it is made.
// Durability: none; it is made again from the graph. Damage is kCorrupt.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/graph_files.h"
#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "io/env.h"

namespace portolan {

inline constexpr size_t kMostTexts = 64;     // of a page
inline constexpr unsigned kScoreSteps = 64;  // of the score

struct InlinkText {
  std::string_view text;
  uint64_t links = 0;  // that have it
};

struct Inlinks {
  unsigned step = 0;  // of the score, at most kScoreSteps
  std::vector<InlinkText> texts;

  double score() const { return static_cast<double>(step) / kScoreSteps; }
  // Empty: there is nothing to say.
  std::string Pack() const;
  // False: not such bytes. Views of `packed`.
  static bool Unpack(std::string_view packed, Inlinks& inlinks);
};

unsigned ScoreStep(double relative_rank);
// What kInlinkSlot holds: 8 bytes that differ for different packed Inlinks; nothing for none.
std::string InlinkValue(std::string_view packed);

class InlinkTable {
 public:
  struct Options {
    size_t memory = size_t{64} << 20;
    std::function<void(std::string_view step, uint64_t done)> progress = {};
  };

  // Of the graph in `graph_dir`, in a file of `dir` whose name tells the generation; if it is there it is used, others
  // are removed. kNotFound: there is no graph, or one without names.
  static Result<std::unique_ptr<InlinkTable>> Open(Env& env, const std::string& graph_dir, const std::string& dir,
                                                   const Options& options);

  // The packed Inlinks of a page; empty: the graph does not know it, or nothing of it. Valid until the next call.
  Result<std::string_view> Find(std::string_view url);

  // Differs for different tables.
  const std::string& name() const { return name_; }
  uint64_t generation() const { return graph_->generation(); }

  // Memory that the mapped files take goes back to the system.
  void Release() const {
    graph_->Release();
    if (bytes_) bytes_->Release();
  }

 private:
  InlinkTable(std::unique_ptr<GraphFiles> graph, graph::UrlDictionary names, std::string name)
      : graph_(std::move(graph)), names_(std::move(names)), name_(std::move(name)) {}
  static Status Write(Env& env, const GraphFiles& graph, const std::string& dir, const std::string& path,
                      const Options& options);

  std::unique_ptr<GraphFiles> graph_;
  graph::UrlDictionary names_;
  std::string name_;
  std::unique_ptr<FileBytes> bytes_;
  std::unique_ptr<LinkTexts> rows_;
  NodeKeyMaker keys_;
  std::string key_;
};

}  // namespace portolan
