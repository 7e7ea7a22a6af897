#include "outputs/log_search.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "outputs/log_file_name.h"
#include "outputs/log_text.h"

namespace portolan {
namespace {

using Files = std::map<uint64_t, LogFilePath>;

}  // namespace

Result<uint64_t> LogBytes(Env& env, const std::string& dir) {
  uint64_t bytes = 0;
  ASSIGN_OR_RETURN(const Files files, ListLogFiles(env, dir, kCrawlLogNames));
  for (const auto& [serial, log] : files) {
    ASSIGN_OR_RETURN(const auto file, env.Open(log.path, OpenMode::kRead));
    bytes += file->Size();
  }
  return bytes;
}

Status ForEachLogLine(Env& env, const std::string& dir, std::string_view url,
                      const std::function<void(std::string_view line)>& each) {
  // Quotes within values are escaped, so this text occurs only at the key. It is short enough to be searched for as
  // bytes.
  const std::string needle = R"(","url":)" + JsonQuote(url) + R"(,"kind":)";
  ASSIGN_OR_RETURN(const Files files, ListLogFiles(env, dir, kCrawlLogNames));
  std::string buffer;
  for (const auto& [serial, file] : files) {
    auto text = LogText::Open(env, file);
    if (!text && text.error().code() == ErrorCode::kNotFound && !file.packed) {
      // It was packed since the directory was read.
      text = LogText::Open(env, {.path = file.path + std::string(kPackedSuffix), .packed = true});
    }
    if (!text) return std::unexpected(text.error());
    buffer.clear();
    bool skipping = false;  // the rest of a line that is too long
    for (;;) {
      ASSIGN_OR_RETURN(const std::string_view piece, (*text)->Next());
      if (piece.empty()) break;
      buffer += piece;
      const size_t last = buffer.rfind('\n');
      if (last == std::string::npos) {
        if (buffer.size() > kMaxLogLine) {
          buffer.clear();
          skipping = true;
        }
        continue;
      }
      const std::string_view whole = std::string_view(buffer).substr(0, last + 1);
      size_t begin = skipping ? whole.find('\n') + 1 : 0;
      skipping = false;
      for (size_t at = whole.find(needle, begin); at != std::string_view::npos; at = whole.find(needle, begin)) {
        const size_t newline = whole.rfind('\n', at);
        begin = std::max(begin, newline == std::string_view::npos ? 0 : newline + 1);
        const size_t end = whole.find('\n', at);
        each(whole.substr(begin, end - begin));
        begin = end + 1;
      }
      buffer.erase(0, last + 1);
    }
  }
  return {};
}

}  // namespace portolan
