#include "standby/copy_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "disk/manifest.h"

namespace portolan {
namespace {

// The size of a file; nullopt: there is none.
Result<std::optional<uint64_t>> SizeHere(Env& env, const std::string& path) {
  if (!env.Exists(path)) return std::nullopt;
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  return file->Size();
}

const CheckpointFile* FindFile(const CheckpointFiles& list, uint32_t place, std::string_view name) {
  const auto at = std::ranges::lower_bound(list.files, std::pair(place, name), {}, [](const CheckpointFile& file) {
    return std::pair<uint32_t, std::string_view>(file.place, file.name);
  });
  return at != list.files.end() && at->place == place && at->name == name ? &*at : nullptr;
}

Status CutFile(Env& env, const std::string& path, uint64_t length) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kAppend));
  RETURN_IF_ERROR(file->Truncate(length));
  return SyncOnce(*file);
}

}  // namespace

Result<std::unique_ptr<CopyTarget>> CopyTarget::Open(Env& env, const CopyTargetOptions& options, Ask ask) {
  std::unique_ptr<CopyTarget> target(new CopyTarget(env, options, std::move(ask)));
  RETURN_IF_ERROR(env.CreateDirs(options.dir));
  for (uint32_t place = 0; place < options.places.count(); ++place) {
    if (options.places.Dir(place) != nullptr) RETURN_IF_ERROR(env.CreateDirs(*options.places.Dir(place)));
  }
  ASSIGN_OR_RETURN(target->mark_, ReadCopyMark(env, options.dir));
  const bool crawled = !target->mark_ && Manifest::Read(env, options.places.state).has_value();
  if (crawled && !options.replace_own) {
    return Fail(ErrorCode::kInvalidArgument,
                options.dir + ": a crawl worked here: its files are not replaced by a copy unless that is asked for");
  }
  if (target->mark_ && target->mark_->whole) {
    RETURN_IF_ERROR(target->CutToCheckpoint());
  }
  return target;
}

// After a crash the bytes behind the last manifest may be anything.
Status CopyTarget::CutToCheckpoint() {
  auto list = ListCheckpoint(env_, options_.places);
  if (!list) {
    // Damaged: everything is compared again.
    return BeginPartial(mark_->history);
  }
  for (const CheckpointFile& file : list->files) {
    ASSIGN_OR_RETURN(const auto size, SizeHere(env_, PathOf(file)));
    if (!size || *size < file.length) return BeginPartial(mark_->history);
    if (*size > file.length) RETURN_IF_ERROR(CutFile(env_, PathOf(file), file.length));
  }
  RETURN_IF_ERROR(RemoveOthers(*list));
  sequence_ = list->sequence;
  return {};
}

// From here to the end of the next whole pass no crawl can begin here.
Status CopyTarget::BeginPartial(uint64_t history) {
  sequence_ = 0;
  mark_ = CopyMark{.whole = false, .history = history};
  RETURN_IF_ERROR(WriteCopyMark(env_, options_.dir, *mark_));
  ASSIGN_OR_RETURN(const auto names, env_.List(options_.places.state));
  for (const std::string& name : names) {
    if (IsManifestName(name)) RETURN_IF_ERROR(env_.Remove(JoinPath(options_.places.state, name)));
  }
  return SyncDirOnce(env_, options_.places.state);
}

Result<CopyAnswer> CopyTarget::AskFor(const CopyRequest& request, CopyAnswer::Kind wanted) {
  ASSIGN_OR_RETURN(const std::string bytes, ask_(EncodeCopyRequest(request)));
  auto answer = DecodeCopyAnswer(bytes);
  if (!answer) return Fail(ErrorCode::kUnsupported, "what came is not an answer to a copy, or of another version");
  if (answer->kind == wanted) return *std::move(answer);
  if (answer->kind == CopyAnswer::Kind::kGone) return Fail(ErrorCode::kBusy, "the crawl has a newer checkpoint");
  if (answer->kind == CopyAnswer::Kind::kFailed) {
    return Fail(ErrorCode::kClosed, "the machine that works on the crawl says: " + answer->bytes);
  }
  return Fail(ErrorCode::kUnsupported, "the machine that works on the crawl refuses the request: another version?");
}

Result<std::string> CopyTarget::ReadBytes(uint64_t index, uint64_t offset, uint64_t count) {
  ASSIGN_OR_RETURN(CopyAnswer answer, AskFor({.kind = CopyRequest::Kind::kRead,
                                              .sequence = asked_,
                                              .index = index,
                                              .offset = offset,
                                              .count = std::min(count, kMaxCopyRead)},
                                             CopyAnswer::Kind::kBytes));
  if (answer.bytes.empty() || answer.bytes.size() > count) {
    return Fail(ErrorCode::kUnsupported, "an answer has not the bytes that were asked for");
  }
  return std::move(answer.bytes);
}

Result<uint64_t> CopyTarget::List(CheckpointFiles& list) {
  uint64_t manifest_length = 0;
  uint64_t total = 1;
  asked_ = 0;
  const auto bad = [] { return Fail(ErrorCode::kUnsupported, "a list of files contradicts itself"); };
  while (list.files.size() < total) {
    ASSIGN_OR_RETURN(const CopyAnswer answer,
                     AskFor({.kind = CopyRequest::Kind::kList, .sequence = asked_, .index = list.files.size()},
                            CopyAnswer::Kind::kList));
    if (asked_ == 0) {
      asked_ = answer.sequence;
      asked_history_ = answer.history;
      manifest_length = answer.manifest_length;
      total = answer.total;
    }
    if (answer.sequence != asked_ || asked_ == 0 || answer.total != total || answer.history != asked_history_ ||
        asked_history_ == 0) {
      return bad();
    }
    if (answer.files.empty() && list.files.size() < total) return bad();
    for (const CheckpointFile& file : answer.files) {
      const bool rises = list.files.empty() ||
                         std::pair(list.files.back().place, list.files.back().name) < std::pair(file.place, file.name);
      if (!rises || options_.places.Dir(file.place) == nullptr ||
          !IsCrawlFile(options_.places, file.place, file.name) || IsManifestName(file.name)) {
        return bad();
      }
      list.files.push_back(file);
    }
  }
  if (list.files.size() != total) return bad();
  list.sequence = asked_;
  RETURN_IF_ERROR(ReadManifest(manifest_length, list));
  return asked_history_;
}

Status CopyTarget::ReadManifest(uint64_t length, CheckpointFiles& list) {
  while (list.manifest.size() < length) {
    ASSIGN_OR_RETURN(const std::string piece,
                     ReadBytes(list.files.size(), list.manifest.size(), length - list.manifest.size()));
    list.manifest += piece;
  }
  ASSIGN_OR_RETURN(const ParsedManifest parsed, ParseManifest(list.manifest, "the manifest that was sent"));
  if (parsed.sequence == list.sequence) return {};
  return Fail(ErrorCode::kUnsupported, "the manifest that was sent is of another checkpoint");
}

Result<uint64_t> CopyTarget::EqualBytes(const CheckpointFile& file, uint64_t index, File& mine, CopyPass& pass) {
  const uint64_t size = std::min(mine.Size(), file.length);
  uint64_t equal = 0;
  std::string piece;
  while (equal < size) {
    ASSIGN_OR_RETURN(const CopyAnswer answer, AskFor({.kind = CopyRequest::Kind::kSums,
                                                      .sequence = asked_,
                                                      .index = index,
                                                      .offset = equal / kCopyPiece,
                                                      .count = kMaxCopySums},
                                                     CopyAnswer::Kind::kSums));
    if (answer.sums.empty()) return equal;
    for (const uint64_t sum : answer.sums) {
      // The last piece counts only if it is whole on both sides: it is cut where the source's file ends.
      piece.resize(std::min(kCopyPiece, file.length - equal));
      if (equal + piece.size() > size) return equal;
      RETURN_IF_ERROR(ReadExactly(mine, equal, piece.data(), piece.size()));
      pass.compared += piece.size();
      if (Hash64(piece, asked_history_) != sum) return equal;
      equal += piece.size();
      if (equal == size) break;
    }
  }
  return equal;
}

Status CopyTarget::CopyFile(const CheckpointFiles& list, uint64_t index, CopyPass& pass) {
  const CheckpointFile& file = list.files[index];
  const std::string path = PathOf(file);
  ASSIGN_OR_RETURN(const auto before, SizeHere(env_, path));
  const bool trusted = mark_->whole;
  if (trusted && before && *before >= file.length) return {};
  ASSIGN_OR_RETURN(const auto mine, env_.Open(path, OpenMode::kAppend));
  uint64_t have = mine->Size();
  if (!trusted && have > 0) {
    ASSIGN_OR_RETURN(have, EqualBytes(file, index, *mine, pass));
    if (have < mine->Size()) RETURN_IF_ERROR(mine->Truncate(have));
  }
  while (have < file.length) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(index, have, file.length - have));
    RETURN_IF_ERROR(mine->Append(bytes));
    have += bytes.size();
    pass.bytes += bytes.size();
  }
  return SyncOnce(*mine);
}

Status CopyTarget::RemoveOthers(const CheckpointFiles& list) {
  for (uint32_t place = 0; place < options_.places.count(); ++place) {
    const std::string* const dir = options_.places.Dir(place);
    if (dir == nullptr) continue;
    ASSIGN_OR_RETURN(const auto names, env_.List(*dir));
    bool removed = false;
    for (const std::string& name : names) {
      const bool newest = place == CrawlPlaces::kStatePlace && name == ManifestName(list.sequence);
      if (newest || !IsCrawlFile(options_.places, place, name) || FindFile(list, place, name) != nullptr) continue;
      RETURN_IF_ERROR(env_.Remove(JoinPath(*dir, name)));
      removed = true;
    }
    if (removed) RETURN_IF_ERROR(SyncDirOnce(env_, *dir));
  }
  return {};
}

Result<CopyPass> CopyTarget::Run() {
  CheckpointFiles list;
  ASSIGN_OR_RETURN(const uint64_t history, List(list));
  CopyPass pass{.sequence = list.sequence, .bytes = 0, .compared = 0, .files = list.files.size()};
  const bool known = mark_ == CopyMark{.whole = true, .history = history};
  if (!known || sequence_ != list.sequence) {
    if (!known) RETURN_IF_ERROR(BeginPartial(history));
    for (uint64_t i = 0; i < list.files.size(); ++i) RETURN_IF_ERROR(CopyFile(list, i, pass));
    for (uint32_t place = 0; place < options_.places.count(); ++place) {
      if (options_.places.Dir(place) != nullptr) RETURN_IF_ERROR(SyncDirOnce(env_, *options_.places.Dir(place)));
    }
    RETURN_IF_ERROR(ReplaceFile(env_, JoinPath(options_.places.state, ManifestName(list.sequence)), list.manifest));
    if (!known) {
      const CopyMark whole{.whole = true, .history = history};
      RETURN_IF_ERROR(WriteCopyMark(env_, options_.dir, whole));
      mark_ = whole;
    }
    sequence_ = list.sequence;
    RETURN_IF_ERROR(RemoveOthers(list));
  }
  RETURN_IF_ERROR(AskFor({.kind = CopyRequest::Kind::kHave, .sequence = list.sequence}, CopyAnswer::Kind::kNoted));
  return pass;
}

}  // namespace portolan
