#include "standby/copy_mark.h"

#include <fmt/core.h>

#include <charconv>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::string_view kWhole = "whole ";
constexpr std::string_view kPartial = "partial ";
constexpr size_t kDigits = 16;

std::string Encode(const CopyMark& mark) {
  const std::string line = fmt::format("{}{:016x}\n", mark.whole ? kWhole : kPartial, mark.history);
  return line + fmt::format("crc32c {:08x}\n", Crc32c(line));
}

std::optional<CopyMark> Decode(std::string_view text) {
  CopyMark mark{.whole = text.starts_with(kWhole), .history = 0};
  const std::string_view digits = text.substr(std::min(text.size(), mark.whole ? kWhole.size() : kPartial.size()));
  std::from_chars(digits.data(), digits.data() + std::min(digits.size(), kDigits), mark.history, 16);
  if (mark.history == 0 || text != Encode(mark)) return std::nullopt;
  return mark;
}

}  // namespace

Result<std::optional<CopyMark>> ReadCopyMark(Env& env, const std::string& dir) {
  const std::string path = JoinPath(dir, kCopyMark);
  const auto text = ReadWholeFile(env, path);
  if (!text && text.error().code() == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  const auto mark = Decode(*text);
  if (mark) return mark;
  return Fail(ErrorCode::kCorrupt, path + ": damaged; it says which crawl the files in this directory are a copy of");
}

Status WriteCopyMark(Env& env, const std::string& dir, const CopyMark& mark) {
  return ReplaceFile(env, JoinPath(dir, kCopyMark), Encode(mark));
}

Status RemoveCopyMark(Env& env, const std::string& dir) {
  const std::string path = JoinPath(dir, kCopyMark);
  if (!env.Exists(path)) return {};
  RETURN_IF_ERROR(env.Remove(path));
  return SyncDirOnce(env, dir);
}

}  // namespace portolan
