// A link farm that knows this program chooses its names so that they all fall into one bucket of DRUM, one slot of a
// table, or the clock of another site's address. Against hashes without a key this works; that is shown here too, so
// that these tests can fail. Against a crawl's key it does not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/hash_key.h"
#include "crawl/pay_level.h"
#include "flow/address.h"
#include "flow/url_record.h"
#include "io/rng.h"
#include "url/link.h"

namespace portolan {
namespace {

constexpr int kKeys = 8;  // number of crawls that are tried

HashKey KeyOf(uint64_t seed) {
  Rng rng(seed);
  return HashKey({rng.Next(), rng.Next(), rng.Next(), rng.Next()});
}

// How uneven counts are: the sum of (count - mean)^2 / mean. For an even spread about counts.size() - 1, with a
// standard deviation of sqrt(2 (counts.size() - 1)).
double ChiSquare(const std::vector<uint64_t>& counts) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += count;
  const double mean = static_cast<double>(sum) / static_cast<double>(counts.size());
  double chi = 0;
  for (const uint64_t count : counts) {
    const double off = static_cast<double>(count) - mean;
    chi += off * off / mean;
  }
  return chi;
}

// Six standard deviations: of 8 keys none is expected there in a million runs, and the keys are fixed.
double EvenAtMost(size_t slots) {
  const auto degrees = static_cast<double>(slots - 1);
  return degrees + 6 * std::sqrt(2 * degrees);
}

// DRUM's bucket: the leading bits of the key.
constexpr unsigned kBucketBits = 8;

std::vector<uint64_t> Buckets(const std::vector<std::string>& urls, const HashKey& key) {
  std::vector<uint64_t> counts(size_t{1} << kBucketBits);
  LinkOptions options;
  options.key = key;
  Link link;
  for (const std::string& url : urls) {
    EXPECT_EQ(ResolveAbsolute(url, options, link), LinkOutcome::kCrawlable);
    EXPECT_EQ(link.url.href(), url);
    ++counts[link.hash >> (64 - kBucketBits)];
  }
  return counts;
}

TEST(AimedHashTest, UrlsThatFilledOneBucketSpreadEvenly) {
  std::vector<std::string> urls;
  for (uint64_t i = 0; urls.size() < 10'000; ++i) {
    std::string url = "http://farm.example/page/" + std::to_string(i) + ".html";
    if (Hash64(url) >> (64 - kBucketBits) == 0x5a) urls.push_back(std::move(url));
  }
  const std::vector<uint64_t> yesterday = Buckets(urls, HashKey::Known());
  EXPECT_EQ(yesterday[0x5a], urls.size()) << "the attack works";
  EXPECT_GT(ChiSquare(yesterday), 100 * EvenAtMost(yesterday.size()));
  for (int i = 0; i < kKeys; ++i) {
    const std::vector<uint64_t> today = Buckets(urls, KeyOf(i));
    EXPECT_LT(ChiSquare(today), EvenAtMost(today.size())) << i;
    EXPECT_LT(*std::max_element(today.begin(), today.end()), 2 * urls.size() / today.size()) << i;
  }
}

// Hosts of a wildcard, all in one slot of a table of 4,096: frontier and caches use the remainder.
TEST(AimedHashTest, HostsThatMetInOneSlotSpreadEvenly) {
  constexpr size_t kSlots = 4096;
  std::vector<std::string> urls;
  for (uint64_t i = 0; urls.size() < 1'000; ++i) {
    const std::string host = "h" + std::to_string(i) + ".farm.example";
    if (Hash64(host) % kSlots == 77) urls.push_back("http://" + host + "/");
  }
  const auto slots_of = [&](const auto& key_of) {
    std::vector<uint64_t> counts(kSlots);
    for (const std::string& url : urls) ++counts[key_of(url) % kSlots];
    return counts;
  };
  EXPECT_EQ(slots_of([](const std::string& url) { return HostKey(url, HashKey::Known()); })[77], urls.size());
  for (int i = 0; i < kKeys; ++i) {
    const HashKey key = KeyOf(i);
    for (const auto& counts : {slots_of([&](const std::string& url) { return HostKey(url, key); }),
                               slots_of([&](const std::string& url) { return OriginKey(url, key); })}) {
      EXPECT_LT(ChiSquare(counts), EvenAtMost(kSlots)) << i;
      EXPECT_LE(*std::max_element(counts.begin(), counts.end()), 8U) << i;
    }
  }
}

// Two addresses whose hashes without a key are equal in all 64 bits, so that they would share one clock. For 16 bytes
// XXH3 takes both halves, each xored with a known word: if the first becomes 1, the hash depends on twice the second,
// so its highest bit is lost.
TEST(AimedHashTest, AddressesThatWereOneAreTwo) {
  const auto word = [](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, XXH3_kSecret + at, sizeof(value));
    return value;
  };
  const auto address_of = [&](uint64_t first, uint64_t second) {
    first ^= word(24) ^ word(32);
    second ^= word(40) ^ word(48);
    Address address;
    address.v6 = true;
    std::memcpy(address.bytes.data(), &first, sizeof(first));
    std::memcpy(address.bytes.data() + 8, &second, sizeof(second));
    return address;
  };
  const Address victim = address_of(1, 0x123456789abcdef0);
  const Address attacker = address_of(1, 0x123456789abcdef0 ^ uint64_t{1} << 63);
  ASSERT_FALSE(victim == attacker);
  EXPECT_EQ(victim.Hash(HashKey::Known()), attacker.Hash(HashKey::Known())) << "the attack works";
  for (int i = 0; i < kKeys; ++i) EXPECT_NE(victim.Hash(KeyOf(i)), attacker.Hash(KeyOf(i))) << i;
}

TEST(AimedHashTest, DomainsDependOnTheKey) {
  auto known = PayLevelDomains::Create(HashKey::Known()).value();
  auto keyed = PayLevelDomains::Create(KeyOf(1)).value();
  const std::string url = "http://www.example.co.uk/";
  EXPECT_EQ(known.Key(url, 1), Hash64("example.co.uk"));
  EXPECT_EQ(keyed.Key(url, 1), KeyOf(1).Hash("example.co.uk"));
  EXPECT_NE(known.Key(url, 1), keyed.Key(url, 1));
}

}  // namespace
}  // namespace portolan
