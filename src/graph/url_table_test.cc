// The table of URLs: against std::map with URLs of all shapes, over several vocabularies.

#include "graph/url_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace portolan::graph {
namespace {

std::string RandomUrl(std::mt19937_64& random) {
  switch (random() % 20) {
    case 0: {  // any bytes, the empty string and very short ones among them
      std::string any;
      for (size_t i = random() % 4; i > 0; --i) any += static_cast<char>(random() % 3 * 127);
      return any;
    }
    case 1:  // long prefixes: more than a shared prefix can be
      return "https://long.test/" + std::string(200 + random() % 120, 'x') + std::to_string(random() % 50);
    default:
      return fmt::format("http{}://www.host{}.com/{}/page-{}.html", random() % 2 == 0 ? "" : "s", random() % 400,
                         random() % 2 == 0 ? "news" : "archive/2024", random() % 300);
  }
}

TEST(UrlTableTest, AnswersAsAMapDoes) {
  UrlTable table{HashKey(HashKey::Words{1, 2, 3, 4})};
  std::map<std::string, uint64_t> truth;
  std::set<uint64_t> numbers;
  std::mt19937_64 random(1);
  std::string got;
  for (int i = 0; i < 150'000; ++i) {
    const std::string url = RandomUrl(random);
    const auto known = truth.find(url);
    const auto found = table.Find(url);
    ASSERT_EQ(found.has_value(), known != truth.end()) << url;
    const auto number = table.Insert(url);
    ASSERT_TRUE(number);
    if (known != truth.end()) {
      ASSERT_EQ(*number, known->second);
      ASSERT_EQ(*found, known->second);
    } else {
      ASSERT_TRUE(numbers.insert(*number).second) << "two URLs have one number";
      truth.emplace(url, *number);
    }
    ASSERT_EQ(table.Find(url), *number);
    ASSERT_TRUE(table.Get(*number, got));
    ASSERT_EQ(got, url);
  }
  // Numbers stay, through all vocabularies.
  ASSERT_EQ(table.size(), truth.size());
  ASSERT_GT(table.size(), 40'000U);
  for (const auto& [url, number] : truth) {
    ASSERT_EQ(table.Find(url), number);
    ASSERT_TRUE(table.Get(number, got));
    ASSERT_EQ(got, url);
    ASSERT_LT(number, table.number_limit());
  }
}

TEST(UrlTableTest, NumbersThatWereNotGivenAreNotFound) {
  UrlTable table{HashKey()};
  const uint64_t number = table.Insert("http://a.test/").value();
  std::string got;
  for (uint64_t other = 0; other < 100; ++other) {
    if (other == number) continue;
    const Status status = table.Get(other, got);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kNotFound);
  }
}

TEST(UrlTableTest, NumbersAreNearlyDense) {
  UrlTable table{HashKey()};
  for (int i = 0; i < 60'000; ++i) {
    ASSERT_TRUE(table.Insert(fmt::format("http://host{}.test/{}", i % 3000, i)));
    ASSERT_LE(table.number_limit(), table.size() + UrlTable::kMostFree);
  }
}

TEST(UrlTableTest, TakesTheLongestUrlAndRefusesALongerOne) {
  UrlTable table{HashKey()};
  std::mt19937_64 random(2);
  std::vector<std::string> urls;
  for (uint32_t i = 0; i < 2 * UrlTable::kChunkUrls; ++i) {
    std::string url(UrlTable::kMaxUrl, '\0');
    for (char& c : url) c = static_cast<char>(random());
    urls.push_back(url);
    ASSERT_TRUE(table.Insert(url));
  }
  std::string got;
  for (const std::string& url : urls) {
    const auto number = table.Find(url);
    ASSERT_TRUE(number);
    ASSERT_TRUE(table.Get(*number, got));
    ASSERT_EQ(got, url);
  }
  EXPECT_EQ(table.Insert(std::string(UrlTable::kMaxUrl + 1, 'a')).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(table.Find(std::string(UrlTable::kMaxUrl + 1, 'a')));
}

// More URLs of one host than its slot of the index can take: the others are in slots chosen by their own hashes.
TEST(UrlTableTest, TakesAnyNumberOfUrlsOfOneHost) {
  UrlTable table{HashKey(HashKey::Words{5, 6, 7, 8})};
  constexpr int kUrls = 80'000;
  std::vector<uint64_t> numbers;
  for (int i = 0; i < kUrls; ++i) {
    const auto number = table.Insert(fmt::format("https://giant.test/item/{}", i));
    ASSERT_TRUE(number);
    numbers.push_back(*number);
  }
  ASSERT_EQ(table.size(), uint64_t{kUrls});
  std::string got;
  for (int i = 0; i < kUrls; i += 7) {
    const std::string url = fmt::format("https://giant.test/item/{}", i);
    ASSERT_EQ(table.Find(url), numbers[static_cast<size_t>(i)]);
    ASSERT_TRUE(table.Get(numbers[static_cast<size_t>(i)], got));
    ASSERT_EQ(got, url);
    ASSERT_FALSE(table.Find(fmt::format("https://giant.test/item/{}", kUrls + i)));
  }
}

TEST(UrlIndexTest, FindsEveryEntryThroughSplits) {
  constexpr uint32_t kSlots = 3;
  UrlIndex index(kSlots);
  std::mt19937_64 random(3);
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> in_slot(kSlots);
  std::vector<uint32_t> chunks;
  for (uint32_t i = 0; i < 120'000; ++i) {
    hashes.push_back(random());
    chunks.push_back(in_slot[i % kSlots]++ / UrlIndex::kChunkUrls);
    ASSERT_TRUE(index.Add(i % kSlots, hashes.back(), chunks.back()));
  }
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < hashes.size(); ++i) {
    ASSERT_TRUE(index.Find(i % kSlots, hashes[i], [&](uint32_t chunk) {
      wrong += chunk == chunks[i] ? 0 : 1;
      return chunk == chunks[i];
    }));
  }
  // 40,000 entries that differ in 15 bits: 1.2 others agree, half of which come first.
  EXPECT_LT(wrong, hashes.size());
  EXPECT_LT(static_cast<double>(index.memory()) / static_cast<double>(hashes.size()), 2.0);
}

TEST(UrlIndexTest, SaysThatASlotIsFullAndKeepsWhatItHas) {
  UrlIndex index(2);
  std::mt19937_64 random(4);
  std::vector<uint64_t> hashes;
  while (true) {
    const uint64_t hash = random();
    if (!index.Add(1, hash, static_cast<uint32_t>(hashes.size() / UrlIndex::kChunkUrls))) break;
    hashes.push_back(hash);
  }
  EXPECT_TRUE(index.Full(1));
  EXPECT_FALSE(index.Full(0));
  EXPECT_GT(hashes.size(), 50'000U);
  EXPECT_FALSE(index.Add(1, random(), 0));
  for (size_t i = 0; i < hashes.size(); i += 11) {
    ASSERT_TRUE(index.Find(1, hashes[i], [&](uint32_t chunk) { return chunk == i / UrlIndex::kChunkUrls; }));
  }
}

TEST(PrefixCodeTest, DecodesWhatItEncodes) {
  for (const uint32_t symbols : {2U, 3U, 257U, 30'000U}) {
    std::vector<uint64_t> counts(symbols);
    uint64_t count = 1;
    for (size_t i = 0; i < symbols; ++i) counts[i] = i < 60 ? count *= 2 : i % 100;  // deeper than any code may be
    PrefixCode code;
    const std::vector<uint32_t> order = code.Build(counts);
    ASSERT_EQ(order.size(), symbols);
    for (uint32_t rank = 0; rank < symbols; ++rank) {
      ASSERT_LE(code.bits(rank), PrefixCode::kMaxBits);
      const uint64_t window = uint64_t{code.code(rank)} << (64 - code.bits(rank));
      for (const uint64_t noise : {uint64_t{0}, ~uint64_t{0} >> code.bits(rank)}) {
        const auto decoded = code.Decode(window | noise);
        ASSERT_EQ(decoded.rank, rank);
        ASSERT_EQ(decoded.bits, code.bits(rank));
      }
    }
  }
}

}  // namespace
}  // namespace portolan::graph
