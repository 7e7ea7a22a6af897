#include "follow/graph_files.h"

#include <fmt/core.h>

#include "base/crc32c.h"

namespace portolan {
namespace {

// A build that ends removes the files of the generation that is being opened; it takes longer than this many times.
constexpr int kOpenAttempts = 10;
constexpr size_t kVerified = 4 << 20;  // bytes that are compared with a checksum before their memory goes back

template <typename T>
Result<T> InFile(Result<T> result, const std::string& path) {
  if (!result) return std::unexpected(std::move(result).error().Context(path));
  return result;
}

}  // namespace

std::string_view GraphLevelName(GraphLevel level) {
  switch (level) {
    case GraphLevel::kPages:
      return "pages";
    case GraphLevel::kHosts:
      return "hosts";
    case GraphLevel::kDomains:
      break;
  }
  return "domains";
}

std::string GraphBaseName(GraphLevel level, GraphDirection direction) {
  return std::string(GraphLevelName(level)) + (direction == GraphDirection::kTransposed ? "-t" : "");
}

Result<std::unique_ptr<GraphFiles>> GraphFiles::Open(Env& env, const std::string& graph_dir) {
  for (int attempt = 0;; ++attempt) {
    ASSIGN_OR_RETURN(GraphCurrent current, GraphCurrent::Load(env, graph_dir));
    std::unique_ptr<GraphFiles> files(new GraphFiles(graph_dir, std::move(current)));
    const Status mapped = files->MapAll(env);
    if (mapped) return files;
    if (mapped.error().code() != ErrorCode::kNotFound) return std::unexpected(mapped.error());
    ASSIGN_OR_RETURN(const GraphCurrent now, GraphCurrent::Load(env, graph_dir));
    if (now.generation == files->generation() || attempt == kOpenAttempts) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}; remove {} and build the graph again", mapped.error().message(), graph_dir));
    }
  }
}

Status GraphFiles::MapAll(Env& env) {
  for (const GraphCurrent::FileEntry& file : current_.files) {
    const std::string path = PathOf(file.name);
    ASSIGN_OR_RETURN(auto bytes, env.Map(path));
    if (bytes->view().size() != file.size) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: has {} bytes and should have {}; remove {} and build the graph again", path,
                              bytes->view().size(), file.size, dir_));
    }
    bytes_.emplace(file.name, std::move(bytes));
    if (file.size <= kSmallFile) RETURN_IF_ERROR(VerifyFile(file));
  }
  return {};
}

Status GraphFiles::VerifyFile(const GraphCurrent::FileEntry& file) const {
  ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(file.name));
  uint32_t crc = 0;
  for (size_t at = 0; at < bytes.size(); at += kVerified) {
    crc = Crc32c(bytes.substr(at, kVerified), crc);
    if (bytes.size() > kVerified) bytes_.find(file.name)->second->Release();
  }
  if (crc == file.crc) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("{}: its checksum is wrong; remove {} and build the graph again", PathOf(file.name), dir_));
}

Status GraphFiles::Verify() const {
  for (const GraphCurrent::FileEntry& file : current_.files) RETURN_IF_ERROR(VerifyFile(file));
  return {};
}

bool GraphFiles::Has(GraphLevel level) const {
  return bytes_.contains(GraphBaseName(level, GraphDirection::kForward) + ".graph");
}

bool GraphFiles::HasNames(GraphLevel level) const {
  return bytes_.contains(std::string(GraphLevelName(level)) + ".urls");
}

Result<std::string_view> GraphFiles::Bytes(std::string_view name) const {
  const auto found = bytes_.find(name);
  if (found == bytes_.end()) return Fail(ErrorCode::kNotFound, fmt::format("{}: the graph has no {}", dir_, name));
  return found->second->view();
}

Result<graph::GraphProperties> GraphFiles::Properties(GraphLevel level, GraphDirection direction) const {
  const std::string name = GraphBaseName(level, direction) + ".properties";
  ASSIGN_OR_RETURN(const std::string_view text, Bytes(name));
  return InFile(graph::GraphProperties::Parse(text), PathOf(name));
}

Result<graph::BvGraph> GraphFiles::Graph(GraphLevel level, GraphDirection direction) const {
  const std::string base = GraphBaseName(level, direction);
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, Properties(level, direction));
  ASSIGN_OR_RETURN(const std::string_view graph, Bytes(base + ".graph"));
  ASSIGN_OR_RETURN(const std::string_view offsets, Bytes(base + ".offsets"));
  return InFile(graph::BvGraph::Open(properties, graph, offsets), PathOf(base + ".offsets"));
}

Result<graph::GraphScan> GraphFiles::Scan(GraphLevel level, GraphDirection direction) const {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties, Properties(level, direction));
  ASSIGN_OR_RETURN(const std::string_view graph, Bytes(GraphBaseName(level, direction) + ".graph"));
  return graph::GraphScan(properties, graph);
}

Result<graph::UrlDictionary> GraphFiles::Names(GraphLevel level) const {
  const std::string name = std::string(GraphLevelName(level)) + ".urls";
  ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(name));
  return InFile(graph::UrlDictionary::Open(bytes), PathOf(name));
}

}  // namespace portolan
