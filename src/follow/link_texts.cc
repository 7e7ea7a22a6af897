#include "follow/link_texts.h"

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "follow/link_rows.h"

namespace portolan {
namespace {

// block   crc32c u32 of what follows, stored u32, raw u32, codec u8, rows
// index   per block: first pair u64, offset u64
// footer  index offset u64, blocks u64, crc32c of index and both u32, version u32, magic
constexpr std::string_view kTextsMagic = "PTLGTEXT";
constexpr uint32_t kTextsVersion = 1;
constexpr size_t kTextsFooter = 8 + 8 + 4 + 4 + 8;
constexpr size_t kTextsHead = 4 + 4 + 4 + 1;
constexpr uint32_t kMostRaw = 4 << 20;

std::unexpected<Error> TextsCorrupt(std::string what) { return Fail(ErrorCode::kCorrupt, "link texts: " + what); }

}  // namespace

Status LinkTextsWriter::Add(uint64_t pair, std::string_view text) {
  if (block_.empty()) {
    first_ = pair;
    last_ = 0;
  }
  AppendLinkRow(block_, last_, pair, text);
  last_ = pair;
  return block_.size() < kLinkTextBlock ? Status() : CloseBlock();
}

Status LinkTextsWriter::CloseBlock() {
  if (block_.empty()) return {};
  index_.push_back({first_, offset_});
  frame_.assign(kTextsHead, '\0');
  const Codec codec = compressor_.Append(block_, frame_);
  StoreLe(frame_.data() + 4, static_cast<uint32_t>(frame_.size() - kTextsHead));
  StoreLe(frame_.data() + 8, static_cast<uint32_t>(block_.size()));
  frame_[12] = static_cast<char>(codec);
  StoreLe(frame_.data(), Crc32c(std::string_view(frame_).substr(4)));
  block_.clear();
  offset_ += frame_.size();
  return sink_(frame_);
}

Status LinkTextsWriter::Finish() {
  RETURN_IF_ERROR(CloseBlock());
  uint32_t crc = 0;
  std::string piece;
  const auto flush = [&]() -> Status {
    crc = Crc32c(piece, crc);
    RETURN_IF_ERROR(sink_(piece));
    piece.clear();
    return {};
  };
  for (const Place& place : index_) {
    AppendLe(piece, place.first_pair);
    AppendLe(piece, place.offset);
    if (piece.size() >= kLinkTextBlock) RETURN_IF_ERROR(flush());
  }
  AppendLe(piece, offset_);
  AppendLe(piece, static_cast<uint64_t>(index_.size()));
  RETURN_IF_ERROR(flush());
  AppendLe(piece, crc);
  AppendLe(piece, kTextsVersion);
  piece += kTextsMagic;
  return sink_(piece);
}

Result<LinkTexts> LinkTexts::Open(std::string_view bytes) {
  if (bytes.size() < kTextsFooter || !bytes.ends_with(kTextsMagic)) return TextsCorrupt("there is no footer");
  const char* const footer = bytes.data() + bytes.size() - kTextsFooter;
  if (LoadLe<uint32_t>(footer + 20) != kTextsVersion) {
    return Fail(ErrorCode::kUnsupported, fmt::format("link texts of version {}", LoadLe<uint32_t>(footer + 20)));
  }
  LinkTexts texts(bytes);
  texts.index_ = LoadLe<uint64_t>(footer);
  texts.blocks_ = LoadLe<uint64_t>(footer + 8);
  const uint64_t room = bytes.size() - kTextsFooter;
  if (texts.index_ > room || (room - texts.index_) % 16 != 0 || (room - texts.index_) / 16 != texts.blocks_) {
    return TextsCorrupt("the footer's numbers are wrong");
  }
  if (Crc32c(bytes.substr(texts.index_, room - texts.index_ + 16)) != LoadLe<uint32_t>(footer + 16)) {
    return TextsCorrupt("the checksum of the index is wrong");
  }
  return texts;
}

uint64_t LinkTexts::FirstOf(uint64_t block) const { return LoadLe<uint64_t>(bytes_.data() + index_ + 16 * block); }
uint64_t LinkTexts::OffsetOf(uint64_t block) const { return LoadLe<uint64_t>(bytes_.data() + index_ + 16 * block + 8); }

Status LinkTexts::Load(uint64_t block) {
  at_ = 0;
  pair_ = 0;
  if (loaded_ == block) return {};
  loaded_ = ~uint64_t{0};
  const uint64_t offset = OffsetOf(block);
  const auto corrupt = [&](std::string_view what) {
    return TextsCorrupt(fmt::format("block at byte {}: {}", offset, what));
  };
  if (offset > index_ || index_ - offset < kTextsHead) return corrupt("it is not there");
  const std::string_view head = bytes_.substr(offset, kTextsHead);
  const auto stored = LoadLe<uint32_t>(head.data() + 4);
  const auto size = LoadLe<uint32_t>(head.data() + 8);
  if (stored > index_ - offset - kTextsHead || size > kMostRaw) return corrupt("its length is wrong");
  if (Crc32c(bytes_.substr(offset + 4, kTextsHead - 4 + stored)) != LoadLe<uint32_t>(head.data())) {
    return corrupt("its checksum is wrong");
  }
  raw_.resize(size);
  if (static_cast<uint8_t>(head[12]) > static_cast<uint8_t>(Codec::kZstd) ||
      !decompressor_.Decode(static_cast<Codec>(head[12]), bytes_.substr(offset + kTextsHead, stored), raw_.data(),
                            size)) {
    return corrupt("it cannot be decompressed");
  }
  loaded_ = block;
  return {};
}

Result<bool> LinkTexts::Step() {
  if (at_ == raw_.size()) return false;
  ByteReader reader(std::string_view(raw_).substr(at_));
  uint64_t gap = 0;
  uint64_t target = 0;
  if (!reader.ReadVarint(gap) || !reader.ReadVarint(target) || (gap & 1) == 0 || !reader.ReadString(text_) ||
      text_.empty()) {
    return TextsCorrupt(fmt::format("block at byte {}: a row is broken", OffsetOf(loaded_)));
  }
  if (gap >> 1 == 0) target += pair_ & 0xffffffff;
  pair_ = ((pair_ >> 32) + (gap >> 1)) << 32 | (target & 0xffffffff);
  at_ += reader.position();
  return true;
}

Result<std::string_view> LinkTexts::Find(uint64_t pair) {
  uint64_t low = 0;  // the first block that begins after the pair
  for (uint64_t high = blocks_; low < high;) {
    const uint64_t middle = low + (high - low) / 2;
    if (FirstOf(middle) <= pair) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::string_view();
  // Links of a page are asked for in order: go on where the last one was found.
  if (loaded_ != low - 1 || pair_ >= pair || at_ == 0) RETURN_IF_ERROR(Load(low - 1));
  for (;;) {
    const size_t before = at_;
    const uint64_t pair_before = pair_;
    ASSIGN_OR_RETURN(const bool more, Step());
    if (!more) return std::string_view();
    if (pair_ == pair) return text_;
    if (pair_ > pair) {
      at_ = before;
      pair_ = pair_before;
      return std::string_view();
    }
  }
}

Result<bool> LinkTexts::Next() {
  for (;;) {
    if (next_block_ > 0) {
      ASSIGN_OR_RETURN(const bool more, Step());
      if (more) return true;
    }
    if (next_block_ == blocks_) return false;
    RETURN_IF_ERROR(Load(next_block_++));
  }
}

}  // namespace portolan
