#include "disk/record_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"

namespace portolan {
namespace {

size_t SharedPrefix(std::string_view a, std::string_view b) {
  const size_t limit = std::min(a.size(), b.size());
  size_t i = 0;
  for (; i + 8 <= limit; i += 8) {
    const uint64_t differs = LoadLe<uint64_t>(a.data() + i) ^ LoadLe<uint64_t>(b.data() + i);
    if (differs != 0) return i + static_cast<size_t>(std::countr_zero(differs)) / 8;
  }
  while (i < limit && a[i] == b[i]) ++i;
  return i;
}

// A varint of at most 32 bits that is known to end before `end`, else null.
const uint8_t* ReadLength(const uint8_t* at, const uint8_t* end, uint32_t& value) {
  if (at < end && *at < 0x80) {
    value = *at;
    return at + 1;
  }
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 35 && at < end; shift += 7) {
    const uint8_t byte = *at++;
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = static_cast<uint32_t>(result);
      return result <= kMaxBlockPayload ? at : nullptr;
    }
  }
  return nullptr;
}

}  // namespace

void RecordBlockBuilder::Add(std::string_view record, uint32_t tag) {
  const size_t shared = SharedPrefix(std::string_view(last_.data(), last_size_), record);
  const size_t rest = record.size() - shared;
  if (shared < 0x80 && rest < 0x80) [[likely]] {
    const char pair[2] = {static_cast<char>(shared), static_cast<char>(rest)};
    lengths_.append(pair, 2);
  } else {
    AppendVarint(lengths_, shared);
    AppendVarint(lengths_, rest);
  }
  if (tag_width_ > 0) tags_ += static_cast<char>(tag);
  if (tag_width_ > 1) tags_ += static_cast<char>(tag >> 8);
  rests_.append(record.data() + shared, rest);
  if (last_.size() < record.size()) last_.resize(std::max<size_t>(256, 2 * record.size()));
  std::memcpy(last_.data() + shared, record.data() + shared, rest);
  last_size_ = record.size();
  ++records_;
}

BlockParts RecordBlockBuilder::Finish(uint8_t kind) {
  plain_ = tags_;
  plain_ += lengths_;
  return {.kind = kind, .records = records_, .plain = plain_, .compressible = rests_};
}

void RecordBlockBuilder::Clear() {
  records_ = 0;
  tags_.clear();
  lengths_.clear();
  rests_.clear();
  last_size_ = 0;
}

RecordBlockReader::RecordBlockReader(const Block& block, size_t tag_width)
    : tag_width_(tag_width), left_(block.records) {
  const std::string_view payload = block.payload;
  const size_t tags = tag_width * size_t{block.records};
  if (block.plain < tags) {
    Broken();
    return;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(payload.data());
  tags_ = bytes;
  lengths_ = bytes + tags;
  lengths_end_ = bytes + block.plain;
  rests_ = payload.data() + block.plain;
  rests_end_ = payload.data() + payload.size();
}

bool RecordBlockReader::Step() {
  uint32_t shared = 0;
  uint32_t rest = 0;
  lengths_ = ReadLength(lengths_, lengths_end_, shared);
  if (lengths_ == nullptr) return Broken();
  lengths_ = ReadLength(lengths_, lengths_end_, rest);
  if (lengths_ == nullptr || shared > size_ || rest > static_cast<size_t>(rests_end_ - rests_)) return Broken();
  if (text_.size() < size_t{shared} + rest) text_.resize(std::max<size_t>(256, 2 * (size_t{shared} + rest)));
  std::memcpy(text_.data() + shared, rests_, rest);
  rests_ += rest;
  size_ = size_t{shared} + rest;
  tag_ = 0;
  if (tag_width_ > 0) tag_ = *tags_++;
  if (tag_width_ > 1) tag_ |= static_cast<uint32_t>(*tags_++) << 8;
  --left_;
  return true;
}

}  // namespace portolan
