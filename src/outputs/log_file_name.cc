#include "outputs/log_file_name.h"

#include <fmt/core.h>

#include <charconv>
#include <vector>

namespace portolan {

std::string LogNames::Name(uint64_t serial) const { return fmt::format("{}-{:05}{}", prefix, serial, suffix); }

std::optional<LogNames::Parsed> LogNames::Parse(std::string_view name) const {
  Parsed parsed;
  parsed.packed = name.ends_with(kPackedSuffix);
  if (parsed.packed) name.remove_suffix(kPackedSuffix.size());
  if (name.size() <= prefix.size() + 1 + suffix.size() || !name.starts_with(prefix) || name[prefix.size()] != '-' ||
      !name.ends_with(suffix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size() + 1);
  name.remove_suffix(suffix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), parsed.serial);
  if (error != std::errc() || end != name.data() + name.size() || parsed.serial == 0) return std::nullopt;
  return parsed;
}

Result<std::map<uint64_t, LogFilePath>> ListLogFiles(Env& env, const std::string& dir, const LogNames& names) {
  std::map<uint64_t, LogFilePath> files;
  if (!env.Exists(dir)) return files;
  ASSIGN_OR_RETURN(const std::vector<std::string> found, env.List(dir));
  for (const std::string& name : found) {
    const auto parsed = names.Parse(name);
    if (!parsed) continue;
    const auto [at, is_new] = files.try_emplace(parsed->serial, LogFilePath{JoinPath(dir, name), parsed->packed});
    if (!is_new && !parsed->packed) at->second = {JoinPath(dir, name), false};
  }
  return files;
}

}  // namespace portolan
