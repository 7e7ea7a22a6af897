#include "index/index_current.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/crc32c.h"
#include "index/schema.h"
#include "io/remove_tree.h"

namespace portolan {
namespace {

constexpr std::string_view kIndexMagic = "PORTOLAN-INDEX ";
constexpr std::string_view kShardLine = "shard ";
constexpr std::string_view kBuildingShardLine = "building-shard ";
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

// Lines "KEY NAME", from the front of `text`.
bool TakeNames(std::string_view& text, std::string_view key, std::vector<std::string>& names) {
  while (text.starts_with(key)) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    names.emplace_back(text.substr(key.size(), end - key.size()));
    if (names.back().empty() || names.back().find('/') != std::string::npos) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

// "gen-G-part-P", "gen-G-shard-03-part-P".
bool IsPartName(std::string_view name) { return name.starts_with("gen-") && name.find("-part-") != name.npos; }

}  // namespace

std::string RebuildAdvice(const std::string& index_dir) {
  return fmt::format("'portolan index build --rebuild {}' makes the index again", DirName(index_dir));
}

std::string IndexCurrent::ToText() const {
  // Version 2 names shards.
  const int version = shards.empty() && building_shards.empty() ? 1 : 2;
  std::string text = fmt::format("{}{}\nschema {}\nparts {}\ngeneration {}\nbuilding {}\nbuilding-parts {}\n",
                                 kIndexMagic, version, schema, parts, generation, building, building_parts);
  for (const std::string& shard : shards) text += fmt::format("{}{}\n", kShardLine, shard);
  for (const std::string& shard : building_shards) text += fmt::format("{}{}\n", kBuildingShardLine, shard);
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
  IndexCurrent current;
  std::string_view rest = text.substr(kIndexMagic.size());
  uint64_t version = 0;
  if (!TakeField(rest, "", version) || version < 1 || version > 2) return unsupported();
  if (!TakeField(rest, "schema ", current.schema) || !TakeField(rest, "parts ", current.parts) ||
      !TakeField(rest, "generation ", current.generation) || !TakeField(rest, "building ", current.building) ||
      !TakeField(rest, "building-parts ", current.building_parts) || !TakeNames(rest, kShardLine, current.shards) ||
      !TakeNames(rest, kBuildingShardLine, current.building_shards)) {
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

std::string IndexPartPath(const std::string& index_dir, uint64_t generation, uint32_t part, const std::string& shard) {
  return JoinPath(index_dir, fmt::format("gen-{}-{}{}part-{}", generation, shard, shard.empty() ? "" : "-", part));
}

std::vector<IndexPartPlace> IndexCurrent::Parts(const std::string& index_dir, uint64_t of_generation) const {
  const bool built = of_generation == building && building != 0;
  std::vector<std::string> names = built ? building_shards : shards;
  if (names.empty()) names.emplace_back();
  const uint32_t count = built ? building_parts : parts;
  std::vector<IndexPartPlace> places;
  for (const std::string& shard : names) {
    for (uint32_t part = 0; part < count; ++part) {
      places.push_back({IndexPartPath(index_dir, of_generation, part, shard), shard, part, count});
    }
  }
  return places;
}

Result<std::vector<IndexPartPlace>> IndexPartPlaces(Env& env, const std::string& index_dir) {
  ASSIGN_OR_RETURN(const IndexCurrent current, IndexCurrent::Load(env, index_dir));
  return current.Parts(index_dir, current.generation);
}

Result<std::vector<std::string>> IndexPartPaths(Env& env, const std::string& index_dir) {
  ASSIGN_OR_RETURN(const std::vector<IndexPartPlace> places, IndexPartPlaces(env, index_dir));
  std::vector<std::string> paths;
  for (const IndexPartPlace& place : places) paths.push_back(place.path);
  return paths;
}

Status RemoveIndexLeftovers(Env& env, const std::string& index_dir, const IndexCurrent& current) {
  ASSIGN_OR_RETURN(const auto names, env.List(index_dir));
  std::set<std::string> kept;
  for (const uint64_t generation : {current.generation, current.building}) {
    for (const IndexPartPlace& place : current.Parts(index_dir, generation)) kept.insert(place.path);
  }
  for (const std::string& name : names) {
    const bool leftover = IsPartName(name) ? !kept.contains(JoinPath(index_dir, name))
                                           : name.starts_with("tmp-") || name.ends_with(".tmp");
    if (!leftover) continue;
    RETURN_IF_ERROR(RemoveTree(JoinPath(index_dir, name)));  // a database is a directory of Xapian's files
  }
  return {};
}

}  // namespace portolan
