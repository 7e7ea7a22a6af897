#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/crc32c.h"

namespace portolan {
namespace {

// The identity of URLs on disk: these values may never change.
TEST(HashTest, GoldenValues) {
  EXPECT_EQ(Hash64(""), 0x2d06800538d394c2U);
  EXPECT_EQ(Hash64("http://example.com/"), 0xb97a010e03af1e2bU);
  EXPECT_NE(Hash64("http://example.com/"), Hash64("http://example.com/", 1));
}

TEST(HashTest, MixIsABijectionOnASample) {
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 10'000; ++i) seen.insert(Mix64(i));
  EXPECT_EQ(seen.size(), 10'000U);
}

// From RFC 3720 B.4.
TEST(Crc32cTest, PublishedVectors) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(Crc32c(rising), 0x46dd794eU);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
}

TEST(Crc32cTest, PiecesGiveTheWhole) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text));
  }
}

}  // namespace
}  // namespace portolan
