#include "follow/graph_current.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::string_view kCurrentMagic = "PORTOLAN-GRAPH ";

// The words of a line, which ends with '\n'.
class CurrentLines {
 public:
  explicit CurrentLines(std::string_view text) : rest_(text) {}

  bool Word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool Number(uint64_t& number, int base = 10) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool Field(std::string_view name, uint64_t& number) { return Word(name) && Number(number) && Word("\n"); }
  // Up to the blank, which is taken, too.
  bool Name(std::string& name) {
    const size_t end = rest_.find(' ');
    if (end == std::string_view::npos || end == 0) return false;
    name = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return name.find_first_of("/\n") == std::string::npos;
  }
  bool Positions(OutputPositions& positions) { return TakePositionLines(rest_, positions); }
  bool at(std::string_view word) const { return rest_.starts_with(word); }

 private:
  std::string_view rest_;
};

}  // namespace

const GraphCurrent::FileEntry* GraphCurrent::Find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &FileEntry::name);
  return found == files.end() ? nullptr : &*found;
}

std::string GraphCurrent::ToText() const {
  // Version 2 has the positions of several shards.
  const bool one = positions.OfOneCrawl();
  const OutputPosition position = positions.Of("");
  const std::string read =
      one ? fmt::format("serial {}\noffset {}\n", position.serial, position.offset) : PositionLines(positions);
  std::string text =
      fmt::format("{}{}\ngeneration {}\nimported {}\n{}records {}\nlinks {}\nleft-out {}\n", kCurrentMagic, one ? 1 : 2,
                  generation, imported ? 1 : 0, read, records, links, left_out);
  for (const FileEntry& file : files) text += fmt::format("file {} {} {:08x}\n", file.name, file.size, file.crc);
  return text + fmt::format("crc32c {:08x}\n", Crc32c(text));
}

Result<GraphCurrent> GraphCurrent::Parse(std::string_view text, const std::string& path) {
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}; remove the folder and build the graph again", path, what));
  };
  if (!text.starts_with(kCurrentMagic)) return corrupt("not the file of a link graph");
  GraphCurrent current;
  CurrentLines lines(text.substr(kCurrentMagic.size()));
  uint64_t version = 0;
  if (!lines.Field("", version) || version < 1 || version > 2) {
    return Fail(ErrorCode::kUnsupported, fmt::format("{}: a link graph of another version than 1 and 2", path));
  }
  uint64_t imported = 0;
  const auto read_positions = [&] {
    if (version == 2) return lines.Positions(current.positions);
    OutputPosition one;
    const bool read = lines.Field("serial ", one.serial) && lines.Field("offset ", one.offset);
    if (one != OutputPosition{}) current.positions.shards[""] = one;
    return read;
  };
  if (!lines.Field("generation ", current.generation) || !lines.Field("imported ", imported) || !read_positions() ||
      !lines.Field("records ", current.records) || !lines.Field("links ", current.links) ||
      !lines.Field("left-out ", current.left_out)) {
    return corrupt("its numbers cannot be read");
  }
  current.imported = imported != 0;
  while (lines.at("file ")) {
    FileEntry file;
    uint64_t crc = 0;
    if (!lines.Word("file ") || !lines.Name(file.name) || !lines.Number(file.size) || !lines.Word(" ") ||
        !lines.Number(crc, 16) || !lines.Word("\n") || crc > UINT32_MAX) {
      return corrupt("its list of files cannot be read");
    }
    file.crc = static_cast<uint32_t>(crc);
    current.files.push_back(std::move(file));
  }
  if (current.ToText() != text) return corrupt("its checksum is wrong");
  return current;
}

Result<GraphCurrent> GraphCurrent::Load(Env& env, const std::string& dir) {
  const std::string path = JoinPath(dir, kGraphCurrent);
  if (!env.Exists(path)) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no link graph; 'portolan graph build' makes one", dir));
  }
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  std::string text(std::min<uint64_t>(file->Size(), kMaxCurrent), '\0');
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, text.data(), text.size()));
  text.resize(got);
  return Parse(text, path);
}

Status GraphCurrent::Save(Env& env, const std::string& dir) const {
  return ReplaceFile(env, JoinPath(dir, kGraphCurrent), ToText());
}

std::string GraphFilePath(const std::string& dir, uint64_t generation, std::string_view name) {
  return JoinPath(dir, fmt::format("gen-{}-{}", generation, name));
}

}  // namespace portolan
