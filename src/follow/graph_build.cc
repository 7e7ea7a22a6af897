#include "follow/graph_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "flow/output_records.h"
#include "follow/generation_file.h"
#include "follow/graph_files.h"
#include "follow/key_runs.h"
#include "follow/link_batch.h"
#include "follow/link_rows.h"
#include "follow/link_texts.h"
#include "follow/node_key.h"
#include "follow/page_hosts.h"
#include "follow/pair_sort.h"
#include "graph/graph_scan.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr uint64_t kTellEvery = 1 << 16;

// The links of the last generation, under the map to the new numbers.
class GenerationLinks : public LinkRun {
 public:
  GenerationLinks(graph::GraphScan scan, LinkTexts texts, NumberMap map)
      : scan_(std::move(scan)), texts_(std::move(texts)), map_(std::move(map)) {}

  Result<bool> Next() override {
    while (at_ == scan_.successors().size() || !started_) {
      started_ = true;
      at_ = 0;
      if (!scan_.Next()) {
        RETURN_IF_ERROR(scan_.status());
        return false;
      }
      if (scan_.node() >= map_.size()) return Fail(ErrorCode::kCorrupt, "the graph has more nodes than names");
      if (scan_.successors().empty()) continue;
      source_ = map_[scan_.node()];
    }
    const uint64_t target = scan_.successors()[at_++];
    if (target >= map_.size()) return Fail(ErrorCode::kCorrupt, "the graph has more nodes than names");
    const uint64_t old = MakePair(scan_.node(), target);
    while (more_texts_ && (!has_text_ || texts_.pair() < old)) {
      ASSIGN_OR_RETURN(more_texts_, texts_.Next());
      has_text_ = more_texts_;
    }
    text_ = has_text_ && texts_.pair() == old ? texts_.text() : std::string_view();
    pair_ = MakePair(source_, map_[target]);
    return true;
  }

 private:
  graph::GraphScan scan_;
  LinkTexts texts_;
  NumberMap map_;
  bool started_ = false;
  size_t at_ = 0;
  uint64_t source_ = 0;
  bool more_texts_ = true;
  bool has_text_ = false;
};

class GraphBuilder {
 public:
  GraphBuilder(Env& env, const std::string& dir, const GraphBuildOptions& options)
      : env_(env), dir_(dir), options_(options) {}

  Result<GraphBuildResult> Run(const OutputSources& links);

 private:
  void CompareShards(const OutputSources& links, const std::vector<CommittedSource>& committed);
  Status ReadLogs(const std::vector<CommittedSource>& logs);
  Status MergeKeys();
  Status RewriteLinks();
  Status MergeLinks();
  // From sorted pairs the graph, and its transpose.
  Status WriteLevel(PairSort& pairs, GraphLevel level, uint64_t nodes,
                    const std::function<Status(uint64_t pair)>& each = {});
  Status WriteTransposed(PairSort& pairs, GraphLevel level, uint64_t nodes);
  Status WriteDomains(PairSort& pairs);
  Status Tell(std::string_view step, uint64_t done) {
    if (done % kTellEvery != 0) return {};
    if (last_) last_->Release();
    if (options_.progress) options_.progress(step, done);
    return {};
  }
  Status Keep(GenerationFile& file) {
    ASSIGN_OR_RETURN(GraphCurrent::FileEntry entry, file.Finish());
    next_.files.push_back(std::move(entry));
    return {};
  }
  size_t BufferOf(size_t percent, size_t runs) const {
    return std::min<size_t>(options_.memory / 100 * percent / std::max<size_t>(runs, 1), size_t{1} << 20);
  }
  PairSort::Options SortOptions(size_t percent, bool low_is_rising) const {
    return {.dir = dir_, .memory = options_.memory / 100 * percent, .low_is_rising = low_is_rising};
  }

  Env& env_;
  const std::string dir_;
  const GraphBuildOptions& options_;
  std::unique_ptr<GraphFiles> last_;  // null: there is none
  GraphCurrent next_;
  GraphBuildResult result_;
  std::optional<SpoolFile> keys_;
  std::optional<SpoolFile> ranked_;  // links by rank
  std::optional<SpoolFile> maps_;
  std::optional<SpoolFile> links_;  // by number
  std::vector<LinkBatch::Written> batches_;
  std::vector<RankMap> rank_maps_;    // of the last generation, if there is one, and the batches
  std::vector<SpoolPart> link_runs_;  // of the batches
  PageHosts hosts_;
  uint64_t pages_ = 0;
};

Result<GraphBuildResult> GraphBuilder::Run(const OutputSources& links) {
  ASSIGN_OR_RETURN(const std::vector<CommittedSource> committed, ReadCommittedSources(env_, links));
  if (env_.Exists(JoinPath(dir_, kGraphCurrent))) {
    ASSIGN_OR_RETURN(last_, GraphFiles::Open(env_, dir_));
    next_ = last_->current();
    if (next_.imported) {
      return Fail(ErrorCode::kExists,
                  fmt::format("{}: this graph was imported; a crawl's graph needs a folder of its own", dir_));
    }
  }
  RETURN_IF_ERROR(RemoveLeftovers(env_, dir_, next_.generation));
  CompareShards(links, committed);
  RETURN_IF_ERROR(ReadLogs(committed));
  result_.generation = next_.generation;
  if (last_ && result_.new_records == 0) return result_;
  if (last_) RETURN_IF_ERROR(last_->Verify());

  ++next_.generation;
  next_.files.clear();
  RETURN_IF_ERROR(MergeKeys());
  RETURN_IF_ERROR(RewriteLinks());
  RETURN_IF_ERROR(MergeLinks());
  RETURN_IF_ERROR(SyncDirOnce(env_, dir_));
  next_.records += result_.new_records;
  next_.links += result_.new_links;
  next_.left_out += result_.left_out;
  RETURN_IF_ERROR(next_.Save(env_, dir_));
  result_.built = true;
  result_.generation = next_.generation;
  // The new generation is valid now; what cannot be removed is left to the next build.
  static_cast<void>(RemoveLeftovers(env_, dir_, next_.generation));
  return result_;
}

void GraphBuilder::CompareShards(const OutputSources& links, const std::vector<CommittedSource>& committed) {
  for (const CommittedSource& log : committed) {
    if (last_ && !next_.positions.shards.contains(log.source.shard)) result_.new_shards.push_back(log.source.shard);
  }
  for (const auto& [shard, position] : next_.positions.shards) {
    if (links.Of(shard) == nullptr) result_.gone_shards.push_back(shard);
  }
}

Status GraphBuilder::ReadLogs(const std::vector<CommittedSource>& logs) {
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env_, logs, next_.positions));
  ASSIGN_OR_RETURN(Rng rng, Rng::FromSystem());
  ASSIGN_OR_RETURN(keys_, SpoolFile::Make(env_, dir_, "keys"));
  ASSIGN_OR_RETURN(ranked_, SpoolFile::Make(env_, dir_, "ranked"));
  LinkBatch batch(options_.memory, rng.Next());
  const auto write = [&]() -> Status {
    ASSIGN_OR_RETURN(const LinkBatch::Written written, batch.Write(*keys_, *ranked_));
    batches_.push_back(written);
    return {};
  };
  NodeKeyMaker key_maker;
  std::string source;
  std::string target;
  bool has_source = false;
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view record, uint32_t tag) -> Status {
      const auto parsed = ParseLinkRecord(record, static_cast<uint8_t>(tag));
      if (!parsed) return Fail(ErrorCode::kCorrupt, "the link log has a record that is not a link");
      if (batch.full()) {
        RETURN_IF_ERROR(write());
        if (has_source && !parsed->is_page()) batch.Page(source);
      }
      if (parsed->is_page()) {
        source.clear();
        key_maker.Append(parsed->url, source);
        has_source = source.size() <= graph::kMaxUrlKey;
        if (has_source) batch.Page(source);
        ++result_.new_records;
        return {};
      }
      RETURN_IF_ERROR(Tell("reading links", ++result_.new_links));
      target.clear();
      key_maker.Append(parsed->url, target);
      if (!has_source || target.size() > graph::kMaxUrlKey) {
        ++result_.left_out;
        return {};
      }
      batch.Add(target, parsed->tag, CutUtf8(parsed->anchor, kMaxAnchor));
      return {};
    }));
  }
  if (!batch.empty()) RETURN_IF_ERROR(write());
  result_.batches = batches_.size();
  next_.positions = reader.positions();
  return {};
}

Status GraphBuilder::MergeKeys() {
  std::vector<std::unique_ptr<KeyRun>> runs;
  if (last_) {
    ASSIGN_OR_RETURN(const graph::UrlDictionary names, last_->Names(GraphLevel::kPages));
    ASSIGN_OR_RETURN(const std::string_view fetched, last_->Bytes("pages.fetched"));
    runs.push_back(std::make_unique<DictionaryKeys>(names, fetched));
  }
  const size_t buffer = BufferOf(80, batches_.size());
  for (const LinkBatch::Written& batch : batches_) {
    runs.push_back(std::make_unique<SpooledKeys>(keys_->file(), batch.keys, buffer));
  }
  ASSIGN_OR_RETURN(maps_, SpoolFile::Make(env_, dir_, "maps"));
  ASSIGN_OR_RETURN(GenerationFile pages, GenerationFile::Make(env_, dir_, next_.generation, "pages.urls"));
  ASSIGN_OR_RETURN(GenerationFile fetched, GenerationFile::Make(env_, dir_, next_.generation, "pages.fetched"));
  ASSIGN_OR_RETURN(GenerationFile hosts, GenerationFile::Make(env_, dir_, next_.generation, "hosts.urls"));
  ASSIGN_OR_RETURN(GenerationFile domains, GenerationFile::Make(env_, dir_, next_.generation, "domains.urls"));
  graph::UrlDictionaryWriter page_names([&](std::string_view bytes) { return pages.Append(bytes); });
  graph::UrlDictionaryWriter host_names([&](std::string_view bytes) { return hosts.Append(bytes); });
  uint8_t bits = 0;
  std::string host;
  ASSIGN_OR_RETURN(DomainNumbers domain_numbers, DomainNumbers::Create());
  ASSIGN_OR_RETURN(rank_maps_, MergeKeyRuns(runs, *maps_, [&](std::string_view key, bool is_fetched) -> Status {
                     if (page_names.size() == graph::kMaxNodes)
                       return Fail(ErrorCode::kUnsupported, "more pages than a graph may have");
                     const std::string_view own_host = HostOfNodeKey(key);
                     const bool new_host = page_names.size() == 0 || own_host != host;
                     if (new_host) {
                       host = own_host;
                       RETURN_IF_ERROR(host_names.Add(host));
                       domain_numbers.AddHost(host);
                     }
                     hosts_.Add(new_host);
                     bits |= static_cast<uint8_t>(static_cast<uint8_t>(is_fetched) << page_names.size() % 8);
                     RETURN_IF_ERROR(page_names.Add(key));
                     RETURN_IF_ERROR(Tell("numbering pages", page_names.size()));
                     if (page_names.size() % 8 != 0) return {};
                     const char byte = static_cast<char>(std::exchange(bits, 0));
                     return fetched.Append({&byte, 1});
                   }));
  if (page_names.size() % 8 != 0) {
    const char byte = static_cast<char>(bits);
    RETURN_IF_ERROR(fetched.Append({&byte, 1}));
  }
  pages_ = page_names.size();
  RETURN_IF_ERROR(page_names.Finish());
  RETURN_IF_ERROR(host_names.Finish());
  hosts_.Finish();

  graph::UrlDictionaryWriter domain_names([&](std::string_view bytes) { return domains.Append(bytes); });
  RETURN_IF_ERROR(Keep(pages));
  RETURN_IF_ERROR(Keep(fetched));
  RETURN_IF_ERROR(Keep(hosts));
  {
    ASSIGN_OR_RETURN(const auto mapped, env_.Map(GraphFilePath(dir_, next_.generation, "hosts.urls")));
    ASSIGN_OR_RETURN(const graph::UrlDictionary names, graph::UrlDictionary::Open(mapped->view()));
    ASSIGN_OR_RETURN(hosts_.domains, domain_numbers.Number(names, domain_names));
  }
  hosts_.domain_count = domain_names.size();
  RETURN_IF_ERROR(domain_names.Finish());
  keys_.reset();
  return Keep(domains);
}

Status GraphBuilder::RewriteLinks() {
  ASSIGN_OR_RETURN(links_, SpoolFile::Make(env_, dir_, "links"));
  const size_t first = last_ ? 1 : 0;
  uint64_t done = 0;
  for (size_t i = 0; i < batches_.size(); ++i) {
    ASSIGN_OR_RETURN(const NumberMap map, rank_maps_[first + i].Load(*maps_, pages_, options_.memory / 4));
    SpooledLinks run(ranked_->file(), batches_[i].links, BufferOf(10, 1));
    SpoolPart part{.begin = links_->size()};
    uint64_t last = 0;
    uint64_t source = ~uint64_t{0};
    uint64_t mapped_source = 0;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, run.Next());
      if (!more) break;
      if (run.pair() >> 32 != source) {
        source = run.pair() >> 32;
        mapped_source = map[source];
      }
      const uint64_t pair = MakePair(mapped_source, map[run.pair() & 0xffffffff]);
      AppendLinkRow(links_->buffer(), last, pair, run.text());
      last = pair;
      RETURN_IF_ERROR(links_->FlushFull());
      RETURN_IF_ERROR(Tell("numbering links", ++done));
    }
    RETURN_IF_ERROR(links_->Flush());
    part.end = links_->size();
    link_runs_.push_back(part);
  }
  ranked_.reset();
  return {};
}

Status GraphBuilder::MergeLinks() {
  std::vector<std::unique_ptr<LinkRun>> runs;
  if (last_) {
    ASSIGN_OR_RETURN(graph::GraphScan scan, last_->Scan(GraphLevel::kPages, GraphDirection::kForward));
    ASSIGN_OR_RETURN(const std::string_view bytes, last_->Bytes("pages.texts"));
    ASSIGN_OR_RETURN(LinkTexts texts, LinkTexts::Open(bytes));
    ASSIGN_OR_RETURN(NumberMap map, rank_maps_[0].Load(*maps_, pages_, options_.memory / 10));
    runs.push_back(std::make_unique<GenerationLinks>(std::move(scan), std::move(texts), std::move(map)));
  }
  maps_.reset();
  for (const SpoolPart& part : link_runs_) {
    runs.push_back(std::make_unique<SpooledLinks>(links_->file(), part, BufferOf(25, link_runs_.size())));
  }
  PairSort turned(env_, SortOptions(45, /*low_is_rising=*/true));
  PairSort between_hosts(env_, SortOptions(20, false));
  {
    ASSIGN_OR_RETURN(GraphLevelWriter pages, GraphLevelWriter::Make(env_, dir_, next_.generation, "pages"));
    ASSIGN_OR_RETURN(GenerationFile texts_file, GenerationFile::Make(env_, dir_, next_.generation, "pages.texts"));
    LinkTextsWriter texts([&](std::string_view bytes) { return texts_file.Append(bytes); });
    struct Head {
      uint64_t pair;
      uint32_t run;
    };
    // Of equals the newest run comes first.
    const auto before = [](const Head& a, const Head& b) { return a.pair != b.pair ? a.pair < b.pair : a.run > b.run; };
    ReplaceHeap<Head, decltype(before)> heads(before);
    for (uint32_t i = 0; i < runs.size(); ++i) {
      ASSIGN_OR_RETURN(const bool more, runs[i]->Next());
      if (more) heads.Push({runs[i]->pair(), i});
    }
    uint64_t last_hosts = ~uint64_t{0};
    std::optional<uint64_t> last;
    for (uint64_t done = 0; !heads.empty();) {
      const Head head = heads.top();
      LinkRun& run = *runs[head.run];
      if (last != head.pair) {
        last = head.pair;
        const uint64_t source = head.pair >> 32;
        const uint64_t target = head.pair & 0xffffffff;
        RETURN_IF_ERROR(pages.Add(head.pair));
        if (!run.text().empty()) RETURN_IF_ERROR(texts.Add(head.pair, run.text()));
        RETURN_IF_ERROR(turned.Add(MakePair(target, source)));
        const uint64_t pair_of_hosts = MakePair(hosts_.HostOf(source), hosts_.HostOf(target));
        if (pair_of_hosts != last_hosts && pair_of_hosts >> 32 != (pair_of_hosts & 0xffffffff)) {
          RETURN_IF_ERROR(between_hosts.Add(pair_of_hosts));
          last_hosts = pair_of_hosts;
        }
        RETURN_IF_ERROR(Tell("writing links", ++done));
      }
      ASSIGN_OR_RETURN(const bool more, run.Next());
      if (more) {
        heads.ReplaceTop({run.pair(), head.run});
      } else {
        heads.Pop();
      }
    }
    RETURN_IF_ERROR(pages.Finish(pages_, next_.files));
    RETURN_IF_ERROR(texts.Finish());
    RETURN_IF_ERROR(Keep(texts_file));
  }
  runs.clear();
  links_.reset();
  RETURN_IF_ERROR(WriteTransposed(turned, GraphLevel::kPages, pages_));
  return WriteDomains(between_hosts);
}

Status GraphBuilder::WriteTransposed(PairSort& pairs, GraphLevel level, uint64_t nodes) {
  RETURN_IF_ERROR(pairs.Sort());
  ASSIGN_OR_RETURN(GraphLevelWriter writer, GraphLevelWriter::Make(env_, dir_, next_.generation,
                                                                   GraphBaseName(level, GraphDirection::kTransposed)));
  uint64_t pair = 0;
  for (uint64_t done = 0;;) {
    ASSIGN_OR_RETURN(const bool more, pairs.Next(pair));
    if (!more) break;
    RETURN_IF_ERROR(writer.Add(pair));
    RETURN_IF_ERROR(Tell("writing links, turned round", ++done));
  }
  return writer.Finish(nodes, next_.files);
}

Status GraphBuilder::WriteLevel(PairSort& pairs, GraphLevel level, uint64_t nodes,
                                const std::function<Status(uint64_t pair)>& each) {
  RETURN_IF_ERROR(pairs.Sort());
  PairSort turned(env_, SortOptions(30, /*low_is_rising=*/true));
  ASSIGN_OR_RETURN(GraphLevelWriter writer, GraphLevelWriter::Make(env_, dir_, next_.generation,
                                                                   GraphBaseName(level, GraphDirection::kForward)));
  uint64_t pair = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, pairs.Next(pair));
    if (!more) break;
    RETURN_IF_ERROR(writer.Add(pair));
    RETURN_IF_ERROR(turned.Add(MakePair(pair & 0xffffffff, pair >> 32)));
    if (each) RETURN_IF_ERROR(each(pair));
  }
  RETURN_IF_ERROR(writer.Finish(nodes, next_.files));
  return WriteTransposed(turned, level, nodes);
}

Status GraphBuilder::WriteDomains(PairSort& pairs) {
  PairSort between_domains(env_, SortOptions(30, false));
  RETURN_IF_ERROR(WriteLevel(pairs, GraphLevel::kHosts, hosts_.host_count(), [&](uint64_t pair) -> Status {
    const uint64_t source = hosts_.domains[pair >> 32];
    const uint64_t target = hosts_.domains[pair & 0xffffffff];
    return source == target ? Status() : between_domains.Add(MakePair(source, target));
  }));
  return WriteLevel(between_domains, GraphLevel::kDomains, hosts_.domain_count);
}

}  // namespace

Status RemoveLeftovers(Env& env, const std::string& graph_dir, uint64_t keep) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(graph_dir));
  const std::string kept = fmt::format("gen-{}-", keep);
  const std::string half_replaced = std::string(kGraphCurrent) + ".new";  // by ReplaceFile
  for (const std::string& name : names) {
    const bool old = name.starts_with("gen-") && !name.starts_with(kept);
    if (old || name.starts_with("tmp-") || name == half_replaced) {
      RETURN_IF_ERROR(env.Remove(JoinPath(graph_dir, name)));
    }
  }
  return {};
}

Result<GraphBuildResult> BuildGraph(Env& env, const OutputSources& links, const std::string& graph_dir,
                                    const GraphBuildOptions& options) {
  if (options.memory < GraphBuildOptions::kLeastMemory) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a graph needs at least {} bytes of memory", GraphBuildOptions::kLeastMemory));
  }
  RETURN_IF_ERROR(env.CreateDirs(graph_dir));
  ASSIGN_OR_RETURN(const auto lock, env.Lock(JoinPath(graph_dir, "LOCK")));
  Result<GraphBuildResult> result = Fail(ErrorCode::kIo, "not run");
  {
    GraphBuilder builder(env, graph_dir, options);
    result = builder.Run(links);
  }
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
