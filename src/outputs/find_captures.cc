#include "outputs/find_captures.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "outputs/log_search.h"

namespace portolan {
namespace {

constexpr size_t kIndexPiece = size_t{64} << 10;

// The lines of an index, from any place.
class IndexLines {
 public:
  explicit IndexLines(File& file) : file_(file) {}

  // The first line that begins at or after `offset`; false: there is none. A line without an end is none.
  Result<bool> From(uint64_t offset) {
    at_ = offset;
    if (offset == 0) return Next();
    at_ = offset - 1;  // which is a line end if a line begins at `offset`
    return Next() ? Next() : Result<bool>(false);
  }

  // The line behind the last one.
  Result<bool> Next() {
    line_.clear();
    begin_ = at_;
    for (;;) {
      if (at_ < piece_at_ || at_ >= piece_at_ + piece_.size()) {
        piece_.resize(kIndexPiece);
        piece_at_ = at_;
        ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(at_, piece_.data(), kIndexPiece));
        piece_.resize(got);
        if (got == 0) return false;
      }
      const std::string_view rest = std::string_view(piece_).substr(at_ - piece_at_);
      const size_t end = rest.find('\n');
      if (line_.size() < kMaxLogLine) line_ += rest.substr(0, end);
      at_ += std::min(end, rest.size());
      if (end == std::string_view::npos) continue;
      ++at_;
      return true;
    }
  }

  std::string_view line() const { return line_; }
  uint64_t begin() const { return begin_; }

 private:
  File& file_;
  uint64_t at_ = 0;
  uint64_t begin_ = 0;
  uint64_t piece_at_ = 0;
  std::string piece_;
  std::string line_;
};

void Take(std::string_view text, const std::string& dir, std::vector<FoundCapture>& found) {
  if (found.size() >= kMaxFound) return;
  const auto line = ParseCdxj(text);
  if (!line) return;
  const std::string_view offset = line->Get("offset");
  const std::string_view name = line->Get("filename");
  FoundCapture capture{.timestamp = line->timestamp,
                       .url = std::string(line->Get("url")),
                       .digest = std::string(line->Get("digest")),
                       .path = JoinPath(dir, std::string(name)),
                       .revisit = line->Get("mime") == "warc/revisit"};
  const auto [end, error] = std::from_chars(offset.data(), offset.data() + offset.size(), capture.offset);
  // An index names files beside it.
  if (error != std::errc() || end != offset.data() + offset.size() || name.empty() || name.find('/') != name.npos)
    return;
  found.push_back(std::move(capture));
}

Status Search(Env& env, const std::string& path, const std::string& dir, const std::string& prefix, bool sorted,
              std::vector<FoundCapture>& found) {
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  IndexLines lines(*file);
  uint64_t low = 0;
  uint64_t high = sorted ? file->Size() : 0;  // the first line that is not before the prefix begins in [low, high]
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(const bool there, lines.From(middle));
    if (there && lines.line() < prefix) {
      low = lines.begin() + 1;
    } else {
      high = middle;
    }
  }
  ASSIGN_OR_RETURN(bool more, lines.From(low));
  while (more) {
    if (lines.line().starts_with(prefix)) {
      Take(lines.line(), dir, found);
    } else if (sorted) {
      break;
    }
    ASSIGN_OR_RETURN(more, lines.Next());
  }
  return {};
}

Status SearchDirectory(Env& env, const std::string& dir, const std::string& prefix, std::vector<FoundCapture>& found) {
  if (!env.Exists(dir)) return {};
  ASSIGN_OR_RETURN(std::vector<std::string> names, env.List(dir));
  std::ranges::sort(names);  // NAME.cdxj comes before NAME.cdxj.part
  std::string last;
  for (const std::string& name : names) {
    const bool sorted = name.ends_with(".cdxj");
    if ((!sorted && !name.ends_with(".cdxj.part")) || name == "index.cdxj") continue;
    const std::string stem = name.substr(0, name.find(".cdxj"));
    if (stem == last) continue;
    last = stem;
    Status searched = Search(env, JoinPath(dir, name), dir, prefix, sorted, found);
    if (!searched && searched.error().code() == ErrorCode::kNotFound && !sorted) {
      searched = Search(env, JoinPath(dir, stem + ".cdxj"), dir, prefix, true, found);
    }
    RETURN_IF_ERROR(searched);
  }
  return {};
}

}  // namespace

Result<std::vector<FoundCapture>> FindCaptures(Env& env, const std::vector<std::string>& dirs, std::string_view key,
                                               std::string_view url) {
  std::vector<FoundCapture> found;
  const std::string prefix = std::string(key) + " ";
  for (const std::string& dir : dirs) RETURN_IF_ERROR(SearchDirectory(env, dir, prefix, found));
  const auto same = [&](const FoundCapture& capture) { return capture.url == url; };
  if (std::ranges::any_of(found, same)) std::erase_if(found, [&](const auto& capture) { return !same(capture); });
  std::ranges::sort(found, [](const FoundCapture& a, const FoundCapture& b) {
    return std::tie(a.timestamp, a.path, a.offset) < std::tie(b.timestamp, b.path, b.offset);
  });
  return found;
}

const FoundCapture& CaptureAt(const std::vector<FoundCapture>& captures, std::string_view time) {
  std::string end(time);
  end.resize(14, '9');
  const auto after = std::ranges::upper_bound(captures, end, {}, &FoundCapture::timestamp);
  return after == captures.begin() ? captures.front() : *(after - 1);
}

}  // namespace portolan
