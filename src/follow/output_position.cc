#include "follow/output_position.h"

#include <fmt/core.h>

#include <charconv>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::string_view kFirstLine = "PORTOLAN-POSITION 1\n";

std::string BodyOf(std::string_view name, const OutputPosition& position) {
  return fmt::format("{}output {}\nserial {}\noffset {}\ncopied {}\n", kFirstLine, name, position.serial,
                     position.offset, position.copied);
}

// "key number\n" from the front of `text`.
bool TakeNumber(std::string_view& text, std::string_view key, uint64_t& number) {
  if (!text.starts_with(key)) return false;
  const auto [end, error] = std::from_chars(text.data() + key.size(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || !text.starts_with('\n')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<OutputPosition> LoadPosition(Env& env, const std::string& path, std::string_view name) {
  if (!env.Exists(path)) return OutputPosition{};
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(env, path));
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path, what));
  };
  OutputPosition position;
  std::string_view rest = text;
  if (!rest.starts_with(kFirstLine)) return corrupt("not a position file");
  rest.remove_prefix(kFirstLine.size());
  const std::string output = fmt::format("output {}\n", name);
  if (!rest.starts_with(output)) return corrupt(fmt::format("not a position in the output '{}'", name));
  rest.remove_prefix(output.size());
  if (!TakeNumber(rest, "serial ", position.serial) || !TakeNumber(rest, "offset ", position.offset) ||
      !TakeNumber(rest, "copied ", position.copied) || position.serial == 0) {
    return corrupt("its numbers cannot be read");
  }
  const std::string body = BodyOf(name, position);
  if (text != fmt::format("{}crc32c {:08x}\n", body, Crc32c(body))) return corrupt("its checksum is wrong");
  return position;
}

Status SavePosition(Env& env, const std::string& path, std::string_view name, const OutputPosition& position) {
  const std::string body = BodyOf(name, position);
  return ReplaceFile(env, path, fmt::format("{}crc32c {:08x}\n", body, Crc32c(body)));
}

}  // namespace portolan
