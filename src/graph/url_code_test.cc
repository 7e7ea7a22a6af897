// The code of URL ends: what is written is read again, whatever bytes, numbers and hexadecimal digits it has.

#include "graph/url_code.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace portolan::graph {
namespace {

std::string SomeEnd(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0: {
      std::string any;
      for (size_t i = random() % 40; i > 0; --i) any += static_cast<char>(random());
      return any;
    }
    case 1:
      return fmt::format("{:016x}-{}.jpg", random(), random() % 1000);
    case 2:
      return fmt::format("news/{}/{}", random() % 1'000'000'000, random() % 100'000);
    case 3:
      return fmt::format("id={}&n={:06}", 999'999'000 + random() % 2000, random() % 1000);
    default:
      return fmt::format("2024/05/word-page-{}.html", 123'000 + random() % 1000);
  }
}

// What Reader gives.
std::string Read(const UrlCode& code, const UrlCode::Cursor& at, const UrlEnd& end, uint32_t& number) {
  UrlCode::Reader reader(code, at, end.whole, end.number);
  std::string text;
  char space[UrlCode::kOverrun];
  while (!reader.ended()) text += reader.Next(space);
  number = reader.number();
  return text;
}

void CheckRoundTrip(const UrlCode& code, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> urls;
  std::vector<UrlEnd> ends;
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 3000; ++i) urls.push_back("https://a.test/" + SomeEnd(random));
  BitWriter out;
  uint32_t number = 0;
  for (const std::string& url : urls) {
    const bool whole = random() % 8 == 0;
    ends.push_back({.url = url, .shared = whole ? 0U : 15U, .whole = whole, .number = number});
    number = code.WriteEnd(ends.back(), out);
    numbers.push_back(number);
  }
  std::string bytes = out.Finish();
  bytes.append(8, '\xff');
  UrlCode::Cursor at(bytes.data(), 0);
  for (size_t i = 0; i < ends.size(); ++i) {
    uint32_t read = 0;
    ASSERT_EQ(Read(code, at, ends[i], read), ends[i].url.substr(ends[i].shared));
    ASSERT_EQ(read, numbers[i]);
    // Leaving the text out, at once or after the first symbol, comes to the same place.
    UrlCode::Reader reader(code, at, ends[i].whole, ends[i].number);
    char space[UrlCode::kOverrun];
    (void)reader.Next(space);
    reader.Skip();
    ASSERT_EQ(reader.number(), numbers[i]);
    read = ends[i].number;
    code.SkipEnd(at, ends[i].whole, read);
    ASSERT_EQ(read, numbers[i]);
    ASSERT_EQ(at.position(), reader.cursor().position());
  }
}

TEST(UrlCodeTest, ReadsWhatItWritesWithoutASample) { CheckRoundTrip(UrlCode(), 1); }

TEST(UrlCodeTest, ReadsWhatItWritesWithAVocabulary) {
  std::mt19937_64 random(2);
  UrlCode::Sample sample;
  uint32_t number = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string& url = sample.urls.emplace_back("https://a.test/" + SomeEnd(random));
    const bool whole = i % 8 == 0;
    sample.ends.push_back({.url = url, .shared = whole ? 0U : 15U, .whole = whole, .number = number});
    number = NextNumber(url, 15).value;
  }
  const UrlCode code(sample);
  CheckRoundTrip(code, 3);
  // The ends that it has learnt take less than a quarter of their bytes: 27 bytes of which 10 bits are random.
  BitWriter out;
  const std::string url = "https://a.test/2024/05/word-page-123456.html";
  code.WriteEnd({.url = url, .shared = 15, .whole = false, .number = 123'400}, out);
  EXPECT_LT(out.written(), (url.size() - 15) * 2);
}

TEST(UrlStringsTest, FindsNumbersOfFiveToNineDigits) {
  const auto number = [](std::string_view url) {
    const UrlNumber found = NextNumber(url, 0);
    return std::string(url.substr(found.begin, found.end - found.begin));
  };
  EXPECT_EQ(number("/12345"), "12345");
  EXPECT_EQ(number("123456789/"), "123456789");
  EXPECT_EQ(number("/1234567890/54321"), "54321");
  EXPECT_EQ(number("/1234"), "");
  EXPECT_EQ(number("/012345"), "");  // the zero would be lost
  EXPECT_EQ(number("/a12345"), "");
  EXPECT_EQ(number("/12345b"), "");
  EXPECT_EQ(number("/12345-b"), "12345");
  EXPECT_EQ(number(""), "");
}

}  // namespace
}  // namespace portolan::graph
