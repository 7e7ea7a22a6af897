#include "graph/codes.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "graph/bit_reader.h"
#include "graph/bit_writer.h"

namespace portolan::graph {
namespace {

// One code as text of 0 and 1.
std::string BitsOf(Code code, unsigned k, uint64_t x) {
  BitWriter writer;
  writer.Write(code, k, x);
  const uint64_t count = writer.written();
  const std::string bytes = writer.Finish();
  std::string text;
  for (uint64_t i = 0; i < count; ++i) text += (static_cast<uint8_t>(bytes[i / 8]) >> (7 - i % 8) & 1) != 0 ? '1' : '0';
  return text;
}

TEST(CodesTest, UnaryIsZerosAndAOne) {
  EXPECT_EQ(BitsOf(Code::kUnary, 0, 0), "1");
  EXPECT_EQ(BitsOf(Code::kUnary, 0, 1), "01");
  EXPECT_EQ(BitsOf(Code::kUnary, 0, 5), "000001");
  EXPECT_EQ(BitsOf(Code::kUnary, 0, 130), std::string(130, '0') + "1");
}

TEST(CodesTest, GammaIsAsComputedByHand) {
  const char* const expected[] = {"1", "010", "011", "00100", "00101", "00110", "00111", "0001000"};
  for (uint64_t x = 0; x < 8; ++x) EXPECT_EQ(BitsOf(Code::kGamma, 0, x), expected[x]) << x;
}

TEST(CodesTest, DeltaIsAsComputedByHand) {
  const char* const expected[] = {"1", "0100", "0101", "01100", "01101", "01110", "01111", "00100000"};
  for (uint64_t x = 0; x < 8; ++x) EXPECT_EQ(BitsOf(Code::kDelta, 0, x), expected[x]) << x;
}

TEST(CodesTest, ZetaIsAsComputedByHand) {
  // zeta_1 is gamma.
  for (uint64_t x = 0; x < 100; ++x) EXPECT_EQ(BitsOf(Code::kZeta, 1, x), BitsOf(Code::kGamma, 0, x)) << x;
  const char* const zeta2[] = {"10", "110", "111", "01000", "01001", "01010", "01011", "011000"};
  for (uint64_t x = 0; x < 8; ++x) EXPECT_EQ(BitsOf(Code::kZeta, 2, x), zeta2[x]) << x;
  const char* const zeta3[] = {"100", "1010", "1011", "1100", "1101", "1110", "1111", "0100000", "0100001"};
  for (uint64_t x = 0; x < 9; ++x) EXPECT_EQ(BitsOf(Code::kZeta, 3, x), zeta3[x]) << x;
  EXPECT_EQ(BitsOf(Code::kZeta, 3, 14), "0100111");
  EXPECT_EQ(BitsOf(Code::kZeta, 3, 15), "01010000");
  EXPECT_EQ(BitsOf(Code::kZeta, 3, 62), "01111111");
  EXPECT_EQ(BitsOf(Code::kZeta, 3, 63), "00100000000");
}

TEST(CodesTest, NibbleMarksItsLastGroup) {
  EXPECT_EQ(BitsOf(Code::kNibble, 0, 0), "1000");
  EXPECT_EQ(BitsOf(Code::kNibble, 0, 7), "1111");
  EXPECT_EQ(BitsOf(Code::kNibble, 0, 8), "00011000");
  EXPECT_EQ(BitsOf(Code::kNibble, 0, 64), "000100001000");
}

TEST(CodesTest, EveryCodeReadsBackWhatWasWrittenAndHasItsLength) {
  std::mt19937_64 random(7);
  for (const Code code : {Code::kUnary, Code::kGamma, Code::kDelta, Code::kZeta, Code::kNibble}) {
    for (unsigned k = 1; k <= 7; ++k) {
      std::vector<uint64_t> values;
      for (uint64_t x = 0; x < 3000; ++x) values.push_back(x);
      for (int i = 0; i < 3000; ++i) {
        const uint64_t x = random() >> (16 + random() % 48);
        values.push_back(code == Code::kUnary ? x % 500 : x);
      }
      BitWriter writer;
      const CodeLengths lengths(code, k);
      for (const uint64_t x : values) {
        const uint64_t before = writer.written();
        writer.Write(code, k, x);
        ASSERT_EQ(writer.written() - before, CodeLength(code, k, x)) << CodeName(code) << k << " " << x;
        ASSERT_EQ(lengths(x), CodeLength(code, k, x)) << CodeName(code) << k << " " << x;
      }
      const uint64_t count = writer.written();
      const std::string bytes = writer.Finish();
      ASSERT_EQ(bytes.size(), (count + 7) / 8);
      BitReader reader(bytes);
      for (const uint64_t x : values) ASSERT_EQ(reader.Read(code, k), x) << CodeName(code) << k;
      EXPECT_EQ(reader.position(), count);
      EXPECT_FALSE(reader.overrun());
    }
  }
}

TEST(BitReaderTest, SeekFindsEveryBit) {
  BitWriter writer;
  std::vector<uint64_t> positions;
  for (uint64_t x = 0; x < 500; ++x) {
    positions.push_back(writer.written());
    writer.WriteGamma(x * x);
  }
  const std::string bytes = writer.Finish();
  BitReader reader(bytes);
  for (uint64_t x = 500; x-- > 0;) {
    reader.Seek(positions[x]);
    EXPECT_EQ(reader.position(), positions[x]);
    EXPECT_EQ(reader.ReadGamma(), x * x);
  }
}

TEST(BitReaderTest, TruncatedInputIsAnOverrunAndEnds) {
  for (const Code code : {Code::kUnary, Code::kGamma, Code::kDelta, Code::kZeta, Code::kNibble}) {
    for (size_t size = 0; size < 40; ++size) {
      const std::string bytes(size, '\0');
      BitReader reader(bytes);
      for (int i = 0; i < 1000; ++i) static_cast<void>(reader.Read(code, 3));
      EXPECT_TRUE(reader.overrun()) << CodeName(code) << " " << size;
      EXPECT_EQ(reader.remaining(), 0U);
    }
  }
}

TEST(BitReaderTest, LongNumbersOfBitsAreReadWhole) {
  BitWriter writer;
  writer.WriteBits(1, 3);
  writer.WriteBits(0xfedcba9876543210, 64);
  writer.WriteBits(0x123456789abcdef, 57);
  const std::string bytes = writer.Finish();
  BitReader reader(bytes);
  EXPECT_EQ(reader.ReadBits(3), 1U);
  EXPECT_EQ(reader.ReadBits(64), 0xfedcba9876543210U);
  EXPECT_EQ(reader.ReadBits(57), 0x123456789abcdefU);
}

TEST(BitWriterTest, TakenBytesAndTheRestAreTheWhole) {
  BitWriter whole;
  BitWriter taken;
  std::string bytes;
  for (uint64_t x = 0; x < 1000; ++x) {
    whole.WriteZeta(x * 31, 3);
    taken.WriteZeta(x * 31, 3);
    if (x % 7 == 0) bytes += taken.TakeBytes();
  }
  bytes += taken.Finish();
  EXPECT_EQ(bytes, whole.Finish());
}

}  // namespace
}  // namespace portolan::graph
