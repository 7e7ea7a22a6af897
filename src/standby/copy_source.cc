#include "standby/copy_source.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/log.h"

namespace portolan {
namespace {

constexpr int kListAttempts = 10;  // a checkpoint between listing and holding is rare

CopyAnswer FailedAnswer(const Error& error) {
  CopyAnswer answer{.kind = CopyAnswer::Kind::kFailed, .files = {}, .sums = {}, .bytes = error.message()};
  answer.bytes.resize(std::min<size_t>(answer.bytes.size(), kMaxCopyRead));
  return answer;
}

CopyAnswer Plain(CopyAnswer::Kind kind) { return {.kind = kind, .files = {}, .sums = {}, .bytes = {}}; }

}  // namespace

CopySource::~CopySource() { Release(); }

void CopySource::Release() {
  listed_ = {};
  const Status released = env_.Hold({});
  if (released) return;
  Log(LogLevel::kWarn, "files that a copy needed could not be removed", {{"why", released.error().message()}});
}

std::string CopySource::PathOf(const CheckpointFile& file) const {
  return JoinPath(*options_.places.Dir(file.place), file.name);
}

std::string CopySource::Answer(std::string_view request) {
  const auto decoded = DecodeCopyRequest(request);
  if (!decoded) return EncodeCopyAnswer(Plain(CopyAnswer::Kind::kRefused));
  asked_ns_ = clock_.NowNs();
  switch (decoded->kind) {
    case CopyRequest::Kind::kList:
      return EncodeCopyAnswer(List(*decoded));
    case CopyRequest::Kind::kRead:
      return EncodeCopyAnswer(Read(*decoded));
    case CopyRequest::Kind::kSums:
      return EncodeCopyAnswer(Sums(*decoded));
    case CopyRequest::Kind::kHave:
      return EncodeCopyAnswer(Have(*decoded));
  }
  return EncodeCopyAnswer(Plain(CopyAnswer::Kind::kRefused));
}

void CopySource::Tick() {
  if (listed_.sequence == 0 || clock_.NowNs() - asked_ns_ < options_.patience_ns) return;
  Release();
}

// Lists, holds, and looks whether all is still there: a checkpoint may have removed a file in between.
Status CopySource::ListNewest() {
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(CheckpointFiles files, ListCheckpoint(env_, options_.places));
    std::set<std::string> paths;
    for (const CheckpointFile& file : files.files) paths.insert(PathOf(file));
    const bool same = files.sequence == listed_.sequence;
    RETURN_IF_ERROR(env_.Hold(paths));
    if (same || std::ranges::all_of(paths, [this](const std::string& path) { return env_.Exists(path); })) {
      listed_ = std::move(files);
      return {};
    }
    if (attempt == kListAttempts) {
      return Fail(ErrorCode::kBusy, "checkpoints come faster than their files can be listed");
    }
  }
}

CopyAnswer CopySource::List(const CopyRequest& request) {
  if (options_.on_list) options_.on_list();
  if (request.sequence == 0) {
    if (const Status listed = ListNewest(); !listed) return FailedAnswer(listed.error());
  } else if (!Holds(request.sequence)) {
    return Plain(CopyAnswer::Kind::kGone);
  }
  CopyAnswer answer{.kind = CopyAnswer::Kind::kList,
                    .history = options_.history,
                    .sequence = listed_.sequence,
                    .manifest_length = listed_.manifest.size(),
                    .total = listed_.files.size(),
                    .files = {},
                    .sums = {},
                    .bytes = {}};
  uint64_t bytes = 0;
  for (uint64_t i = request.index; i < listed_.files.size() && bytes < kMaxCopyListBytes; ++i) {
    answer.files.push_back(listed_.files[i]);
    bytes += listed_.files[i].name.size() + 16;
  }
  return answer;
}

CopyAnswer CopySource::Read(const CopyRequest& request) {
  if (!Holds(request.sequence)) return Plain(CopyAnswer::Kind::kGone);
  if (request.index > listed_.files.size() || request.count > kMaxCopyRead) return Plain(CopyAnswer::Kind::kRefused);
  CopyAnswer answer = Plain(CopyAnswer::Kind::kBytes);
  if (request.index == listed_.files.size()) {
    if (request.offset > listed_.manifest.size()) return Plain(CopyAnswer::Kind::kRefused);
    answer.bytes = listed_.manifest.substr(request.offset, request.count);
    return answer;
  }
  const CheckpointFile& file = listed_.files[request.index];
  if (request.offset > file.length) return Plain(CopyAnswer::Kind::kRefused);
  const auto opened = env_.Open(PathOf(file), OpenMode::kRead);
  if (!opened) return FailedAnswer(opened.error());
  answer.bytes.resize(std::min(request.count, file.length - request.offset));
  const Status read = ReadExactly(**opened, request.offset, answer.bytes.data(), answer.bytes.size());
  return read ? answer : FailedAnswer(read.error());
}

CopyAnswer CopySource::Sums(const CopyRequest& request) {
  if (!Holds(request.sequence)) return Plain(CopyAnswer::Kind::kGone);
  if (request.index >= listed_.files.size() || request.count > kMaxCopySums) {
    return Plain(CopyAnswer::Kind::kRefused);
  }
  const CheckpointFile& file = listed_.files[request.index];
  if (request.offset > file.length / kCopyPiece) return Plain(CopyAnswer::Kind::kRefused);
  const auto opened = env_.Open(PathOf(file), OpenMode::kRead);
  if (!opened) return FailedAnswer(opened.error());
  CopyAnswer answer = Plain(CopyAnswer::Kind::kSums);
  std::string piece;
  for (uint64_t i = 0; i < request.count && (request.offset + i) * kCopyPiece < file.length; ++i) {
    const uint64_t at = (request.offset + i) * kCopyPiece;
    piece.resize(std::min(kCopyPiece, file.length - at));
    if (const Status read = ReadExactly(**opened, at, piece.data(), piece.size()); !read) {
      return FailedAnswer(read.error());
    }
    answer.sums.push_back(Hash64(piece, options_.history));
  }
  return answer;
}

CopyAnswer CopySource::Have(const CopyRequest& request) {
  if (!Holds(request.sequence)) return Plain(CopyAnswer::Kind::kGone);
  have_ = request.sequence;
  if (options_.on_have) options_.on_have(listed_);
  return Plain(CopyAnswer::Kind::kNoted);
}

}  // namespace portolan
