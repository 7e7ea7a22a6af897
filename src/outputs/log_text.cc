#include "outputs/log_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace portolan {
namespace {

constexpr size_t kPiece = size_t{256} << 10;

ByteSource SourceOf(File& file, std::optional<uint64_t> length, uint64_t begin) {
  return [&file, length, begin](uint64_t offset, char* to, size_t count) -> Result<size_t> {
    offset += begin;
    if (length) count = std::min<uint64_t>(count, *length - std::min(*length, offset));
    if (count == 0) return size_t{0};
    return file.ReadAt(offset, to, count);
  };
}

}  // namespace

LogText::LogText(std::unique_ptr<File> file, std::optional<uint64_t> length, uint64_t begin)
    : file_(std::move(file)), stream_(SourceOf(*file_, length, begin), 0, [this](const Fault& fault) {
        if (fault_.empty()) fault_ = fmt::format("{}: at {}: {}", file_->path(), fault.offset, fault.detail);
      }) {}

Result<std::unique_ptr<LogText>> LogText::Open(Env& env, const LogFilePath& file, std::optional<uint64_t> length,
                                               uint64_t begin) {
  ASSIGN_OR_RETURN(std::unique_ptr<File> opened, env.Open(file.path, OpenMode::kRead));
  if (!file.packed) return std::unique_ptr<LogText>(new LogText(std::move(opened), length, begin));
  std::unique_ptr<LogText> text(new LogText(std::move(opened), std::nullopt, 0));
  while (begin > 0) {
    ASSIGN_OR_RETURN(const std::string_view bytes, text->Next());
    if (bytes.empty()) return Fail(ErrorCode::kCorrupt, fmt::format("{}: its text is too short", file.path));
    text->given_ = std::min<uint64_t>(begin, bytes.size());  // the rest of it comes again
    begin -= text->given_;
  }
  return text;
}

Result<std::string_view> LogText::Next() {
  stream_.Consume(given_);
  given_ = 0;
  ASSIGN_OR_RETURN(const std::string_view bytes, stream_.Peek(kPiece));
  if (!fault_.empty()) return Fail(ErrorCode::kCorrupt, fault_);
  given_ = bytes.size();
  return bytes;
}

Result<bool> ForEachLineOf(LogText& text, size_t longest, const std::function<bool(std::string_view line)>& each) {
  std::string rest;       // the beginning of a line whose end has not come
  bool skipping = false;  // likewise, of one that is too long
  for (;;) {
    ASSIGN_OR_RETURN(std::string_view piece, text.Next());
    if (piece.empty()) return true;
    for (size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      const std::string_view tail = piece.substr(0, end);
      piece.remove_prefix(end + 1);
      if (!rest.empty()) rest += tail;
      const std::string_view line = rest.empty() ? tail : std::string_view(rest);
      const bool wanted = !skipping && line.size() <= longest;
      skipping = false;
      if (wanted && !each(line)) return false;
      rest.clear();
    }
    if (!skipping) rest += piece;
    if (rest.size() <= longest) continue;
    rest.clear();
    skipping = true;
  }
}

}  // namespace portolan
