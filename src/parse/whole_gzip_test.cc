#include "parse/whole_gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "io/rng.h"

namespace portolan {
namespace {

std::string Random(size_t size, uint64_t seed, int letters) {
  Rng rng(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(rng.Below(letters));
  return out;
}

TEST(StoredGzipTest, AnyCutIsReadBackByTheStreamDecoder) {
  StoredGzip stored;
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4}, size_t{700}, size_t{65'535}, size_t{65'536}, size_t{200'000}}) {
    const std::string bytes = Random(size, size, 256);
    for (const size_t front : {size_t{0}, size / 3, size}) {
      std::string member = "before";
      stored.Append(bytes, front, member);
      const DecodedBody body = DecodeBody(member.substr(6), CodingStack::Of(ContentCoding::kGzip), {});
      EXPECT_EQ(body.outcome, DecodeOutcome::kWhole) << size << " " << front;
      EXPECT_FALSE(body.trailing_bytes);
      EXPECT_EQ(body.bytes, bytes);
    }
  }
}

TEST(StoredGzipTest, FrontIsPackedAndTheRestCostsAlmostNothing) {
  StoredGzip stored;
  const std::string bytes = std::string(2000, 'h') + Random(30'000, 1, 256);
  std::string member;
  stored.Append(bytes, 2000, member);
  EXPECT_LT(member.size(), 30'000U + 150);
}

TEST(WholeGunzipTest, AgreesWithTheStreamDecoderOrDeclines) {
  WholeGunzip whole;
  StoredGzip packer;
  std::string out;
  int taken = 0;
  for (int i = 0; i < 400; ++i) {
    Rng rng(i);
    const std::string text = Random(1 + rng.Below(5000), i, 1 + static_cast<int>(rng.Below(40)));
    std::string member;
    packer.Append(text, rng.Below(text.size() + 1), member);
    if (i % 4 == 1) member.resize(rng.Below(member.size() + 1));
    if (i % 4 == 2) member[rng.Below(member.size())] ^= 4;
    if (i % 4 == 3) packer.Append(text, text.size() / 2, member);
    const DecodedBody expected = DecodeBody(member, CodingStack::Of(ContentCoding::kGzip), {});
    if (!whole.Decode(member, {}, out)) continue;
    ++taken;
    EXPECT_EQ(expected.outcome, DecodeOutcome::kWhole) << i;
    EXPECT_EQ(out, expected.bytes) << i;
  }
  EXPECT_GE(taken, 100);
}

TEST(WholeGunzipTest, LimitsGoTheSlowWay) {
  WholeGunzip whole;
  StoredGzip packer;
  std::string member;
  packer.Append(std::string(1 << 20, 'a'), 1 << 20, member);
  std::string out;
  DecodeLimits limits;
  EXPECT_TRUE(whole.Decode(member, limits, out));
  EXPECT_EQ(out.size(), 1U << 20);
  limits.max_output = (1 << 20) - 1;
  EXPECT_FALSE(whole.Decode(member, limits, out));
  limits = {};
  limits.max_ratio = 100;
  EXPECT_FALSE(whole.Decode(member, limits, out));
  EXPECT_FALSE(whole.Decode("", {}, out));
}

}  // namespace
}  // namespace portolan
