#include "follow/output_position.h"

#include <fmt/core.h>

#include <charconv>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::string_view kPositionMagic = "PORTOLAN-POSITION ";
constexpr std::string_view kLineOfShard = "position ";

// Version 1 is that of a crawl in one directory, version 2 that of several shards.
std::string BodyOf(std::string_view name, const OutputPositions& positions) {
  if (positions.OfOneCrawl()) {
    const OutputPosition one = positions.Of("");
    return fmt::format("{}1\noutput {}\nserial {}\noffset {}\ncopied {}\n", kPositionMagic, name, one.serial,
                       one.offset, positions.copied);
  }
  return fmt::format("{}2\noutput {}\n{}copied {}\n", kPositionMagic, name, PositionLines(positions), positions.copied);
}

// "key", a number and `end` from the front of `text`.
bool TakeNumber(std::string_view& text, std::string_view key, uint64_t& number, char after = '\n') {
  if (!text.starts_with(key)) return false;
  const auto [end, error] = std::from_chars(text.data() + key.size(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || !text.starts_with(after)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

OutputPosition OutputPositions::Of(std::string_view shard) const {
  const auto found = shards.find(shard);
  return found == shards.end() ? OutputPosition{} : found->second;
}

std::string PositionLines(const OutputPositions& positions) {
  std::string lines;
  for (const auto& [shard, position] : positions.shards) {
    lines += fmt::format("{}{} {} {}\n", kLineOfShard, shard, position.serial, position.offset);
  }
  return lines;
}

bool TakePositionLines(std::string_view& text, OutputPositions& positions) {
  while (text.starts_with(kLineOfShard)) {
    text.remove_prefix(kLineOfShard.size());
    const size_t end = text.find_first_of(" \n");
    if (end == 0 || end == std::string_view::npos || text[end] != ' ') return false;
    const std::string shard(text.substr(0, end));
    text.remove_prefix(end + 1);
    OutputPosition position;
    if (!TakeNumber(text, "", position.serial, ' ') || !TakeNumber(text, "", position.offset) || position.serial == 0) {
      return false;
    }
    positions.shards.insert_or_assign(shard, position);
  }
  return true;
}

Result<OutputPositions> LoadPositions(Env& env, const std::string& path, std::string_view name) {
  if (!env.Exists(path)) return OutputPositions{};
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, what));
  };
  OutputPositions positions;
  std::string_view rest = text;
  if (!rest.starts_with(kPositionMagic)) return corrupt("not a position file");
  rest.remove_prefix(kPositionMagic.size());
  uint64_t version = 0;
  if (!TakeNumber(rest, "", version)) return corrupt("not a position file");
  const std::string output = fmt::format("output {}\n", name);
  if (!rest.starts_with(output)) return corrupt(fmt::format("not a position in the output '{}'", name));
  rest.remove_prefix(output.size());
  bool read = false;
  if (version == 1) {
    OutputPosition one;
    read = TakeNumber(rest, "serial ", one.serial) && TakeNumber(rest, "offset ", one.offset) && one.serial != 0;
    positions.shards[""] = one;
  } else {
    read = TakePositionLines(rest, positions);
  }
  if (!read || !TakeNumber(rest, "copied ", positions.copied)) return corrupt("its numbers cannot be read");
  const std::string body = BodyOf(name, positions);
  if (text != fmt::format("{}crc32c {:08x}\n", body, Crc32c(body))) return corrupt("its checksum is wrong");
  return positions;
}

Status SavePositions(Env& env, const std::string& path, std::string_view name, const OutputPositions& positions) {
  const std::string body = BodyOf(name, positions);
  return ReplaceFile(env, path, fmt::format("{}crc32c {:08x}\n", body, Crc32c(body)));
}

}  // namespace portolan
