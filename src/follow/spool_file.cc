#include "follow/spool_file.h"

#include <fmt/core.h>

#include <cstring>

#include "io/rng.h"

namespace portolan {

Result<SpoolFile> SpoolFile::Make(Env& env, const std::string& dir, std::string_view what) {
  ASSIGN_OR_RETURN(Rng rng, Rng::FromSystem());
  const std::string path = JoinPath(dir, fmt::format("tmp-{}-{:016x}", what, rng.Next()));
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kCreate));
  RETURN_IF_ERROR(env.Remove(path));
  return SpoolFile(std::move(file));
}

Status SpoolFile::Flush() {
  if (buffer_.empty()) return {};
  RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return {};
}

Status SpoolReader::Fill(size_t count) {
  const size_t left = filled_ - next_;
  const size_t wanted = std::max(size_, count);
  if (capacity_ < wanted) {
    std::unique_ptr<char[]> larger(new char[wanted]);
    if (left > 0) std::memcpy(larger.get(), buffer_.get() + next_, left);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (left > 0) {
    std::memmove(buffer_.get(), buffer_.get() + next_, left);
  }
  next_ = 0;
  filled_ = left;
  const size_t more = static_cast<size_t>(std::min<uint64_t>(capacity_ - left, end_ - at_));
  RETURN_IF_ERROR(ReadExactly(*file_, at_, buffer_.get() + left, more));
  at_ += more;
  filled_ += more;
  return {};
}

std::unexpected<Error> SpoolBroken(const char* what) {
  return Fail(ErrorCode::kCorrupt, fmt::format("a temporary file of the graph's build has a broken {}", what));
}

}  // namespace portolan
