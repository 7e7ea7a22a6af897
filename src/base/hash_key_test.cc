#include "base/hash_key.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/hash.h"

namespace portolan {
namespace {

constexpr HashKey::Words kWords = {0x0123456789abcdef, 0xfedcba9876543210, 0x0f1e2d3c4b5a6978, 0x8796a5b4c3d2e1f0};

// The identity of URLs in crawls that are on disk: these values may never change. One for each code path of XXH3.
TEST(HashKeyTest, GoldenValues) {
  const HashKey key(kWords);
  EXPECT_EQ(key.Hash(""), 0x5deca66ebafc2082U);
  EXPECT_EQ(key.Hash("a.b"), 0x3b655fdcd07973f0U);
  EXPECT_EQ(key.Hash("a.test"), 0xb1849a1c5d30e271U);
  EXPECT_EQ(key.Hash("example.com"), 0x0a848510a1f073c3U);
  EXPECT_EQ(key.Hash("http://example.com/"), 0xcbfcc89624965d74U);
  EXPECT_EQ(key.Hash(std::string(200, 'a')), 0x31ff13631bdf707cU);
  EXPECT_EQ(key.Hash(std::string(2000, 'a')), 0xea03486145f70917U);
}

TEST(HashKeyTest, TheKnownKeyIsHash64) {
  std::string text;
  for (size_t size = 0; size < 600; ++size, text += static_cast<char>('a' + size % 26)) {
    ASSERT_EQ(HashKey::Known().Hash(text), Hash64(text)) << size;
  }
  EXPECT_EQ(HashKey::Known(), HashKey());
  EXPECT_FALSE(HashKey::Known() == HashKey(kWords));
}

// Each bit of the 32 bytes counts, for inputs of every length: that is every code path of XXH3.
TEST(HashKeyTest, EveryBitOfTheSecretCounts) {
  std::string text;
  for (size_t size = 0; size < 600; size += size < 20 ? 1 : 37) {
    text.resize(size, 'x');
    std::set<uint64_t> seen = {Hash64(text), HashKey(kWords).Hash(text)};
    for (size_t bit = 0; bit < 256; ++bit) {
      HashKey::Words words = kWords;
      words[bit / 64] ^= uint64_t{1} << (bit % 64);
      seen.insert(HashKey(words).Hash(text));
    }
    EXPECT_EQ(seen.size(), 258U) << size;
  }
}

}  // namespace
}  // namespace portolan
