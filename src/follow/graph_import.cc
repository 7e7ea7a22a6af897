#include "follow/graph_import.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "follow/generation_file.h"
#include "follow/graph_build.h"
#include "follow/graph_current.h"
#include "follow/graph_files.h"
#include "follow/pair_sort.h"
#include "graph/bit_writer.h"
#include "graph/graph_scan.h"
#include "graph/offsets.h"
#include "graph/properties.h"

namespace portolan {
namespace {

constexpr uint64_t kTellEveryNodes = 1 << 14;
constexpr size_t kCopyPiece = size_t{1} << 20;

// The generation of the graph in `dir`, if it may be replaced; 0 if there is none.
Result<uint64_t> GenerationToReplace(Env& env, const std::string& dir, bool replace) {
  if (!env.Exists(JoinPath(dir, kGraphCurrent))) return 0;
  ASSIGN_OR_RETURN(const GraphCurrent last, GraphCurrent::Load(env, dir));
  if (!last.imported) {
    return Fail(ErrorCode::kExists,
                fmt::format("{}: the graph here was built from a crawl; import into a folder of its own", dir));
  }
  if (!replace) {
    return Fail(ErrorCode::kExists, fmt::format("{}: there is an imported graph already; --force replaces it", dir));
  }
  return last.generation;
}

class GraphImporter {
 public:
  GraphImporter(Env& env, const std::string& base, const std::string& dir, const GraphImportOptions& options)
      : env_(env), base_(base), dir_(dir), options_(options) {}

  // Reads everything; writes nothing.
  Status Check();
  // REQUIRES: Check, and the lock of the folder.
  Result<GraphImportResult> Write();

 private:
  std::string FileOf(std::string_view suffix) const { return base_ + std::string(suffix); }
  Status Tell(std::string_view step, uint64_t done) {
    return options_.progress && done % kTellEveryNodes == 0 ? options_.progress(step, done) : Status();
  }
  graph::GraphScan Scan() const { return {properties_, graph_->view()}; }
  // What a scan found.
  Status Named(Status status) const {
    if (status) return status;
    return std::unexpected(std::move(status).error().Context(FileOf(".graph")));
  }
  Status MapFiles();
  Status WriteOffsets();
  Status Copy(const std::string& name, std::string_view bytes);
  Status Keep(GenerationFile& file) {
    ASSIGN_OR_RETURN(GraphCurrent::FileEntry entry, file.Finish());
    next_.files.push_back(std::move(entry));
    return {};
  }

  Env& env_;
  const std::string& base_;
  const std::string& dir_;
  const GraphImportOptions& options_;
  graph::GraphProperties properties_;
  std::string properties_text_;
  std::unique_ptr<FileBytes> graph_;
  std::unique_ptr<FileBytes> offsets_;  // null: there are none
  GraphCurrent next_;
};

Status GraphImporter::MapFiles() {
  const std::string properties = FileOf(".properties");
  for (const std::string& path : {properties, FileOf(".graph")}) {
    if (env_.Exists(path)) continue;
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("{}: there is no such file; a graph of WebGraph's is BASE.graph and BASE.properties", path));
  }
  ASSIGN_OR_RETURN(const auto text, env_.Map(properties));
  if (text->view().size() > kMaxGraphProperties) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} bytes are too many for properties of a graph", properties, text->view().size()));
  }
  properties_text_ = text->view();
  auto parsed = graph::GraphProperties::Parse(properties_text_);
  if (!parsed) return std::unexpected(std::move(parsed).error().Context(properties));
  properties_ = *std::move(parsed);
  ASSIGN_OR_RETURN(graph_, env_.Map(FileOf(".graph")));
  if (env_.Exists(FileOf(".offsets"))) {
    ASSIGN_OR_RETURN(offsets_, env_.Map(FileOf(".offsets")));
  }
  return {};
}

Status GraphImporter::Check() {
  RETURN_IF_ERROR(MapFiles());
  std::optional<graph::GraphOffsets> offsets;
  if (offsets_) {
    auto decoded = graph::GraphOffsets::Decode(offsets_->view(), properties_.nodes, graph_->view().size() * 8,
                                               properties_.parameters.offsets, properties_.parameters.zeta_k);
    if (!decoded) return std::unexpected(std::move(decoded).error().Context(FileOf(".offsets")));
    offsets = *std::move(decoded);
  }
  const auto compare = [&](uint64_t node, uint64_t position) -> Status {
    if (!offsets || (*offsets)[node] == position) return {};
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: says that list {} begins at bit {}, and it begins at bit {}; without this file the "
                            "offsets are made from the graph",
                            FileOf(".offsets"), node, (*offsets)[node], position));
  };
  RETURN_IF_ERROR(compare(0, 0));
  graph::GraphScan scan = Scan();
  while (scan.Next()) {
    RETURN_IF_ERROR(compare(scan.node() + 1, scan.position()));
    RETURN_IF_ERROR(Tell("checking lists", scan.node() + 1));
  }
  return Named(scan.status());
}

Status GraphImporter::Copy(const std::string& name, std::string_view bytes) {
  ASSIGN_OR_RETURN(GenerationFile file, GenerationFile::Make(env_, dir_, next_.generation, name));
  for (size_t at = 0; at < bytes.size(); at += kCopyPiece) {
    RETURN_IF_ERROR(file.Append(bytes.substr(at, kCopyPiece)));
    if (options_.progress) RETURN_IF_ERROR(options_.progress("copying bytes", at));
  }
  return Keep(file);
}

// Made anew, also where there are some: they were equal.
Status GraphImporter::WriteOffsets() {
  ASSIGN_OR_RETURN(GenerationFile file, GenerationFile::Make(env_, dir_, next_.generation, "pages.offsets"));
  const graph::GraphParameters& parameters = properties_.parameters;
  graph::BitWriter bits;
  bits.Write(parameters.offsets, parameters.zeta_k, 0);
  uint64_t last = 0;
  graph::GraphScan scan = Scan();
  while (scan.Next()) {
    bits.Write(parameters.offsets, parameters.zeta_k, scan.position() - last);
    last = scan.position();
    if (scan.node() % kTellEveryNodes == 0) RETURN_IF_ERROR(file.Append(bits.TakeBytes()));
    RETURN_IF_ERROR(Tell("writing offsets of lists", scan.node() + 1));
  }
  RETURN_IF_ERROR(Named(scan.status()));
  RETURN_IF_ERROR(file.Append(bits.Finish()));
  return Keep(file);
}

Result<GraphImportResult> GraphImporter::Write() {
  ASSIGN_OR_RETURN(next_.generation, GenerationToReplace(env_, dir_, options_.replace));
  RETURN_IF_ERROR(RemoveLeftovers(env_, dir_, next_.generation));
  ++next_.generation;
  next_.imported = true;
  RETURN_IF_ERROR(Copy("pages.graph", graph_->view()));
  RETURN_IF_ERROR(WriteOffsets());
  RETURN_IF_ERROR(Copy("pages.properties", properties_text_));

  PairSort turned(env_, {.dir = dir_, .memory = options_.memory, .low_is_rising = true});
  graph::GraphScan scan = Scan();
  while (scan.Next()) {
    for (const graph::NodeId to : scan.successors()) RETURN_IF_ERROR(turned.Add(MakePair(to, scan.node())));
    RETURN_IF_ERROR(Tell("turning lists round", scan.node() + 1));
  }
  RETURN_IF_ERROR(Named(scan.status()));
  RETURN_IF_ERROR(turned.Sort());
  ASSIGN_OR_RETURN(GraphLevelWriter writer,
                   GraphLevelWriter::Make(env_, dir_, next_.generation,
                                          GraphBaseName(GraphLevel::kPages, GraphDirection::kTransposed)));
  uint64_t pair = 0;
  for (uint64_t done = 0;;) {
    ASSIGN_OR_RETURN(const bool more, turned.Next(pair));
    if (!more) break;
    RETURN_IF_ERROR(writer.Add(pair));
    RETURN_IF_ERROR(Tell("writing links, turned round", ++done));
  }
  RETURN_IF_ERROR(writer.Finish(properties_.nodes, next_.files));
  RETURN_IF_ERROR(SyncDirOnce(env_, dir_));
  RETURN_IF_ERROR(next_.Save(env_, dir_));
  // The new generation is valid now; what cannot be removed is left to the next import.
  static_cast<void>(RemoveLeftovers(env_, dir_, next_.generation));
  return GraphImportResult{.generation = next_.generation,
                           .nodes = properties_.nodes,
                           .arcs = properties_.arcs,
                           .had_offsets = offsets_ != nullptr};
}

}  // namespace

Result<GraphImportResult> ImportGraph(Env& env, const std::string& base, const std::string& graph_dir,
                                      const GraphImportOptions& options) {
  if (options.memory < GraphBuildOptions::kLeastMemory) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("an import needs at least {} bytes of memory", GraphBuildOptions::kLeastMemory));
  }
  RETURN_IF_ERROR(GenerationToReplace(env, graph_dir, options.replace));  // before the long work; again under the lock
  GraphImporter importer(env, base, graph_dir, options);
  RETURN_IF_ERROR(importer.Check());
  RETURN_IF_ERROR(env.CreateDirs(graph_dir));
  ASSIGN_OR_RETURN(const auto lock, env.Lock(JoinPath(graph_dir, "LOCK")));
  auto result = importer.Write();
  if (!result) {
    // Room for others; CURRENT says what stays.
    const auto current = GraphCurrent::Load(env, graph_dir);
    if (current) {
      static_cast<void>(RemoveLeftovers(env, graph_dir, current->generation));
    } else if (current.error().code() == ErrorCode::kNotFound) {
      static_cast<void>(RemoveLeftovers(env, graph_dir, 0));
    }
  }
  return result;
}

}  // namespace portolan
