#include "warc/gzip_member.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "io/rng.h"

namespace portolan {
namespace {

// One whole member and nothing after it, as zlib reads it (which checks CRC and length).
std::string Unpacked(const std::string& member) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string out;
  std::string piece(1 << 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.data()));
  stream.avail_in = static_cast<uInt>(member.size());
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  EXPECT_EQ(code, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return out;
}

// From "aaaa" to noise: words of a small alphabet, random bytes, or one byte again and again.
std::string AnyBytes(Rng& rng, size_t size) {
  std::string text(size, 'a');
  const uint64_t letters = uint64_t{1} << rng.Below(9);
  for (char& c : text) c = static_cast<char>(rng.Below(letters));
  return text;
}

TEST(GzipMemberTest, EveryLevelGivesBackWhatWentIn) {
  Rng rng(1);
  for (int level = 1; level <= 12; ++level) {
    auto packer = GzipMember::Create(level);
    ASSERT_TRUE(packer.has_value());
    for (const size_t size : {0, 1, 2, 7, 600, 65'535, 65'536, 200'001}) {
      const std::string text = AnyBytes(rng, size);
      std::string out = "before";
      const size_t length = packer->Append(text, out);
      ASSERT_EQ(out.size(), 6 + length);
      EXPECT_EQ(Unpacked(out.substr(6)), text) << "level " << level << ", " << size << " bytes";
    }
  }
}

TEST(GzipMemberTest, FastestLevelTakesAnySizeAndAnyBytes) {
  Rng rng(2);
  auto packer = GzipMember::Create(1);
  ASSERT_TRUE(packer.has_value());
  for (int round = 0; round < 400; ++round) {
    const std::string text = AnyBytes(rng, rng.Below(uint64_t{1} << rng.Below(19)));
    std::string out;
    packer->Append(text, out);
    ASSERT_EQ(Unpacked(out), text) << "round " << round;
    ASSERT_LE(out.size(), text.size() + text.size() / 1000 + 64);
  }
}

TEST(GzipMemberTest, NoiseLargerThanTheKeptBuffer) {
  Rng rng(3);
  auto packer = GzipMember::Create(1);
  ASSERT_TRUE(packer.has_value());
  std::string noise(GzipMember::kKeepBuffer + 12'345, '\0');
  for (char& c : noise) c = static_cast<char>(rng.Next());
  for (int round = 0; round < 2; ++round) {
    std::string out;
    packer->Append(noise, out);
    EXPECT_TRUE(Unpacked(out) == noise);
  }
}

TEST(GzipMemberTest, SameBytesSameMember) {
  Rng rng(4);
  auto one = GzipMember::Create(1);
  auto other = GzipMember::Create(1);
  const std::string text = AnyBytes(rng, 30'000);
  std::string ignored;
  other->Append(AnyBytes(rng, 50'000), ignored);  // what came before leaves no trace
  std::string first;
  std::string second;
  one->Append(text, first);
  other->Append(text, second);
  EXPECT_EQ(first, second);
}

TEST(GzipMemberTest, LevelsThatDoNotExist) {
  EXPECT_FALSE(GzipMember::Create(0).has_value());
  EXPECT_FALSE(GzipMember::Create(13).has_value());
}

}  // namespace
}  // namespace portolan
