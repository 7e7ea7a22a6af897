#include "outputs/line_sort.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <queue>
#include <string_view>
#include <vector>

namespace portolan {
namespace {

constexpr size_t kSmallestMemory = size_t{64} << 10;

class LineReader {
 public:
  static Result<std::unique_ptr<LineReader>> Open(Env& env, const std::string& path, uint64_t length, size_t buffer) {
    ASSIGN_OR_RETURN(std::unique_ptr<File> file, env.Open(path, OpenMode::kRead));
    return std::unique_ptr<LineReader>(new LineReader(std::move(file), length, buffer));
  }

  // The next line into line(), without its end. False at the end of the file.
  Result<bool> Next() {
    for (;;) {
      const size_t end = buffer_.find('\n', search_);
      if (end != std::string::npos && end < filled_) {
        line_ = std::string_view(buffer_).substr(at_, end - at_);
        at_ = end + 1;
        search_ = at_;
        return true;
      }
      search_ = filled_;
      if (offset_ == length_) {
        if (at_ == filled_) return false;
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: ends inside a line", file_->path()));
      }
      RETURN_IF_ERROR(Fill());
    }
  }

  std::string_view line() const { return line_; }  // until Next

 private:
  LineReader(std::unique_ptr<File> file, uint64_t length, size_t buffer)
      : file_(std::move(file)), length_(std::min(length, file_->Size())), buffer_(buffer, '\0') {}

  Status Fill() {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(at_), buffer_.begin() + static_cast<ptrdiff_t>(filled_),
              buffer_.begin());
    filled_ -= at_;
    search_ -= at_;
    at_ = 0;
    if (filled_ == buffer_.size()) {
      if (buffer_.size() >= kMaxLine) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: a line over {} bytes", file_->path(), kMaxLine));
      }
      buffer_.resize(2 * buffer_.size());
    }
    const size_t count = std::min<uint64_t>(buffer_.size() - filled_, length_ - offset_);
    RETURN_IF_ERROR(ReadExactly(*file_, offset_, buffer_.data() + filled_, count));
    offset_ += count;
    filled_ += count;
    return {};
  }

  std::unique_ptr<File> file_;
  const uint64_t length_;
  uint64_t offset_ = 0;
  std::string buffer_;
  size_t at_ = 0;
  size_t search_ = 0;
  size_t filled_ = 0;
  std::string_view line_;
};

class LineWriter {
 public:
  static Result<LineWriter> Make(Env& env, const std::string& path) {
    ASSIGN_OR_RETURN(std::unique_ptr<File> file, env.Open(path, OpenMode::kCreate));
    return LineWriter(std::move(file));
  }

  Status Add(std::string_view line) {
    buffer_ += line;
    buffer_ += '\n';
    return buffer_.size() < kLineBuffer ? Status() : Flush();
  }

  Status Finish(bool sync) {
    RETURN_IF_ERROR(Flush());
    return sync ? SyncOnce(*file_) : Status();
  }

 private:
  explicit LineWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Status Flush() {
    RETURN_IF_ERROR(file_->Append(buffer_));
    buffer_.clear();
    return {};
  }

  std::unique_ptr<File> file_;
  std::string buffer_;
};

Status WriteSorted(Env& env, std::vector<std::string_view>& lines, const std::string& path, bool sync) {
  std::ranges::sort(lines);
  ASSIGN_OR_RETURN(LineWriter writer, LineWriter::Make(env, path));
  for (const std::string_view line : lines) RETURN_IF_ERROR(writer.Add(line));
  return writer.Finish(sync);
}

Status MergeTo(Env& env, std::span<const std::string> inputs, const std::string& path, bool sync) {
  std::vector<std::unique_ptr<LineReader>> readers;
  const auto later = [&](size_t a, size_t b) {
    const int order = readers[a]->line().compare(readers[b]->line());
    return order != 0 ? order > 0 : a > b;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (const std::string& input : inputs) {
    ASSIGN_OR_RETURN(auto reader, LineReader::Open(env, input, UINT64_MAX, kLineBuffer));
    readers.push_back(std::move(reader));
    ASSIGN_OR_RETURN(const bool more, readers.back()->Next());
    if (more) next.push(readers.size() - 1);
  }
  ASSIGN_OR_RETURN(LineWriter writer, LineWriter::Make(env, path));
  while (!next.empty()) {
    const size_t first = next.top();
    next.pop();
    RETURN_IF_ERROR(writer.Add(readers[first]->line()));
    ASSIGN_OR_RETURN(const bool more, readers[first]->Next());
    if (more) next.push(first);
  }
  return writer.Finish(sync);
}

Status PutInPlace(Env& env, const std::string& from, const std::string& output) {
  RETURN_IF_ERROR(env.Rename(from, output));
  return SyncDirOnce(env, DirName(output));
}

// Merges until one file is left, and puts that in place. Those in `runs` are ours and are removed.
Status MergeAll(Env& env, std::deque<std::string> inputs, std::deque<std::string> runs, const std::string& output) {
  size_t serial = runs.size();
  while (inputs.size() > kMergeFanIn) {
    const std::vector<std::string> group(inputs.begin(), inputs.begin() + kMergeFanIn);
    inputs.erase(inputs.begin(), inputs.begin() + kMergeFanIn);
    const std::string merged = fmt::format("{}.tmp.{}", output, serial++);
    RETURN_IF_ERROR(MergeTo(env, group, merged, /*sync=*/false));
    for (const std::string& name : group) {
      if (std::erase(runs, name) > 0) RETURN_IF_ERROR(env.Remove(name));
    }
    inputs.push_back(merged);
    runs.push_back(merged);
  }
  const std::vector<std::string> rest(inputs.begin(), inputs.end());
  RETURN_IF_ERROR(MergeTo(env, rest, output + ".tmp", /*sync=*/true));
  RETURN_IF_ERROR(PutInPlace(env, output + ".tmp", output));
  for (const std::string& name : runs) RETURN_IF_ERROR(env.Remove(name));
  return {};
}

}  // namespace

Status SortLines(Env& env, const std::string& input, uint64_t length, const std::string& output, size_t memory) {
  memory = std::max(memory, kSmallestMemory);
  ASSIGN_OR_RETURN(auto reader, LineReader::Open(env, input, length, std::min(kLineBuffer, memory / 4)));
  std::string text;
  text.reserve(std::min<uint64_t>(length, memory / 2));
  std::vector<std::pair<size_t, size_t>> spans;  // offsets: text moves while it grows
  std::vector<std::string_view> lines;
  std::deque<std::string> runs;
  const auto sort_into = [&](const std::string& path, bool sync) {
    lines.clear();
    for (const auto& [begin, size] : spans) lines.push_back(std::string_view(text).substr(begin, size));
    return WriteSorted(env, lines, path, sync);
  };
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader->Next());
    if (!more) break;
    constexpr size_t kLineCost = sizeof(spans[0]) + sizeof(lines[0]);
    if (!spans.empty() && text.size() + reader->line().size() + (spans.size() + 1) * kLineCost > memory) {
      runs.push_back(fmt::format("{}.tmp.{}", output, runs.size()));
      RETURN_IF_ERROR(sort_into(runs.back(), /*sync=*/false));
      text.clear();
      spans.clear();
    }
    spans.emplace_back(text.size(), reader->line().size());
    text += reader->line();
  }
  if (runs.empty()) {
    RETURN_IF_ERROR(sort_into(output + ".tmp", /*sync=*/true));
    return PutInPlace(env, output + ".tmp", output);
  }
  runs.push_back(fmt::format("{}.tmp.{}", output, runs.size()));
  RETURN_IF_ERROR(sort_into(runs.back(), /*sync=*/false));
  std::string().swap(text);
  return MergeAll(env, runs, runs, output);
}

Status MergeLines(Env& env, std::span<const std::string> inputs, const std::string& output) {
  return MergeAll(env, {inputs.begin(), inputs.end()}, {}, output);
}

}  // namespace portolan
