// GraphFiles: the link graph of a crawl, opened for reading: the newest generation of DIR/graph, mapped.
//
//   ASSIGN_OR_RETURN(const auto files, GraphFiles::Open(env, JoinPath(dir, "graph")));
//   ASSIGN_OR_RETURN(const graph::BvGraph pages, files->Graph(GraphLevel::kPages, GraphDirection::kForward));
//   ASSIGN_OR_RETURN(const graph::UrlDictionary names, files->Names(GraphLevel::kPages));
//   graph::GraphScan scan = *files->Scan(GraphLevel::kHosts, GraphDirection::kTransposed);
//
// What they give refers to the mapped bytes: the GraphFiles must outlive it. A build that ends meanwhile removes the
// names of this generation's files; what is mapped stays valid.
//
// An imported graph has only kPages, and no names.
//
// Thread: immutable after Open; any number of threads. Memory: none but what Graph decodes (the offsets, 8 bits per
// node); the files are the system's page cache, and what is touched of them is in the process's memory until Release.
// Damage: the lengths are checked when it is opened, the checksums of small files too, those of large ones by Verify.
// What is damaged is named.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "follow/graph_current.h"
#include "graph/bv_graph.h"
#include "graph/graph_scan.h"
#include "graph/url_dictionary.h"
#include "io/env.h"

namespace portolan {

enum class GraphLevel : uint8_t { kPages, kHosts, kDomains };
enum class GraphDirection : uint8_t { kForward, kTransposed };

inline constexpr GraphLevel kGraphLevels[] = {GraphLevel::kPages, GraphLevel::kHosts, GraphLevel::kDomains};

std::string_view GraphLevelName(GraphLevel level);  // "pages", "hosts", "domains"
// "pages", "pages-t": what the three files of a graph begin with.
std::string GraphBaseName(GraphLevel level, GraphDirection direction);

class GraphFiles {
 public:
  // Files up to this size are compared with their checksums at once.
  static constexpr uint64_t kSmallFile = 1 << 20;

  // `graph_dir` is DIR/graph. kNotFound: there is no graph. kCorrupt: a file is missing or damaged; it is named.
  static Result<std::unique_ptr<GraphFiles>> Open(Env& env, const std::string& graph_dir);

  uint64_t generation() const { return current_.generation; }
  const GraphCurrent& current() const { return current_; }
  bool Has(GraphLevel level) const;
  bool HasNames(GraphLevel level) const;

  // For random access; decodes the offsets, some nanoseconds per node. kNotFound: the graph has no such level.
  Result<graph::BvGraph> Graph(GraphLevel level, GraphDirection direction) const;
  // All lists in node order, without that cost.
  Result<graph::GraphScan> Scan(GraphLevel level, GraphDirection direction) const;
  Result<graph::GraphProperties> Properties(GraphLevel level, GraphDirection direction) const;
  // kNotFound: it was imported and has no names.
  Result<graph::UrlDictionary> Names(GraphLevel level) const;

  // The bytes of a file, "pages.fetched"; kNotFound: there is none of that name.
  Result<std::string_view> Bytes(std::string_view name) const;
  std::string PathOf(std::string_view name) const { return GraphFilePath(dir_, current_.generation, name); }

  // Memory that the mapped files take goes back to the system; what is touched later comes back. For those who read
  // large files from front to back.
  void Release() const {
    for (const auto& [name, bytes] : bytes_) bytes->Release();
  }

  // Compares every file with its checksum; the error names the first that differs.
  Status Verify() const;

 private:
  GraphFiles(std::string dir, GraphCurrent current) : dir_(std::move(dir)), current_(std::move(current)) {}
  Status MapAll(Env& env);
  Status VerifyFile(const GraphCurrent::FileEntry& file) const;

  std::string dir_;
  GraphCurrent current_;
  std::map<std::string, std::unique_ptr<FileBytes>, std::less<>> bytes_;
};

}  // namespace portolan
