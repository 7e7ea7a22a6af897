#include "archive/log_search.h"

#include <algorithm>
#include <vector>

#include "base/log.h"

namespace portolan {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

Result<std::vector<std::string>> LogFiles(Env& env, const std::string& dir) {
  std::vector<std::string> paths;
  if (!env.Exists(dir)) return paths;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));  // sorted: serials have leading zeros
  for (const std::string& name : names) {
    if (name.starts_with("crawl-") && name.ends_with(".jsonl")) paths.push_back(JoinPath(dir, name));
  }
  // More than 99,999 files: the longer name is the later one.
  std::stable_sort(paths.begin(), paths.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return paths;
}

}  // namespace

Result<uint64_t> LogBytes(Env& env, const std::string& dir) {
  uint64_t bytes = 0;
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, LogFiles(env, dir));
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
    bytes += file->Size();
  }
  return bytes;
}

Status ForEachLogLine(Env& env, const std::string& dir, std::string_view url,
                      const std::function<void(std::string_view line)>& each) {
  // Quotes within values are escaped, so this stands nowhere but at the key. Short enough to be searched for as bytes.
  const std::string needle = R"(","url":)" + JsonQuote(url) + R"(,"kind":)";
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, LogFiles(env, dir));
  std::string buffer;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
    buffer.clear();
    bool skipping = false;  // the rest of a line that is too long
    for (uint64_t offset = 0;;) {
      const size_t kept = buffer.size();
      buffer.resize(kept + kPiece);
      ASSIGN_OR_RETURN(const size_t read, file->ReadAt(offset, buffer.data() + kept, kPiece));
      buffer.resize(kept + read);
      if (read == 0) break;
      offset += read;
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
