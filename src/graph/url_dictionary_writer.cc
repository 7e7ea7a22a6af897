#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "graph/url_dictionary.h"
#include "graph/url_dictionary_format.h"

namespace portolan::graph {
namespace {

size_t SharedPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

void AppendFrontCoded(std::string& block, std::string_view last, std::string_view key) {
  const size_t shared = SharedPrefix(last, key);
  AppendVarint(block, shared);
  AppendString(block, key.substr(shared));
}

}  // namespace

UrlDictionaryWriter::UrlDictionaryWriter(Sink sink) : sink_(std::move(sink)), levels_(1) {}

Status UrlDictionaryWriter::Write(std::string_view bytes) {
  if (failed_) failed_ = sink_(bytes);
  if (failed_) offset_ += bytes.size();
  return failed_;
}

Status UrlDictionaryWriter::Add(std::string_view key) {
  RETURN_IF_ERROR(failed_);
  if (finished_) return Fail(ErrorCode::kInvalidArgument, "the dictionary is finished, so no key can be added");
  if (key.size() > kMaxUrlKey) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a key of {} bytes is longer than the {} that a dictionary takes", key.size(), kMaxUrlKey));
  }
  if (size_ > 0 && key <= last_key_) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("key {} is not larger than the key before it: sort the keys and drop copies", size_));
  }
  if (offset_ == 0) {
    std::string header(kUrlDictionaryMagic);
    AppendLe<uint32_t>(header, kUrlDictionaryVersion);
    RETURN_IF_ERROR(Write(header));
  }
  if (levels_[0].entries == kUrlDictionaryFanout) RETURN_IF_ERROR(CloseBlock(0));
  Level& data = levels_[0];
  if (data.entries == 0) {
    // The shortest prefix of this key that is larger than the key before.
    data.separator = size_ == 0 ? std::string_view() : key.substr(0, SharedPrefix(last_key_, key) + 1);
    data.last.clear();
  }
  AppendFrontCoded(data.block, data.last, key);
  data.last = key;
  last_key_ = key;
  ++data.entries;
  ++size_;
  return {};
}

Status UrlDictionaryWriter::CloseBlock(size_t level) {
  Level& full = levels_[level];
  AppendLe<uint32_t>(full.block, UrlDictionaryChecksum(static_cast<uint32_t>(level), full.blocks, full.block));
  root_offset_ = offset_;
  root_size_ = full.block.size();
  RETURN_IF_ERROR(Write(full.block));
  ++full.blocks;
  full.block.clear();
  full.entries = 0;
  const std::string separator = std::move(full.separator);
  return AddChild(level + 1, separator, root_offset_, root_size_);
}

Status UrlDictionaryWriter::AddChild(size_t level, std::string_view separator, uint64_t offset, uint64_t size) {
  if (level == levels_.size()) levels_.emplace_back();
  if (levels_[level].entries == kUrlDictionaryFanout) RETURN_IF_ERROR(CloseBlock(level));
  Level& index = levels_[level];
  if (index.entries == 0) {
    // A search that comes here knows that its key is not below the first separator, so only the level above has it.
    index.separator = separator;
    index.last.clear();
    index.last_child = 0;
    AppendFrontCoded(index.block, "", "");
  } else {
    AppendFrontCoded(index.block, index.last, separator);
    index.last = separator;
  }
  AppendVarint(index.block, offset - index.last_child);
  AppendVarint(index.block, size);
  index.last_child = offset;
  ++index.entries;
  return {};
}

Status UrlDictionaryWriter::Finish() {
  RETURN_IF_ERROR(failed_);
  if (finished_) return Fail(ErrorCode::kInvalidArgument, "the dictionary is finished already");
  finished_ = true;
  if (offset_ == 0) {
    std::string header(kUrlDictionaryMagic);
    AppendLe<uint32_t>(header, kUrlDictionaryVersion);
    RETURN_IF_ERROR(Write(header));
  }
  uint32_t root_level = 0;
  for (size_t level = 0; size_ > 0; ++level) {
    // A level that has only one block is the root; what CloseBlock put above it is dropped.
    const bool root = levels_[level].blocks == 0;
    RETURN_IF_ERROR(CloseBlock(level));
    root_level = static_cast<uint32_t>(level);
    if (root) break;
  }
  std::string footer;
  AppendLe<uint64_t>(footer, size_);
  AppendLe<uint64_t>(footer, root_offset_);
  AppendLe<uint64_t>(footer, root_size_);
  AppendLe<uint32_t>(footer, root_level);
  AppendLe<uint32_t>(footer, kUrlDictionaryVersion);
  AppendLe<uint32_t>(footer, Crc32c(footer));
  footer.append(kUrlDictionaryMagic);
  levels_.clear();
  return Write(footer);
}

}  // namespace portolan::graph
