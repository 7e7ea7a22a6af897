#include "bench/seen/link_stream.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cmath>
#include <string>
#include <unordered_set>

#include "base/hash.h"

namespace portolan::bench {
namespace {

TEST(LinkStreamTest, SameSeedGivesTheSameLinksAndAnotherSeedOthers) {
  LinkStream first({.seed = 7});
  LinkStream second({.seed = 7});
  LinkStream other({.seed = 8});
  uint64_t differing = 0;
  for (int page = 0; page < 200; ++page) {
    const auto a = first.NextPage();
    const auto b = second.NextPage();
    const auto c = other.NextPage();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].text, b[i].text);
      differing += i < c.size() && c[i].text != a[i].text ? 1 : 0;
    }
  }
  EXPECT_GT(differing, first.links() / 2);
}

TEST(LinkStreamTest, KeysAreTheHashesOfUrlsThatLookLikeUrls) {
  LinkStream stream({});
  for (int page = 0; page < 2000; ++page) {
    for (const Link& link : stream.NextPage()) {
      ASSERT_EQ(link.key, Hash64(link.text));
      ASSERT_TRUE(link.text.starts_with("https://") || link.text.starts_with("http://")) << link.text;
      ASSERT_NE(link.text.find('/', 8), std::string_view::npos) << link.text;
      ASSERT_LT(link.text.size(), kMaxUrl);
      for (const char c : link.text) ASSERT_TRUE(c > ' ' && c < 0x7f) << link.text;
    }
  }
}

TEST(LinkStreamTest, HasTheMeansOfACrawlAtEveryLength) {
  LinkStream stream({});
  std::unordered_set<uint64_t> seen;
  uint64_t bytes = 0;
  for (const uint64_t length : {1'000'000, 2'000'000, 4'000'000}) {
    while (stream.links() < length) {
      for (const Link& link : stream.NextPage()) {
        seen.insert(link.key);
        bytes += link.text.size();
      }
    }
    const auto links = static_cast<double>(stream.links());
    EXPECT_NEAR(static_cast<double>(seen.size()) / links * 9, 1, 0.05);
    EXPECT_NEAR(static_cast<double>(stream.unique_links()) / static_cast<double>(seen.size()), 1, 0.002);
    EXPECT_NEAR(links / static_cast<double>(stream.pages()), 59, 1);
    EXPECT_NEAR(static_cast<double>(bytes) / links, 70, 5);
  }
}

// Links of real pages in 64 KiB blocks: lz4 2.82, zstd level 1 3.89.
TEST(LinkStreamTest, CompressesLikeTheLinksOfRealPages) {
  LinkStream stream({});
  while (stream.links() < 1'000'000) stream.NextPage();
  std::string block;
  std::string out(1 << 18, '\0');
  uint64_t raw = 0;
  uint64_t lz4 = 0;
  uint64_t zstd = 0;
  while (raw < (8U << 20U)) {
    for (const Link& link : stream.NextPage()) block.append(link.text).push_back('\n');
    if (block.size() < 65536) continue;
    raw += 65536;
    lz4 += static_cast<uint64_t>(LZ4_compress_default(block.data(), out.data(), 65536, static_cast<int>(out.size())));
    zstd += ZSTD_compress(out.data(), out.size(), block.data(), 65536, 1);
    block.erase(0, 65536);
  }
  EXPECT_NEAR(static_cast<double>(raw) / static_cast<double>(lz4), 2.82, 0.28);
  EXPECT_NEAR(static_cast<double>(raw) / static_cast<double>(zstd), 3.89, 0.39);
}

}  // namespace
}  // namespace portolan::bench
