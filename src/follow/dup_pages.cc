#include "follow/dup_pages.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bytes.h"
#include "disk/block_file.h"
#include "disk/record_block.h"
#include "follow/follower.h"

namespace portolan {
namespace {

constexpr size_t kDupTrailer = 16;
constexpr size_t kBlockSize = size_t{64} << 10;
// On disk.
constexpr uint8_t kDupBlock = 1;

uint64_t HexOf(const nlohmann::json& line, const char* key) {
  const auto at = line.find(key);
  if (at == line.end() || !at->is_string()) return 0;
  const auto& text = at->get_ref<const std::string&>();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

void EncodeDupPage(const DupPage& page, std::string& out) {
  out.assign(page.url);
  AppendLe(out, page.similarity);
  AppendLe(out, page.fingerprint);
}

std::optional<DupPage> DecodeDupPage(std::string_view bytes) {
  if (bytes.size() < kDupTrailer) return std::nullopt;
  const char* const trailer = bytes.data() + bytes.size() - kDupTrailer;
  DupPage page{.url = bytes.substr(0, bytes.size() - kDupTrailer),
               .similarity = LoadLe<uint64_t>(trailer),
               .fingerprint = LoadLe<uint64_t>(trailer + 8)};
  if (page.similarity == 0 && page.fingerprint == 0) return std::nullopt;
  return page;
}

std::optional<DupPage> DupPageOfLine(std::string_view text, std::string& url) {
  // Most lines without a hash are not worth parsing.
  if (text.find(R"("fingerprint":")") == std::string_view::npos &&
      text.find(R"("similarity":")") == std::string_view::npos) {
    return std::nullopt;
  }
  auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return std::nullopt;
  const auto is = [&line](const char* key, std::string_view value) {
    const auto at = line.find(key);
    return at != line.end() && at->is_string() && at->get_ref<const std::string&>() == value;
  };
  const auto status = line.find("status");
  const auto name = line.find("url");
  // A page that is visited again would be a near duplicate of itself: its first text counts.
  if (!is("kind", "page") || line.contains("again") || line.contains("visit") || status == line.end() ||
      !status->is_number_unsigned() || status->get<uint64_t>() / 100 != 2 || name == line.end() || !name->is_string()) {
    return std::nullopt;
  }
  url = std::move(name->get_ref<std::string&>());
  DupPage page{.url = url, .similarity = HexOf(line, "similarity"), .fingerprint = HexOf(line, "fingerprint")};
  if (page.similarity == 0 && page.fingerprint == 0) return std::nullopt;
  return page;
}

Result<DupPages> DupPages::Follow(Env& env, const OutputSources& logs, const std::string& dir,
                                  const Progress& progress) {
  // Before the directory is made.
  RETURN_IF_ERROR(ReadCommittedSources(env, logs));
  RETURN_IF_ERROR(env.CreateDirs(dir));
  DupPages pages(env, dir);
  ASSIGN_OR_RETURN(pages.lock_, env.Lock(JoinPath(dir, "LOCK")));
  RETURN_IF_ERROR(pages.Read(logs, progress));
  return pages;
}

Status DupPages::Read(const OutputSources& logs, const Progress& progress) {
  const std::string position = JoinPath(dir_, "position");
  if (env_->Exists(position) && !env_->Exists(path())) RETURN_IF_ERROR(env_->Remove(position));
  ASSIGN_OR_RETURN(Follower follower, Follower::Open(*env_, logs, position));
  const uint64_t copied = follower.copied();
  ASSIGN_OR_RETURN(BlockFileWriter file,
                   copied == 0 ? BlockFileWriter::Create(*env_, path(), FileKind::kPages, Codec::kLz4)
                               : BlockFileWriter::Reopen(*env_, path(), FileKind::kPages, Codec::kLz4, copied));
  RecordBlockBuilder block;
  const auto write = [&]() -> Status {
    if (block.empty()) return {};
    RETURN_IF_ERROR(file.Append(block.Finish(kDupBlock)));
    block.Clear();
    return {};
  };
  std::string url;
  std::string record;
  const auto each = [&](std::string_view line, uint32_t /*tag*/) -> Status {
    const auto page = DupPageOfLine(line, url);
    if (!page) return {};
    EncodeDupPage(*page, record);
    block.Add(record);
    ++added_;
    return block.size() < kBlockSize ? Status() : write();
  };
  uint64_t saved = copied;
  const auto save = [&]() -> Status {
    RETURN_IF_ERROR(write());
    if (saved == 0) RETURN_IF_ERROR(SyncDirOnce(*env_, dir_));
    RETURN_IF_ERROR(file.Sync());
    RETURN_IF_ERROR(follower.Save(file.length()));
    saved = file.length();
    return {};
  };
  for (uint64_t batch = 1;; ++batch) {
    ASSIGN_OR_RETURN(const bool more, follower.Next(each));
    if (!more) break;
    if (progress) progress("pages read from the log", added_);
    if (batch % kStep == 0) RETURN_IF_ERROR(save());
  }
  if (added_ > 0 || saved == 0) RETURN_IF_ERROR(save());
  length_ = file.length();
  return {};
}

Status DupPages::ForEach(const std::function<Status(uint64_t number, const DupPage& page)>& each) const {
  BlockFileReader::Options options;
  options.length = length_;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(*env_, path(), FileKind::kPages, options));
  RecordBlockReader records;
  for (uint64_t number = 0;;) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) return {};
    records.Start(*block, 0);
    for (; records.Next(); ++number) {
      const auto page = DecodeDupPage(records.record());
      if (!page) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a record is not a page; remove {}", path(), dir_));
      RETURN_IF_ERROR(each(number, *page));
    }
    if (!records.ok()) return Fail(ErrorCode::kCorrupt, fmt::format("{}: a block is broken; remove {}", path(), dir_));
  }
}

}  // namespace portolan
