#include "cli/seeds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/log.h"
#include "crawl/wiring.h"

namespace portolan {
namespace {

constexpr size_t kNamedLines = 20;  // of those left out; the others are counted

Result<std::string> ReadToEnd(std::FILE* file, const std::string& name) {
  std::string text;
  char piece[64 << 10];
  while (const size_t got = std::fread(piece, 1, sizeof(piece), file)) {
    if (text.size() + got > kMaxSeedBytes) return Fail(ErrorCode::kCorrupt, name + ": more than 1 GiB of seeds");
    text.append(piece, got);
  }
  if (std::ferror(file) != 0) return std::unexpected(Error::FromErrno(errno, "read " + name));
  return text;
}

// As a stream, so that pipes will do: --seeds <(grep … list).
Result<std::string> ReadSeedFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Fail(ErrorCode::kCorrupt, path + ": is a directory");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return std::unexpected(Error::FromErrno(errno, "open " + path));
  return ReadToEnd(file.get(), path);
}

// Without its comment and the blanks around it.
std::string_view SeedOf(std::string_view line) {
  line = line.substr(0, line.starts_with('#') ? 0 : line.find(" #"));
  while (!line.empty() && static_cast<uint8_t>(line.back()) <= ' ') line.remove_suffix(1);
  while (!line.empty() && static_cast<uint8_t>(line.front()) <= ' ') line.remove_prefix(1);
  return line;
}

Status AddFromFile(const SeedSource& source, const Config& config, std::vector<std::string>& seeds) {
  const bool standard_input = source.file == "-";
  const std::string name = standard_input ? "standard input" : source.file;
  ASSIGN_OR_RETURN(const std::string whole, standard_input ? ReadToEnd(stdin, name) : ReadSeedFile(source.file));
  std::string_view text = whole;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // some editors begin so
  const size_t before = seeds.size();
  size_t left_out = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = SeedOf(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    auto seed = CanonicalSeed(line, config);
    if (seed) {
      seeds.push_back(*std::move(seed));
      continue;
    }
    const std::string what = fmt::format("{}:{}: {}", name, number, seed.error().message());
    if (source.strict) return Fail(ErrorCode::kCorrupt, what);
    if (++left_out <= kNamedLines) Log(LogLevel::kWarn, "a seed is left out", {{"why", what}});
  }
  if (left_out > kNamedLines) {
    Log(LogLevel::kWarn, "more seeds are left out", {{"file", name}, {"lines", left_out - kNamedLines}});
  }
  if (left_out > 0 && seeds.size() == before) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: none of its {} lines is a URL that can be crawled", name, left_out));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> ReadSeeds(const SeedSource& source, const Config& config) {
  std::vector<std::string> seeds;
  for (const std::string& url : source.urls) {
    ASSIGN_OR_RETURN(std::string seed, CanonicalSeed(url, config));
    seeds.push_back(std::move(seed));
  }
  if (!source.file.empty()) RETURN_IF_ERROR(AddFromFile(source, config, seeds));
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

}  // namespace portolan
