#include "index/inlinks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "flow/output_records.h"
#include "graph/page_rank.h"
#include "index/inlink_sort.h"

namespace portolan {
namespace {

constexpr uint64_t kTellEvery = 1 << 16;
constexpr std::string_view kTablePrefix = "inlinks-";
constexpr size_t kTableBuffer = 1 << 20;

// Links with one of these are not a recommendation in words.
constexpr uint8_t kNotPlain =
    kLinkRedirect | kLinkNofollow | kLinkEmbed | kLinkCanonical | kLinkSitemap | kLinkSitemapFile | kLinkRequisite;

// The texts of one page: those that most links have.
class TextChoice {
 public:
  void Add(std::string_view text, uint64_t links) {
    if (chosen_.size() < kMostTexts) {
      chosen_.push_back({std::string(text), links});
      std::ranges::push_heap(chosen_, Better);
      return;
    }
    // The front is the worst.
    if (links <= chosen_.front().links) return;  // texts come rising: of equals the first stays
    std::ranges::pop_heap(chosen_, Better);
    chosen_.back() = {std::string(text), links};
    std::ranges::push_heap(chosen_, Better);
  }

  void TakeInto(Inlinks& inlinks) {
    std::ranges::sort(chosen_, Better);
    inlinks.texts.clear();
    for (const Chosen& text : chosen_) inlinks.texts.push_back({text.text, text.links});
  }
  void Clear() { chosen_.clear(); }

 private:
  struct Chosen {
    std::string text;
    uint64_t links;
  };
  static bool Better(const Chosen& a, const Chosen& b) {
    return a.links != b.links ? a.links > b.links : a.text < b.text;
  }
  std::vector<Chosen> chosen_;
};

Result<std::vector<uint8_t>> ScoreSteps(const GraphFiles& graph, uint64_t nodes, bool page_rank) {
  std::vector<uint8_t> steps(nodes);
  if (page_rank) {
    ASSIGN_OR_RETURN(const graph::BvGraph pages, graph.Graph(GraphLevel::kPages, GraphDirection::kForward));
    // The steps of the score are coarse: the error of the tolerance is far below them.
    ASSIGN_OR_RETURN(const graph::PageRankResult ranks,
                     graph::PageRank(pages, {.tolerance = 1e-4, .max_iterations = 50, .on_iteration = {}}));
    for (uint64_t node = 0; node < nodes; ++node) {
      steps[node] = static_cast<uint8_t>(ScoreStep(ranks.ranks[node] * static_cast<double>(nodes)));
    }
    return steps;
  }
  ASSIGN_OR_RETURN(graph::GraphScan scan, graph.Scan(GraphLevel::kPages, GraphDirection::kTransposed));
  while (scan.Next()) {
    if (scan.node() >= nodes) break;
    steps[scan.node()] = static_cast<uint8_t>(ScoreStep(static_cast<double>(scan.successors().size())));
    if (scan.node() % kTellEvery == 0) graph.Release();
  }
  RETURN_IF_ERROR(scan.status());
  return steps;
}

// PageRank's vectors, and the offsets of a graph for random access.
bool PageRankFits(uint64_t nodes, size_t memory) { return nodes * (graph::kPageRankBytesPerNode + 2) <= memory; }

}  // namespace

unsigned ScoreStep(double relative_rank) {
  const double score = std::log2(1 + std::max(relative_rank, 0.0)) / 20;
  return static_cast<unsigned>(std::lround(std::min(score, 1.0) * kScoreSteps));
}

std::string InlinkValue(std::string_view packed) {
  if (packed.empty()) return {};
  std::string value(8, '\0');
  StoreLe(value.data(), Hash64(packed));
  return value;
}

std::string Inlinks::Pack() const {
  if (step == 0 && texts.empty()) return {};
  std::string packed(1, static_cast<char>(step));
  for (const InlinkText& text : texts) {
    AppendVarint(packed, text.links);
    AppendString(packed, text.text);
  }
  return packed;
}

bool Inlinks::Unpack(std::string_view packed, Inlinks& inlinks) {
  inlinks.texts.clear();
  ByteReader reader(packed);
  uint8_t step = 0;
  if (!reader.Read(step) || step > kScoreSteps) return false;
  inlinks.step = step;
  while (!reader.done()) {
    InlinkText text;
    if (!reader.ReadVarint(text.links) || !reader.ReadString(text.text)) return false;
    inlinks.texts.push_back(text);
  }
  return true;
}

Status InlinkTable::Write(Env& env, const GraphFiles& graph, const std::string& dir, const std::string& path,
                          const Options& options) {
  ASSIGN_OR_RETURN(const graph::GraphProperties properties,
                   graph.Properties(GraphLevel::kPages, GraphDirection::kForward));
  const uint64_t nodes = properties.nodes;
  const auto tell = [&](std::string_view step, uint64_t done) {
    if (done % kTellEvery != 0) return;
    graph.Release();
    if (options.progress) options.progress(step, done);
  };
  ASSIGN_OR_RETURN(InlinkSort sort, InlinkSort::Make(env, dir, options.memory));
  ASSIGN_OR_RETURN(const std::string_view bytes, graph.Bytes("pages.texts"));
  ASSIGN_OR_RETURN(LinkTexts texts, LinkTexts::Open(bytes));
  uint64_t done = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, texts.Next());
    if (!more) break;
    tell("sorting the texts of links", ++done);
    const std::string_view text = texts.text();  // flags, text
    const uint64_t target = texts.pair() & 0xffffffff;
    if (text.empty() || (static_cast<uint8_t>(text[0]) & kNotPlain) != 0 || target >= nodes) continue;
    const std::string_view words = TrimBlanks(text.substr(1));
    if (!words.empty()) RETURN_IF_ERROR(sort.Add(target, words));
  }
  if (options.progress) options.progress("ranking pages", nodes);
  ASSIGN_OR_RETURN(const std::vector<uint8_t> steps, ScoreSteps(graph, nodes, PageRankFits(nodes, options.memory)));

  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kCreate));
  std::string buffer;
  const auto flush = [&]() -> Status {
    RETURN_IF_ERROR(file->Append(buffer));
    buffer.clear();
    return {};
  };
  LinkTextsWriter rows([&](std::string_view piece) -> Status {
    buffer += piece;
    return buffer.size() < kTableBuffer ? Status() : flush();
  });
  uint64_t next = 0;  // node
  Inlinks inlinks;
  TextChoice choice;
  const auto close = [&]() -> Status {  // `next` is complete
    inlinks.step = steps[next];
    choice.TakeInto(inlinks);
    const std::string packed = inlinks.Pack();
    choice.Clear();
    tell("writing what is known of pages", ++next);
    return packed.empty() ? Status() : rows.Add(next - 1, packed);
  };
  const auto add = [&](uint64_t target, std::string_view text, uint64_t links) -> Status {
    while (next < target) RETURN_IF_ERROR(close());
    choice.Add(text, links);
    return {};
  };
  RETURN_IF_ERROR(sort.Merge(add));
  while (next < nodes) RETURN_IF_ERROR(close());
  RETURN_IF_ERROR(rows.Finish());
  RETURN_IF_ERROR(flush());
  return SyncOnce(*file);
}

Result<std::unique_ptr<InlinkTable>> InlinkTable::Open(Env& env, const std::string& graph_dir, const std::string& dir,
                                                       const Options& options) {
  ASSIGN_OR_RETURN(auto graph, GraphFiles::Open(env, graph_dir));
  if (!graph->HasNames(GraphLevel::kPages)) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: the graph was imported and has no names of pages", graph_dir));
  }
  ASSIGN_OR_RETURN(const graph::UrlDictionary names, graph->Names(GraphLevel::kPages));
  const bool page_rank = PageRankFits(names.size(), options.memory);
  // The checksum tells apart graphs that have the same number, one of which was removed.
  const std::string name = fmt::format("{}{}-{:08x}-{}", kTablePrefix, graph->generation(),
                                       Crc32c(graph->current().ToText()), page_rank ? "pagerank" : "indegree");
  std::unique_ptr<InlinkTable> table(new InlinkTable(std::move(graph), names, name));
  const std::string path = JoinPath(dir, name);
  ASSIGN_OR_RETURN(const auto files, env.List(dir));
  for (const std::string& file : files) {
    if (file.starts_with(kTablePrefix) && file != name) RETURN_IF_ERROR(env.Remove(JoinPath(dir, file)));
  }
  if (!env.Exists(path)) {
    const std::string unfinished = path + ".tmp";
    RETURN_IF_ERROR(Write(env, *table->graph_, dir, unfinished, options));
    RETURN_IF_ERROR(env.Rename(unfinished, path));
    RETURN_IF_ERROR(SyncDirOnce(env, dir));
  }
  ASSIGN_OR_RETURN(table->bytes_, env.Map(path));
  auto rows = LinkTexts::Open(table->bytes_->view());
  if (!rows) return std::unexpected(std::move(rows.error()).Context(path));
  table->rows_ = std::make_unique<LinkTexts>(*std::move(rows));
  return table;
}

Result<std::string_view> InlinkTable::Find(std::string_view url) {
  key_.clear();
  keys_.Append(url, key_);
  if (key_.size() > graph::kMaxUrlKey) return std::string_view();
  ASSIGN_OR_RETURN(const auto node, names_.Find(key_));
  if (!node) return std::string_view();
  return rows_->Find(*node);
}

}  // namespace portolan
