// Dictionaries of URLs: what is written is found, in both directions; what is damaged is an error with a name.

#include "graph/url_dictionary.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/url_dictionary_format.h"

namespace portolan::graph {
namespace {

using Keys = std::vector<std::string>;

std::string WriteDictionary(const Keys& keys) {
  std::string file;
  UrlDictionaryWriter writer([&file](std::string_view bytes) -> Status {
    file.append(bytes);
    return {};
  });
  for (const std::string& key : keys) EXPECT_TRUE(writer.Add(key)) << key;
  EXPECT_TRUE(writer.Finish());
  EXPECT_EQ(writer.size(), keys.size());
  EXPECT_EQ(writer.bytes(), file.size());
  return file;
}

// Keys like those of URLs: few hosts, shared directories, some of any bytes.
Keys RandomKeys(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::string> keys;
  while (keys.size() < count) {
    std::string key;
    if (random() % 10 == 0) {
      for (size_t i = random() % 6; i > 0; --i) key += static_cast<char>(random() % 4 * 85);
    } else {
      key = "com,host" + std::to_string(random() % (1 + count / 50)) + ")/";
      for (size_t i = random() % 4; i > 0; --i) key += "dir" + std::to_string(random() % 5) + "/";
      key += std::to_string(random() % (count * 2));
    }
    keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

void ExpectHolds(const UrlDictionary& dictionary, const Keys& keys) {
  ASSERT_EQ(dictionary.size(), keys.size());
  std::string got;
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(dictionary.Find(keys[i]).value(), i);
    ASSERT_EQ(dictionary.LowerBound(keys[i]).value(), i);
    ASSERT_TRUE(dictionary.Get(i, got));
    ASSERT_EQ(got, keys[i]);
  }
}

TEST(UrlDictionaryTest, NumbersAreThePositionsOfKeys) {
  // Around the sizes where a block, an index block and a second level become full.
  for (const size_t count : {1, 2, 63, 64, 65, 128, 129, 4095, 4096, 4097, 9000}) {
    const Keys keys = RandomKeys(count, count);
    const std::string file = WriteDictionary(keys);
    const auto dictionary = UrlDictionary::Open(file);
    ASSERT_TRUE(dictionary) << count;
    ExpectHolds(*dictionary, keys);
  }
}

TEST(UrlDictionaryTest, KeysThatAreNotThereAreNotFoundAndHaveALowerBound) {
  const Keys keys = RandomKeys(5000, 3);
  const std::string file = WriteDictionary(keys);
  const auto dictionary = UrlDictionary::Open(file).value();
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::string key = keys[random() % keys.size()];
    switch (random() % 4) {
      case 0:
        key += static_cast<char>(random());
        break;
      case 1:
        key.resize(random() % (key.size() + 1));
        break;
      case 2:
        if (!key.empty()) key[random() % key.size()] = static_cast<char>(random());
        break;
      default:
        if (!key.empty()) --key.back();
    }
    const auto expected = std::ranges::lower_bound(keys, key);
    const auto number = static_cast<uint64_t>(expected - keys.begin());
    ASSERT_EQ(dictionary.LowerBound(key).value(), number);
    const bool there = expected != keys.end() && *expected == key;
    ASSERT_EQ(dictionary.Find(key).value(), there ? std::optional(number) : std::nullopt);
  }
}

TEST(UrlDictionaryTest, AScanGivesAllKeysInOrderFromAnyNumber) {
  const Keys keys = RandomKeys(300, 5);
  const std::string file = WriteDictionary(keys);
  const auto dictionary = UrlDictionary::Open(file).value();
  for (size_t first = 0; first <= keys.size() + 1; ++first) {
    UrlDictionary::Scan scan(dictionary, first);
    size_t at = first;
    for (; scan.Next(); ++at) {
      ASSERT_EQ(scan.number(), at);
      ASSERT_EQ(scan.key(), keys[at]);
    }
    ASSERT_TRUE(scan.status());
    ASSERT_EQ(at, std::max(first, keys.size()));
  }
}

TEST(UrlDictionaryTest, OfNoKeysFindsNone) {
  const std::string file = WriteDictionary({});
  const auto dictionary = UrlDictionary::Open(file).value();
  EXPECT_EQ(dictionary.size(), 0U);
  EXPECT_EQ(dictionary.Find("").value(), std::nullopt);
  EXPECT_EQ(dictionary.LowerBound("x").value(), 0U);
  std::string got;
  EXPECT_EQ(dictionary.Get(0, got).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(UrlDictionary::Scan(dictionary).Next());
}

TEST(UrlDictionaryTest, TheEmptyKeyAndTheLongestAreKeys) {
  const Keys keys = {"", std::string(1, '\0'), std::string(kMaxUrlKey, 'a'), "\xff"};
  const std::string file = WriteDictionary(keys);
  ExpectHolds(UrlDictionary::Open(file).value(), keys);
}

TEST(UrlDictionaryTest, RefusesKeysOutOfOrderAndTooLongOnesAndGoesOn) {
  std::string file;
  UrlDictionaryWriter writer([&file](std::string_view bytes) -> Status {
    file.append(bytes);
    return {};
  });
  ASSERT_TRUE(writer.Add("b"));
  EXPECT_EQ(writer.Add("b").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.Add("a").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.Add(std::string(kMaxUrlKey + 1, 'z')).error().code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(writer.Add("\x80"));
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(writer.Add("\xff").error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(writer.Finish().error().code(), ErrorCode::kInvalidArgument);
  ExpectHolds(UrlDictionary::Open(file).value(), {"b", "\x80"});
}

TEST(UrlDictionaryTest, AnErrorOfTheSinkStays) {
  bool fail = false;
  UrlDictionaryWriter writer([&fail](std::string_view) -> Status {
    if (fail) return Fail(ErrorCode::kNoSpace, "full");
    return {};
  });
  for (char c = 'a'; c <= 'z'; ++c) ASSERT_TRUE(writer.Add(std::string(1, c)));
  fail = true;
  EXPECT_EQ(writer.Finish().error().code(), ErrorCode::kNoSpace);
  fail = false;
  EXPECT_EQ(writer.Add("zz").error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(writer.Finish().error().code(), ErrorCode::kNoSpace);
}

TEST(UrlDictionaryTest, WriterMemoryDoesNotGrowWithTheKeys) {
  // What a writer holds back is what comes out of Finish: a block per level and the footer.
  const auto held_back = [](size_t count) {
    size_t written = 0;
    UrlDictionaryWriter writer([&written](std::string_view bytes) -> Status {
      written += bytes.size();
      return {};
    });
    for (size_t i = 0; i < count; ++i) EXPECT_TRUE(writer.Add(fmt::format("com,example)/page/{:010}", i)));
    const size_t before = written;
    EXPECT_TRUE(writer.Finish());
    return written - before;
  };
  EXPECT_LT(held_back(300'000), 4 * 1024U);
}

TEST(UrlDictionaryTest, GoldenBytes) {
  const std::string file = WriteDictionary({"com,a)/", "com,a)/x", "com,b)/"});
  const std::string expected(
      "PTLUDICT\1\0\0\0"                      // header
      "\0\7com,a)/\7\1x\4\3b)/"               // data block
      "O\xd2\xe7\4"                           // its checksum
      "\3\0\0\0\0\0\0\0"                      // footer: keys
      "\x0c\0\0\0\0\0\0\0\x15\0\0\0\0\0\0\0"  // root
      "\0\0\0\0\1\0\0\0z:\xd5\x11"            // levels, version, checksum
      "PTLUDICT",
      12 + 21 + 44);
  EXPECT_EQ(file, expected);
}

// Every flipped bit of a file with two levels of index: an error, or the right answer from bytes that are intact.
TEST(UrlDictionaryCorruptionTest, EveryFlippedBitIsAnErrorWhereItMatters) {
  const Keys keys = RandomKeys(200, 7);
  const std::string file = WriteDictionary(keys);
  std::string got;
  for (size_t bit = 0; bit < file.size() * 8; bit += 3) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto dictionary = UrlDictionary::Open(damaged);
    if (!dictionary) continue;
    size_t errors = 0;
    for (size_t i = 0; i < keys.size(); i += 9) {
      const Status status = dictionary->Get(i, got);
      if (status) {
        ASSERT_EQ(got, keys[i]);
      } else {
        ASSERT_EQ(status.error().code(), ErrorCode::kCorrupt);
        ++errors;
      }
      const auto found = dictionary->Find(keys[i]);
      if (found) {
        ASSERT_EQ(*found, i);
      }
    }
    UrlDictionary::Scan scan(*dictionary);
    while (scan.Next()) ASSERT_EQ(scan.key(), keys[scan.number()]);
    ASSERT_FALSE(scan.status()) << bit;
    ASSERT_GT(errors, 0U) << bit;
  }
}

TEST(UrlDictionaryCorruptionTest, EveryTruncationIsRefused) {
  const std::string file = WriteDictionary(RandomKeys(200, 8));
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string cut = file.substr(0, size);
    const auto dictionary = UrlDictionary::Open(cut);
    ASSERT_FALSE(dictionary);
    ASSERT_EQ(dictionary.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(UrlDictionaryCorruptionTest, ABlockInThePlaceOfAnotherIsAnError) {
  // Two blocks of one size that differ in a digit change places.
  Keys keys;
  for (int i = 0; i < 192; ++i) keys.push_back(fmt::format("key{:03}", i));
  std::string file = WriteDictionary(keys);
  const auto dictionary = UrlDictionary::Open(file).value();
  const size_t size = (file.size() - kUrlDictionaryFooterSize) / 3;  // of a block, roughly
  ASSERT_GT(size, 64U);
  const size_t second = file.find(std::string("\0\6key064", 8));
  const size_t third = file.find(std::string("\0\6key128", 8));
  ASSERT_NE(second, std::string::npos);
  ASSERT_NE(third, std::string::npos);
  const size_t length = third - second;
  std::swap_ranges(file.begin() + static_cast<long>(second), file.begin() + static_cast<long>(third),
                   file.begin() + static_cast<long>(third));
  std::string got;
  EXPECT_GT(length, 64U);
  EXPECT_TRUE(dictionary.Get(0, got));
  EXPECT_EQ(dictionary.Get(64, got).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(dictionary.Find("key130").error().code(), ErrorCode::kCorrupt);
}

TEST(UrlDictionaryCorruptionTest, AnotherVersionIsUnsupported) {
  std::string file = WriteDictionary({"a"});
  file[kUrlDictionaryMagic.size()] = 2;
  EXPECT_EQ(UrlDictionary::Open(file).error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace portolan::graph
