#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace portolan {
namespace {

TEST(BytesTest, NumbersAreLittleEndian) {
  std::string out;
  AppendLe<uint32_t>(out, 0x01020304);
  AppendLe<uint16_t>(out, 0xabcd);
  EXPECT_EQ(out, std::string("\x04\x03\x02\x01\xcd\xab"));
}

TEST(BytesTest, VarintsOfEveryLengthRoundTrip) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const uint64_t top = bits == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << bits) - 1;
    for (const uint64_t value : {top, top == 0 ? top : top - 1, top / 3}) {
      std::string out;
      AppendVarint(out, value);
      EXPECT_EQ(out.size(), VarintLength(value)) << value;
      ByteReader reader(out);
      uint64_t back = 0;
      ASSERT_TRUE(reader.ReadVarint(back)) << value;
      EXPECT_EQ(back, value);
      EXPECT_TRUE(reader.done());
    }
  }
}

TEST(BytesTest, GoldenVarints) {
  std::string out;
  for (const uint64_t value : {0ULL, 127ULL, 128ULL, 300ULL, ~0ULL}) AppendVarint(out, value);
  EXPECT_EQ(out, std::string("\x00\x7f\x80\x01\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16));
}

TEST(BytesTest, OverlongVarintIsRefused) {
  for (const std::string& bytes : {std::string(11, '\x80'), std::string(9, '\xff') + '\x02', std::string("\x80")}) {
    ByteReader reader(bytes);
    uint64_t value = 0;
    EXPECT_FALSE(reader.ReadVarint(value));
    EXPECT_FALSE(reader.ok());
  }
}

TEST(BytesTest, ReaderStaysFailedAndNeverOverreads) {
  const std::string bytes(3, 'x');
  ByteReader reader(bytes);
  uint32_t four = 0;
  EXPECT_FALSE(reader.Read(four));
  uint8_t one = 0;
  EXPECT_FALSE(reader.Read(one)) << "after a failure nothing is read";
  std::string_view view;
  EXPECT_FALSE(ByteReader(bytes).ReadBytes(4, view));
  EXPECT_FALSE(ByteReader(bytes).ReadBytes(~size_t{0}, view)) << "a huge length must not wrap around";
}

TEST(BytesTest, StringsCarryTheirLength) {
  std::string out;
  AppendString(out, "");
  AppendString(out, std::string(200, 'a'));
  ByteReader reader(out);
  std::string_view first;
  std::string_view second;
  ASSERT_TRUE(reader.ReadString(first) && reader.ReadString(second));
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, std::string(200, 'a'));
  EXPECT_TRUE(reader.done());
}

TEST(BytesTest, ZigZagKeepsSmallNumbersSmall) {
  for (const int64_t value :
       {0L, -1L, 1L, -64L, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
  EXPECT_EQ(ZigZag(-64), 127U);
}

}  // namespace
}  // namespace portolan
