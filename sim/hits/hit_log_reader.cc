#include "sim/hits/hit_log_reader.h"

#include <fmt/core.h>

#include <utility>

namespace portolan::sim {

Result<std::unique_ptr<HitLogReader>> HitLogReader::Open(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, env.Open(path, OpenMode::kRead));
  auto reader = std::unique_ptr<HitLogReader>(new HitLogReader(std::move(file)));
  ASSIGN_OR_RETURN(const auto line, reader->Line());
  const auto header = line ? ParseHeaderLine(*line) : std::nullopt;
  if (!header) return Fail(ErrorCode::kCorrupt, fmt::format("{}:1: not the first line of a hit log", path));
  if (header->version != HitLogHeader::kVersion) {
    return Fail(ErrorCode::kUnsupported, fmt::format("{}: a hit log of version {}", path, header->version));
  }
  reader->header_ = *header;
  return reader;
}

Result<std::optional<std::string_view>> HitLogReader::Line() {
  size_t searched = at_;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end + 1;
      ++line_number_;
      return line;
    }
    buffer_.erase(0, at_);
    at_ = 0;
    const size_t kept = buffer_.size();
    searched = kept;
    if (kept == kBufferBytes) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: a line without end", file_->path(), line_number_ + 1));
    }
    buffer_.resize(kBufferBytes);
    const auto count = file_->ReadAt(offset_, buffer_.data() + kept, kBufferBytes - kept);
    buffer_.resize(kept + count.value_or(0));
    if (!count) return std::unexpected(count.error());
    if (*count == 0) return std::nullopt;
    offset_ += *count;
  }
}

Result<const HitEvent*> HitLogReader::Next() {
  ASSIGN_OR_RETURN(const auto line, Line());
  if (!line) return nullptr;
  const auto event = ParseEventLine(*line, scratch_);
  if (!event) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: not a line of a hit log", file_->path(), line_number_));
  }
  event_ = *event;
  return &event_;
}

}  // namespace portolan::sim
