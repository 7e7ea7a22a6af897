// Reading and writing numbers in byte strings: little-endian, unaligned, bounded.
//
// ByteReader never reads past its view. A read that does not fit returns false (or an empty optional) and the reader
// stays failed, so that a parser can read a whole struct and test ok() once. Bytes are std::string_view throughout: a
// view into another buffer, valid only as long as that buffer.

#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace portolan {

static_assert(std::endian::native == std::endian::little, "on-disk formats are little-endian and read in place");

template <std::unsigned_integral T>
T LoadLe(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <std::unsigned_integral T>
void StoreLe(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
void AppendLe(std::string& out, T value) {
  char bytes[sizeof value];
  StoreLe(bytes, value);
  out.append(bytes, sizeof bytes);
}

// The longest encoding of a 64-bit varint (7 bits per byte, low bits first, high bit = more follow).
inline constexpr size_t kMaxVarint = 10;

// Writes `value` at `to` (room for kMaxVarint bytes) and returns the end.
inline uint8_t* PutVarint(uint8_t* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<uint8_t>(value);
  return to;
}

inline void AppendVarint(std::string& out, uint64_t value) {
  uint8_t bytes[kMaxVarint];
  out.append(reinterpret_cast<const char*>(bytes), PutVarint(bytes, value) - bytes);
}

inline size_t VarintLength(uint64_t value) {
  return value == 0 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7;
}

// Small signed numbers as small unsigned ones: 0, -1, 1, -2 … become 0, 1, 2, 3 …
constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ok() const { return ok_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  bool done() const { return at_ == end_; }

  template <std::unsigned_integral T>
  bool Read(T& value) {
    if (!Has(sizeof value)) return false;
    value = LoadLe<T>(at_);
    at_ += sizeof value;
    return true;
  }

  // A varint of more than ten bytes, or with bits past the 64th, is a failure.
  bool ReadVarint(uint64_t& value);

  bool ReadBytes(size_t count, std::string_view& bytes) {
    if (!Has(count)) return false;
    bytes = std::string_view(at_, count);
    at_ += count;
    return true;
  }

  // A varint length and then that many bytes.
  bool ReadString(std::string_view& bytes) {
    uint64_t length = 0;
    return ReadVarint(length) && ReadBytes(length, bytes);
  }

 private:
  bool Has(uint64_t count) {
    if (ok_ && count <= remaining()) return true;
    ok_ = false;
    return false;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

inline void AppendString(std::string& out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

}  // namespace portolan
