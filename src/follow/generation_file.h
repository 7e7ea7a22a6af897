// GenerationFile: a file of a new generation of a graph, written from front to back, with its checksum.
//
// GraphLevelWriter writes the three files of one compressed graph from pairs in rising order.
//
// Thread: one owner. Memory bound: kBuffer; the level writer has GraphWriter's, which is twenty times the longest list
// (four bytes per entry). Durability: after Finish the bytes; the names when the directory is synced.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/graph_current.h"
#include "graph/graph_writer.h"
#include "io/env.h"

namespace portolan {

class GenerationFile {
 public:
  static constexpr size_t kBuffer = size_t{1} << 20;

  static Result<GenerationFile> Make(Env& env, const std::string& dir, uint64_t generation, const std::string& name);

  Status Append(std::string_view bytes);
  uint64_t size() const { return size_; }
  // Writes what is left and syncs; what CURRENT says of it.
  Result<GraphCurrent::FileEntry> Finish();

 private:
  GenerationFile(std::unique_ptr<File> file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Status Flush();

  std::unique_ptr<File> file_;
  std::string name_;
  std::string buffer_;
  uint64_t size_ = 0;
  uint32_t crc_ = 0;
};

class GraphLevelWriter {
 public:
  // `base`: "pages", "pages-t" …
  static Result<GraphLevelWriter> Make(Env& env, const std::string& dir, uint64_t generation, const std::string& base);

  // (node, successor); each pair once, rising.
  Status Add(uint64_t pair) {
    const uint64_t node = pair >> 32;
    while (writer_.nodes() < node) RETURN_IF_ERROR(CloseList());
    list_.push_back(static_cast<graph::NodeId>(pair));
    return {};
  }
  // Nodes without successors follow up to `nodes`. Adds the three files to `files`.
  Status Finish(uint64_t nodes, std::vector<GraphCurrent::FileEntry>& files);

  uint64_t arcs() const { return writer_.arcs(); }

 private:
  GraphLevelWriter(GenerationFile graph, GenerationFile offsets, GenerationFile properties)
      : graph_(std::move(graph)), offsets_(std::move(offsets)), properties_(std::move(properties)), writer_({}) {}
  Status CloseList();

  GenerationFile graph_;
  GenerationFile offsets_;
  GenerationFile properties_;
  graph::GraphWriter writer_;
  std::vector<graph::NodeId> list_;
};

}  // namespace portolan
