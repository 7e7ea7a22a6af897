#include "follow/export_file.h"

#include <fmt/core.h>
#include <zlib.h>

#include <new>
#include <utility>

#include "base/check.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::unexpected<Error> ExistsAlready(const std::string& path) {
  return Fail(ErrorCode::kExists, fmt::format("{}: this file exists already; --force replaces it", path));
}

}  // namespace

struct ExportFile::Deflate {
  Deflate() {
    constexpr int kGzip = 15 + 16;
    constexpr int kMemory = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflate() { deflateEnd(&stream); }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;
  z_stream stream{};
};

ExportFile::ExportFile() = default;
ExportFile::ExportFile(ExportFile&& other) noexcept
    : env_(other.env_),
      sink_(std::move(other.sink_)),
      file_(std::move(other.file_)),
      deflate_(std::move(other.deflate_)),
      path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      replace_(other.replace_),
      buffer_(std::move(other.buffer_)),
      packed_(std::move(other.packed_)),
      written_(other.written_) {}

ExportFile::~ExportFile() {
  file_.reset();
  // What cannot be removed stays under a name that says what it is.
  if (!part_.empty()) static_cast<void>(env_->Remove(part_));
}

Result<ExportFile> ExportFile::Create(Env& env, const std::string& path, bool replace) {
  if (path.empty() || path.ends_with('/')) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not the name of a file", path));
  }
  if (!replace && env.Exists(path)) return ExistsAlready(path);
  if (!env.Exists(DirName(path))) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no such directory; make it first", DirName(path)));
  }
  ASSIGN_OR_RETURN(Rng rng, Rng::FromSystem());
  ExportFile made;
  made.env_ = &env;
  made.path_ = path;
  made.replace_ = replace;
  const std::string part = fmt::format("{}.{:016x}.part", path, rng.Next());
  ASSIGN_OR_RETURN(made.file_, env.Open(part, OpenMode::kCreate));
  made.part_ = part;
  if (path.ends_with(".gz")) made.deflate_ = std::make_unique<Deflate>();
  return made;
}

ExportFile ExportFile::To(Sink sink) {
  ExportFile made;
  made.sink_ = std::move(sink);
  return made;
}

Status ExportFile::Write(std::string_view bytes) {
  if (bytes.empty()) return {};
  written_ += bytes.size();
  return file_ ? file_->Append(bytes) : sink_(bytes);
}

Status ExportFile::Pack(std::string_view bytes, bool last) {
  z_stream& stream = deflate_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  packed_.resize(kBuffer);
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed_.data());
    stream.avail_out = static_cast<uInt>(packed_.size());
    CHECK(deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR, "zlib was used wrongly");
    RETURN_IF_ERROR(Write(std::string_view(packed_).substr(0, packed_.size() - stream.avail_out)));
  } while (stream.avail_out == 0);
  return {};
}

Status ExportFile::Flush() {
  // In pieces that zlib's counts can hold, however long one line is.
  for (std::string_view rest = buffer_; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kBuffer);
    RETURN_IF_ERROR(deflate_ ? Pack(piece, false) : Write(piece));
    rest.remove_prefix(piece.size());
  }
  buffer_.clear();
  return {};
}

Status ExportFile::Seal() {
  RETURN_IF_ERROR(Flush());
  if (deflate_) RETURN_IF_ERROR(Pack({}, true));
  deflate_.reset();
  return file_ ? SyncOnce(*file_) : Status();
}

Status ExportFile::Publish() {
  if (!file_) return {};
  file_.reset();
  if (!replace_ && env_->Exists(path_)) return ExistsAlready(path_);  // made meanwhile
  RETURN_IF_ERROR(env_->Rename(part_, path_));
  part_ = path_;  // removed after all, if the name cannot be made durable
  RETURN_IF_ERROR(SyncDirOnce(*env_, DirName(path_)));
  part_.clear();
  return {};
}

}  // namespace portolan
