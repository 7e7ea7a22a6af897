#include "disk/record_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"

namespace portolan {
namespace {

// Short pieces, whose lengths no branch predictor knows, without a call: both ends are copied and may overlap.
inline void CopyShort(char* to, const char* from, size_t count) {
  using Sixteen = struct {
    uint64_t low, high;
  };
  if (count > 64) {
    std::memcpy(to, from, count);
  } else if (count >= 16) {
    for (size_t at = 0; at + 16 <= count; at += 16) {
      Sixteen piece;
      std::memcpy(&piece, from + at, 16);
      std::memcpy(to + at, &piece, 16);
    }
    Sixteen last;
    std::memcpy(&last, from + count - 16, 16);
    std::memcpy(to + count - 16, &last, 16);
  } else if (count >= 8) {
    const auto first = LoadLe<uint64_t>(from);
    const auto last = LoadLe<uint64_t>(from + count - 8);
    StoreLe(to, first);
    StoreLe(to + count - 8, last);
  } else {
    for (size_t at = 0; at < count; ++at) to[at] = from[at];
  }
}

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

// Bytes 8 to 24 tell hosts apart, past "https://" or what is like it. 0 for records that are too short.
uint32_t StartHash(std::string_view record) {
  if (record.size() < 24) return 0;
  const uint64_t mixed =
      LoadLe<uint64_t>(record.data() + 8) * 0x9e3779b97f4a7c15 ^ LoadLe<uint64_t>(record.data() + 16);
  return static_cast<uint32_t>((mixed * 0xc2b2ae3d27d4eb4f) >> 56);
}

}  // namespace

void GrowingBytes::Grow(size_t count) {
  capacity_ = std::max<size_t>(1024, 2 * (size_ + count));
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
  if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
}

void GrowingBytes::Append(const char* from, size_t count) {
  CopyShort(Room(count), from, count);
  size_ += count;
}

void RecordBlockBuilder::Add(std::string_view record, uint32_t tag) {
  // A record that shares this much with the one before has its host from there: no need to look for another.
  constexpr size_t kEnough = 24;
  const uint32_t number = records();
  size_t shared = 0;
  uint32_t back = 1;
  if (number > 0) {
    shared = SharedPrefix(Text(number - 1), record);
  } else {
    starts_.assign(kStarts, 0);
  }
  uint32_t& start = starts_[StartHash(record)];
  if (shared < kEnough && start != 0 && start != number) {
    const size_t other = SharedPrefix(Text(start - 1), record);
    if (other > shared + 1) {  // naming it costs a byte
      shared = other;
      back = number - (start - 1);
    }
  }
  start = number + 1;

  const size_t rest = record.size() - shared;
  const size_t head = shared * 2 + (back == 1 ? 0 : 1);
  auto* const room = reinterpret_cast<uint8_t*>(lengths_.Room(3 * kMaxVarint));
  uint8_t* at = PutVarint(room, head);
  if (back != 1) at = PutVarint(at, back);
  at = PutVarint(at, rest);
  lengths_.Use(static_cast<size_t>(at - room));
  if (tag_width_ > 0) tags_.Push(static_cast<uint8_t>(tag));
  if (tag_width_ > 1) tags_.Push(static_cast<uint8_t>(tag >> 8));
  rests_.Append(record.data() + shared, rest);
  texts_.Append(record.data(), std::min(record.size(), kRemembered));
  in_full_ += record.size();
  ends_.push_back(static_cast<uint32_t>(texts_.size()));
}

BlockParts RecordBlockBuilder::Finish(uint8_t kind) {
  plain_ = tags_.view();
  plain_ += lengths_.view();
  return {.kind = kind, .records = records(), .plain = plain_, .compressible = rests_.view()};
}

void RecordBlockBuilder::Clear() {
  tags_.Clear();
  lengths_.Clear();
  rests_.Clear();
  texts_.Clear();
  in_full_ = 0;
  ends_.clear();
}

void RecordBlockReader::Start(const Block& block, size_t tag_width) {
  tag_width_ = tag_width;
  left_ = block.records;
  ok_ = true;
  ends_.clear();
  texts_.Clear();
  begin_ = 0;
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
  uint32_t head = 0;
  uint32_t back = 1;
  uint32_t rest = 0;
  lengths_ = ReadLength(lengths_, lengths_end_, head);
  if (lengths_ != nullptr && (head & 1) != 0) lengths_ = ReadLength(lengths_, lengths_end_, back);
  if (lengths_ != nullptr) lengths_ = ReadLength(lengths_, lengths_end_, rest);
  if (lengths_ == nullptr || rest > static_cast<size_t>(rests_end_ - rests_)) return Broken();
  const size_t shared = head / 2;
  size_t from = 0;  // where the shared bytes stand
  if (shared > 0) {
    if (back == 0 || back > ends_.size()) return Broken();
    const size_t other = ends_.size() - back;
    from = other == 0 ? 0 : ends_[other - 1];
    if (shared > ends_[other] - from) return Broken();
  }
  begin_ = texts_.size();
  if (begin_ + shared + rest > kMaxBlockPayload) return Broken();
  char* text = texts_.Room(size_t{shared} + rest);
  CopyShort(text, texts_.data() + from, shared);
  CopyShort(text + shared, rests_, rest);
  texts_.Use(shared + rest);
  rests_ += rest;
  ends_.push_back(static_cast<uint32_t>(texts_.size()));
  tag_ = 0;
  if (tag_width_ > 0) tag_ = *tags_++;
  if (tag_width_ > 1) tag_ |= static_cast<uint32_t>(*tags_++) << 8;
  --left_;
  return true;
}

}  // namespace portolan
