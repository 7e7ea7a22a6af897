#include "cli/seeds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "base/log.h"
#include "crawl/seed_list.h"
#include "crawl/wiring.h"

namespace portolan {
namespace {

constexpr size_t kNamedLines = 20;  // of those left out; the others are counted

// Without its comment and the blanks around it.
std::string_view SeedOf(std::string_view line) {
  line = line.substr(0, line.starts_with('#') ? 0 : line.find(" #"));
  while (!line.empty() && static_cast<uint8_t>(line.back()) <= ' ') line.remove_suffix(1);
  while (!line.empty() && static_cast<uint8_t>(line.front()) <= ' ') line.remove_prefix(1);
  return line;
}

}  // namespace

Result<std::unique_ptr<SeedReader>> SeedReader::Open(const SeedSource& source, const Config& config) {
  std::unique_ptr<SeedReader> reader(new SeedReader(source, config));
  if (!source.file.empty()) RETURN_IF_ERROR(reader->OpenFile());
  return reader;
}

Status SeedReader::OpenFile() {
  const auto left_open = [](std::FILE*) { return 0; };
  if (source_.file == "-") {
    file_name_ = "standard input";
    file_ = {stdin, left_open};
    return {};
  }
  file_name_ = source_.file;
  std::error_code ignored;
  if (std::filesystem::is_directory(file_name_, ignored)) {
    return Fail(ErrorCode::kCorrupt, file_name_ + ": is a directory");
  }
  file_ = {std::fopen(file_name_.c_str(), "rb"), std::fclose};
  if (!file_) return std::unexpected(Error::FromErrno(errno, "open " + file_name_));
  return {};
}

std::string SeedReader::name() const { return file_name_.empty() ? "the command line" : file_name_; }

Result<bool> SeedReader::NextLine() {
  constexpr size_t kPiece = 64 << 10;
  line_.clear();
  for (bool any = false;;) {
    if (at_ == piece_.size()) {
      piece_.resize(kPiece);
      piece_.resize(std::fread(piece_.data(), 1, kPiece, file_.get()));
      at_ = 0;
      if (std::ferror(file_.get()) != 0) return std::unexpected(Error::FromErrno(errno, "read " + file_name_));
      if (piece_.empty()) {
        line_number_ += any ? 1 : 0;
        return any;
      }
      if (line_number_ == 0 && !any && piece_.starts_with("\xef\xbb\xbf"))
        at_ = 3;  // a byte order mark, which some editors write
    }
    any = true;
    const size_t end = std::min(piece_.find('\n', at_), piece_.size());
    line_.append(piece_, at_, std::min(end - at_, kMaxSeedLine - line_.size()));
    at_ = end;
    if (end == piece_.size()) continue;
    ++at_;
    ++line_number_;
    return true;
  }
}

Result<std::optional<std::string>> SeedReader::Next() {
  if (next_url_ < source_.urls.size()) {
    ASSIGN_OR_RETURN(std::string seed, CanonicalSeed(source_.urls[next_url_], config_));
    ++next_url_;
    return seed;
  }
  while (file_) {
    ASSIGN_OR_RETURN(const bool more, NextLine());
    if (!more) {
      RETURN_IF_ERROR(EndOfFile());
      break;
    }
    const std::string_view text = SeedOf(line_);
    if (text.empty()) continue;
    auto seed = CanonicalSeed(text, config_);
    if (seed) {
      ++good_;
      return *std::move(seed);
    }
    const std::string what = fmt::format("{}:{}: {}", file_name_, line_number_, seed.error().message());
    if (source_.strict) return Fail(ErrorCode::kCorrupt, what);
    if (++left_out_ <= kNamedLines) Log(LogLevel::kWarn, "a seed is left out", {{"why", what}});
  }
  return std::optional<std::string>();
}

Status SeedReader::EndOfFile() {
  file_ = {nullptr, nullptr};
  if (left_out_ > kNamedLines) {
    Log(LogLevel::kWarn, "more seeds are left out", {{"file", file_name_}, {"lines", left_out_ - kNamedLines}});
  }
  if (left_out_ == 0 || good_ > 0) return {};
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: none of its {} lines is a crawlable URL", file_name_, left_out_));
}

Result<GivenSeeds> ReadSeeds(const SeedSource& source, const Config& config) {
  GivenSeeds given;
  ASSIGN_OR_RETURN(given.more, SeedReader::Open(source, config));
  given.from = given.more->name();
  std::set<std::string> first;
  while (first.size() <= kSeedsInSettings) {
    ASSIGN_OR_RETURN(std::optional<std::string> seed, given.more->Next());
    if (!seed) {
      given.more.reset();
      break;
    }
    first.insert(*std::move(seed));
  }
  given.first.assign(first.begin(), first.end());
  return given;
}

}  // namespace portolan
