#include "index/index_build.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "flow/output_records.h"
#include "follow/graph_build.h"
#include "index/gone_pages.h"
#include "index/schema.h"
#include "index/xapian_error.h"
#include "robots/robots_tag.h"

namespace portolan {
namespace {

constexpr std::string_view kIndexLock = "LOCK";
constexpr uint64_t kReleaseEvery = 4096;  // pages

bool Before(const OutputPosition& position, const TextPlace& place) {
  return position.serial != place.serial ? position.serial < place.serial : position.offset <= place.offset;
}

bool Before(const OutputPosition& a, const OutputPosition& b) {
  return a.serial != b.serial ? a.serial < b.serial : a.offset < b.offset;
}

}  // namespace

Result<std::unique_ptr<FileLock>> LockIndex(Env& env, const std::string& index_dir) {
  auto lock = env.Lock(JoinPath(index_dir, kIndexLock));
  if (lock || lock.error().code() != ErrorCode::kBusy) return lock;
  return Fail(ErrorCode::kBusy, fmt::format("{}: a build or a check of the index is at work", index_dir));
}

Result<std::unique_ptr<IndexBuilder>> IndexBuilder::Open(Env& env, const IndexSources& sources,
                                                         const IndexBuildOptions& options) {
  // Before anything is made.
  RETURN_IF_ERROR(ReadCommittedSources(env, sources.text));
  ASSIGN_OR_RETURN(DocumentMaker maker, DocumentMaker::Create());
  std::unique_ptr<IndexBuilder> builder(new IndexBuilder(env, sources, options, std::move(maker)));
  RETURN_IF_ERROR(env.CreateDirs(options.index_dir));
  ASSIGN_OR_RETURN(builder->lock_, LockIndex(env, options.index_dir));
  RETURN_IF_ERROR(builder->OpenParts());
  return builder;
}

Status IndexBuilder::OpenParts() {
  const std::string& dir = options_.index_dir;
  const uint32_t wanted = options_.parts != 0 ? options_.parts : std::max(options_.default_parts, 1U);
  auto loaded = IndexCurrent::Load(env_, dir);
  bool save = false;
  if (loaded) {
    current_ = *loaded;
    if (options_.rebuild) {
      current_.building = std::max(current_.generation, current_.building) + 1;
      current_.building_parts = options_.parts != 0 ? options_.parts : current_.parts;
      current_.building_shards.clear();
      save = true;
    }
  } else if (loaded.error().code() == ErrorCode::kNotFound || options_.rebuild) {
    // Of an index whose file is lost or damaged nothing is used.
    current_ = {.schema = kIndexSchema, .parts = wanted, .generation = 1};
    RETURN_IF_ERROR(RemoveIndexLeftovers(env_, dir, {}));
    save = true;
  } else {
    return std::unexpected(loaded.error());
  }
  generation_ = current_.building != 0 ? current_.building : current_.generation;
  const uint32_t parts = current_.building != 0 ? current_.building_parts : current_.parts;
  if (save) {
    for (const OutputSource& source : sources_.text) {
      if (!source.shard.empty()) shards().push_back(source.shard);
    }
  }
  if (options_.parts != 0 && options_.parts != parts) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "{}: the index was begun with --parts {}; 'portolan index build --rebuild --parts {} {}' makes it again",
            dir, parts, options_.parts, DirName(dir)));
  }
  // What was left by a build that was killed before it saved CURRENT must not be taken for a part.
  if (save && current_.building != 0) RETURN_IF_ERROR(RemoveIndexLeftovers(env_, dir, current_));
  for (const IndexPartPlace& place : current_.Parts(dir, generation_)) {
    if (!save && !env_.Exists(place.path)) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: the database is missing; {}", place.path, RebuildAdvice(dir)));
    }
    RETURN_IF_ERROR(OpenPart(place));
  }
  if (save) RETURN_IF_ERROR(current_.Save(env_, dir));
  RETURN_IF_ERROR(RemoveIndexLeftovers(env_, dir, current_));
  return AddShards();
}

Status IndexBuilder::OpenPart(const IndexPartPlace& place) {
  auto opened = IndexPart::Open(place);
  if (!opened) {
    if (opened.error().code() != ErrorCode::kCorrupt && opened.error().code() != ErrorCode::kUnsupported) {
      return std::unexpected(opened.error());
    }
    return Fail(opened.error().code(),
                fmt::format("{}; {}", opened.error().message(), RebuildAdvice(options_.index_dir)));
  }
  parts_.push_back(*std::move(opened));
  return {};
}

// What is there of their names is no part: CURRENT does not name it.
Status IndexBuilder::AddShards() {
  const std::string& dir = options_.index_dir;
  const uint32_t parts = current_.building != 0 ? current_.building_parts : current_.parts;
  std::vector<std::string> added;
  for (const OutputSource& source : sources_.text) {
    if (source.shard.empty() != shards().empty()) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: this is the index of a crawl {} shards; {}", dir,
                                                           shards().empty() ? "without" : "of", RebuildAdvice(dir)));
    }
    if (!source.shard.empty() && std::ranges::find(shards(), source.shard) == shards().end())
      added.push_back(source.shard);
  }
  if ((shards().size() + added.size()) * parts > kMostParts) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} shards with {} parts each are more than {}", dir,
                                                         shards().size() + added.size(), parts, kMostParts));
  }
  if (added.empty()) return {};
  for (const std::string& shard : added) {
    for (uint32_t part = 0; part < parts; ++part) {
      RETURN_IF_ERROR(OpenPart({IndexPartPath(dir, generation_, part, shard), shard, part, parts}));
    }
    shards().push_back(shard);
  }
  return current_.Save(env_, dir);
}

Status IndexBuilder::Use(const IndexSources& sources) {
  sources_ = sources;
  return AddShards();
}

IndexBuilder::Parts IndexBuilder::PartsOf(std::string_view shard) const {
  if (shards().empty()) return parts_;
  const auto at = static_cast<size_t>(std::ranges::find(shards(), shard) - shards().begin());
  const size_t parts = parts_.size() / shards().size();
  return Parts(parts_).subspan(at * parts, parts);
}

std::vector<std::string> IndexBuilder::absent() const {
  std::vector<std::string> absent;
  for (const std::string& shard : shards()) {
    if (sources_.text.Of(shard) == nullptr) absent.push_back(shard);
  }
  return absent;
}

uint64_t IndexBuilder::pending_bytes() const {
  uint64_t pending = 0;
  for (const auto& part : parts_) pending += part->pending_bytes();
  return pending;
}

uint64_t IndexBuilder::documents() {
  uint64_t sum = 0;
  for (const auto& part : parts_) sum += part->documents();
  return sum;
}

Status IndexBuilder::Pass(bool links) {
  const auto advise = [&](Status status) -> Status {
    if (status || status.error().code() != ErrorCode::kCorrupt) return status;
    // The logs and the graph name their own repair; a database is made again.
    const std::string& message = status.error().message();
    if (message.find("--rebuild") != std::string::npos || message.find(options_.index_dir) == std::string::npos) {
      return status;
    }
    return Fail(ErrorCode::kCorrupt, fmt::format("{}; {}", message, RebuildAdvice(options_.index_dir)));
  };
  // The crawl logs' marks come first: so no page that they say is gone is still to come from the text logs.
  ASSIGN_OR_RETURN(const auto logs, FindCommitted(env_, sources_.log));
  ASSIGN_OR_RETURN(const auto texts, FindCommitted(env_, sources_.text));
  if (links && sources_.links) RETURN_IF_ERROR(UpdateGraph());
  if (!table_ || links) RETURN_IF_ERROR(OpenTable());
  for (const CommittedSource& text : texts) {
    if (!counts_.stopped) RETURN_IF_ERROR(advise(IndexText(text)));
  }
  for (const CommittedSource& log : logs) {
    if (!counts_.stopped) RETURN_IF_ERROR(advise(RemoveGone(log)));
  }
  RETURN_IF_ERROR(advise(CommitAll()));
  if (!counts_.stopped && links) RETURN_IF_ERROR(advise(UpdateLinks()));
  return counts_.stopped || !links ? Status() : Finish();
}

Status IndexBuilder::UpdateGraph() {
  RETURN_IF_ERROR(env_.CreateDirs(options_.graph_dir));
  GraphBuildOptions build;
  build.memory = std::max(options_.memory, GraphBuildOptions::kLeastMemory);
  build.progress = [this](std::string_view step, uint64_t done) { Tell(step, done); };
  table_.reset();  // its memory, and the names of files that the build removes
  const auto built = BuildGraph(env_, *sources_.links, options_.graph_dir, build);
  if (built) return {};
  // Someone else is building it: what is there is used. So is a graph that was imported.
  if (built.error().code() == ErrorCode::kBusy || built.error().code() == ErrorCode::kExists) return {};
  return std::unexpected(built.error());
}

Status IndexBuilder::OpenTable() {
  InlinkTable::Options options;
  options.memory = options_.memory;
  options.progress = options_.progress;
  table_.reset();
  auto table = InlinkTable::Open(env_, options_.graph_dir, options_.index_dir, options);
  if (table) {
    table_ = *std::move(table);
  } else if (table.error().code() != ErrorCode::kNotFound) {
    return std::unexpected(table.error());
  }
  return {};
}

Status IndexBuilder::IndexText(const CommittedSource& text) {
  const Parts parts = PartsOf(text.source.shard);
  OutputPosition from = parts[0]->state().text;
  for (const auto& part : parts) {
    if (Before(part->state().text, from)) from = part->state().text;
    // All documents of an empty part come with this table.
    if (part->documents() == 0 && table_) part->state().inlinks = table_->name();
  }
  ASSIGN_OR_RETURN(OutputReader reader, OutputReader::Open(env_, text.source, text.until, from));
  uint32_t record = 0;
  const auto each = [&](std::string_view bytes, uint32_t /*tag*/) -> Status {
    const OutputPosition& at = reader.position();
    return IndexPage(bytes, {.serial = at.serial, .offset = at.offset, .record = record++}, parts, text.source);
  };
  for (bool more = true; more && !Stopped();) {
    record = 0;
    ASSIGN_OR_RETURN(more, reader.Next(each));
    for (const auto& part : parts) {
      if (Before(part->state().text, reader.position())) part->state().text = reader.position();
    }
    if (pending_bytes() >= options_.memory) RETURN_IF_ERROR(CommitLargest());
  }
  return {};
}

Status IndexBuilder::IndexPage(std::string_view bytes, const TextPlace& place, Parts parts, const OutputSource& text) {
  const auto page = ParseTextRecord(bytes);
  if (!page) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: a record of the text log does not parse; run 'portolan check'", text.dir));
  }
  const std::string host = DocumentMaker::HostOf(page->url);
  IndexPart& part = *parts[PartOf(host, static_cast<uint32_t>(parts.size()))];
  if (!Before(part.state().text, place)) return {};  // it is in this part already
  if (++counts_.pages % kReleaseEvery == 0 && table_) table_->Release();
  Tell("indexing pages", counts_.pages);
  const std::string id_term = IdTerm(page->url);
  if ((page->robots & RobotsTag::kNoIndex) != 0) {
    ++counts_.noindex;
    ASSIGN_OR_RETURN(const bool was_there, part.Delete(id_term));
    static_cast<void>(was_there);
    return {};
  }
  std::string_view inlinks;
  if (table_) {
    ASSIGN_OR_RETURN(inlinks, table_->Find(page->url));
  }
  ASSIGN_OR_RETURN(const Xapian::Document document, maker_.Make(*page, place, inlinks));
  ASSIGN_OR_RETURN(const bool added, part.Put(id_term, document));
  ++(added ? counts_.added : counts_.replaced);
  counts_.text_bytes += page->title.size() + page->headings.size() + page->text.size();
  return {};
}

Status IndexBuilder::RemoveGone(const CommittedSource& log) {
  const Parts parts = PartsOf(log.source.shard);
  OutputPosition from = parts[0]->state().log;
  for (const auto& part : parts) {
    if (Before(part->state().log, from)) from = part->state().log;
  }
  ASSIGN_OR_RETURN(OutputReader reader, OutputReader::Open(env_, log.source, log.until, from));
  uint64_t lines = 0;
  for (bool more = true; more && !Stopped();) {
    ASSIGN_OR_RETURN(more, reader.Next([&](std::string_view line, uint32_t /*tag*/) -> Status {
      Tell("looking for pages that are gone", ++lines);
      const auto page = ParseGonePage(line);
      if (!page) return {};
      // A part that has seen the line already has nothing that is older: it does no harm to look again.
      const uint32_t at = PartOf(DocumentMaker::HostOf(page->url), static_cast<uint32_t>(parts.size()));
      IndexPart& part = *parts[at];
      ASSIGN_OR_RETURN(const bool removed, part.DeleteOlder(IdTerm(page->url), page->fetched));
      counts_.gone += removed ? 1 : 0;
      return {};
    }));
    for (const auto& part : parts) {
      if (Before(part->state().log, reader.position())) part->state().log = reader.position();
    }
    if (pending_bytes() >= options_.memory) RETURN_IF_ERROR(CommitLargest());
  }
  return {};
}

Status IndexBuilder::UpdateLinks() {
  const std::string name = table_ ? table_->name() : std::string();
  uint64_t looked = 0;
  const auto find = [&](std::string_view url) -> Result<std::string_view> {
    if (!table_) return std::string_view();
    if (Stopped()) return Fail(ErrorCode::kClosed, "stopped");
    if (looked % kReleaseEvery == 0) table_->Release();
    return table_->Find(url);
  };
  for (const auto& part : parts_) {
    if (part->state().inlinks == name) continue;
    const auto changed = part->UpdateInlinks(name, find, maker_, options_.memory,
                                             [&](uint64_t) { Tell("bringing links up to date", ++looked); });
    if (counts_.stopped) return part->Commit();
    if (!changed) return std::unexpected(changed.error());
    counts_.relinked += *changed;
  }
  return {};
}

Status IndexBuilder::CommitLargest() {
  IndexPart& largest = **std::ranges::max_element(parts_, {}, [](const auto& part) { return part->pending_bytes(); });
  Tell("writing", counts_.pages);
  ++counts_.commits;
  return largest.Commit();
}

Status IndexBuilder::CommitAll() {
  for (const auto& part : parts_) {
    counts_.commits += part->pending_bytes() > 0 ? 1 : 0;
    RETURN_IF_ERROR(part->Commit());
  }
  return {};
}

Status IndexBuilder::Compact() {
  RETURN_IF_ERROR(CommitAll());
  parts_.clear();
  IndexCurrent next = current_;
  ++next.generation;
  const std::vector<IndexPartPlace> places = current_.Parts(options_.index_dir, current_.generation);
  const std::vector<IndexPartPlace> new_places = next.Parts(options_.index_dir, next.generation);
  for (size_t part = 0; part < places.size(); ++part) {
    const std::string& from = places[part].path;
    const std::string& to = new_places[part].path;
    Tell("compacting", part);
    RETURN_IF_ERROR(WithoutExceptions(from, [&]() -> Status {
      Xapian::Database(from).compact(to, Xapian::DBCOMPACT_NO_RENUMBER);
      return {};
    }));
    RETURN_IF_ERROR(SyncDirOnce(env_, to));
  }
  RETURN_IF_ERROR(next.Save(env_, options_.index_dir));
  current_ = next;
  generation_ = next.generation;
  return RemoveIndexLeftovers(env_, options_.index_dir, current_);
}

// A generation that was built beside the valid one is complete.
Status IndexBuilder::Finish() {
  if (current_.building == 0) return {};
  current_.generation = current_.building;
  current_.parts = current_.building_parts;
  current_.shards = std::exchange(current_.building_shards, {});
  current_.building = 0;
  current_.building_parts = 0;
  RETURN_IF_ERROR(current_.Save(env_, options_.index_dir));
  return RemoveIndexLeftovers(env_, options_.index_dir, current_);
}

}  // namespace portolan
