#include "index/index_current.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/crc32c.h"
#include "index/schema.h"
#include "io/remove_tree.h"

namespace portolan {
namespace {

constexpr std::string_view kIndexMagic = "PORTOLAN-INDEX ";
constexpr std::string_view kIndexFirstLine = "PORTOLAN-INDEX 1\n";
constexpr uint64_t kMostIndexCurrent = 64 << 10;

template <typename T>
bool TakeField(std::string_view& text, std::string_view key, T& number) {
  if (!text.starts_with(key)) return false;
  const auto [end, error] = std::from_chars(text.data() + key.size(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || !text.starts_with('\n')) return false;
  text.remove_prefix(1);
  return true;
}

// The generation of "gen-G-part-P"; 0: another name.
uint64_t GenerationOf(std::string_view name) {
  constexpr std::string_view kPrefix = "gen-";
  if (!name.starts_with(kPrefix)) return 0;
  uint64_t generation = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), generation);
  return error == std::errc() && std::string_view(end, name.data() + name.size()).starts_with("-part-") ? generation
                                                                                                        : 0;
}

}  // namespace

std::string RebuildAdvice(const std::string& index_dir) {
  return fmt::format("'portolan index build --rebuild {}' makes the index again", DirName(index_dir));
}

std::string IndexCurrent::ToText() const {
  const std::string text = fmt::format("{}schema {}\nparts {}\ngeneration {}\nbuilding {}\nbuilding-parts {}\n",
                                       kIndexFirstLine, schema, parts, generation, building, building_parts);
  return text + fmt::format("crc32c {:08x}\n", Crc32c(text));
}

Result<IndexCurrent> IndexCurrent::Parse(std::string_view text, const std::string& path) {
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}; {}", path, what, RebuildAdvice(DirName(path))));
  };
  if (!text.starts_with(kIndexMagic)) return corrupt("not the file of a search index");
  const auto unsupported = [&] {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{}: a search index of another version; {}", path, RebuildAdvice(DirName(path))));
  };
  if (!text.starts_with(kIndexFirstLine)) return unsupported();
  IndexCurrent current;
  std::string_view rest = text.substr(kIndexFirstLine.size());
  if (!TakeField(rest, "schema ", current.schema) || !TakeField(rest, "parts ", current.parts) ||
      !TakeField(rest, "generation ", current.generation) || !TakeField(rest, "building ", current.building) ||
      !TakeField(rest, "building-parts ", current.building_parts)) {
    return corrupt("its numbers cannot be read");
  }
  if (current.ToText() != text) return corrupt("its checksum is wrong");
  if (current.generation == 0 || current.parts == 0 || current.parts > kMostParts ||
      current.building_parts > kMostParts) {
    return corrupt("its numbers make no sense");
  }
  if (current.schema != kIndexSchema) return unsupported();
  return current;
}

Result<IndexCurrent> IndexCurrent::Load(Env& env, const std::string& index_dir) {
  const std::string path = JoinPath(index_dir, kIndexCurrent);
  if (!env.Exists(path)) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: there is no search index; 'portolan index build {}' makes one",
                                                  index_dir, DirName(index_dir)));
  }
  ASSIGN_OR_RETURN(const auto file, env.Open(path, OpenMode::kRead));
  std::string text(std::min<uint64_t>(file->Size(), kMostIndexCurrent), '\0');
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, text.data(), text.size()));
  text.resize(got);
  return Parse(text, path);
}

Status IndexCurrent::Save(Env& env, const std::string& index_dir) const {
  return ReplaceFile(env, JoinPath(index_dir, kIndexCurrent), ToText());
}

std::string IndexPartPath(const std::string& index_dir, uint64_t generation, uint32_t part) {
  return JoinPath(index_dir, fmt::format("gen-{}-part-{}", generation, part));
}

Result<std::vector<std::string>> IndexPartPaths(Env& env, const std::string& index_dir) {
  ASSIGN_OR_RETURN(const IndexCurrent current, IndexCurrent::Load(env, index_dir));
  std::vector<std::string> paths;
  for (uint32_t part = 0; part < current.parts; ++part) {
    paths.push_back(IndexPartPath(index_dir, current.generation, part));
  }
  return paths;
}

Status RemoveIndexLeftovers(Env& env, const std::string& index_dir, const IndexCurrent& current) {
  ASSIGN_OR_RETURN(const auto names, env.List(index_dir));
  for (const std::string& name : names) {
    const uint64_t generation = GenerationOf(name);
    const bool leftover = generation != 0 ? generation != current.generation && generation != current.building
                                          : name.starts_with("tmp-") || name.ends_with(".tmp");
    if (!leftover) continue;
    RETURN_IF_ERROR(RemoveTree(JoinPath(index_dir, name)));  // a database is a directory of Xapian's files
  }
  return {};
}

}  // namespace portolan
