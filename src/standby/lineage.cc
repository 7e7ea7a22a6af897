#include "standby/lineage.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <utility>

#include "base/crc32c.h"

namespace portolan {
namespace {

constexpr std::array<std::pair<std::string_view, Lineage::Kind>, 3> kWords = {{
    {"own", Lineage::Kind::kOwn},
    {"copy", Lineage::Kind::kCopy},
    {"partial", Lineage::Kind::kPartial},
}};

std::string Encode(const Lineage& lineage) {
  std::string out;
  for (const auto& [word, kind] : kWords) {
    if (kind == lineage.kind) out = fmt::format("{} {:016x}\n", word, lineage.id);
  }
  return out + fmt::format("crc32c {:08x}\n", Crc32c(out));
}

std::optional<Lineage> Decode(std::string_view text) {
  for (const auto& [word, kind] : kWords) {
    constexpr size_t kDigits = 16;
    if (!text.starts_with(word) || text.size() < word.size() + 1 + kDigits) continue;
    Lineage lineage{.kind = kind, .id = 0};
    const std::string_view digits = text.substr(word.size() + 1, kDigits);
    std::from_chars(digits.data(), digits.data() + digits.size(), lineage.id, 16);
    if (lineage.id != 0 && text == Encode(lineage)) return lineage;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Lineage>> ReadLineage(Env& env, const std::string& dir) {
  const std::string path = JoinPath(dir, kLineageFile);
  const auto text = ReadWholeFile(env, path);
  if (!text && text.error().code() == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  const auto lineage = Decode(*text);
  if (lineage) return lineage;
  return Fail(ErrorCode::kCorrupt, path + ": damaged; it says which history the files in this directory belong to");
}

Status WriteLineage(Env& env, const std::string& dir, const Lineage& lineage) {
  return ReplaceFile(env, JoinPath(dir, kLineageFile), Encode(lineage));
}

Result<Lineage> TakeOver(Env& env, const std::string& dir, uint64_t fresh) {
  ASSIGN_OR_RETURN(const auto known, ReadLineage(env, dir));
  if (known && known->kind == Lineage::Kind::kOwn) return *known;
  if (known && known->kind == Lineage::Kind::kPartial) {
    return Fail(ErrorCode::kInvalidArgument, dir + ": holds a copy that never was whole: no crawl can go on from it");
  }
  const Lineage own{.kind = Lineage::Kind::kOwn, .id = fresh};
  RETURN_IF_ERROR(WriteLineage(env, dir, own));
  return own;
}

}  // namespace portolan
