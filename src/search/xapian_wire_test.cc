// The bytes of Xapian's protocol; and that our reading and writing agree with the library.

#include "search/xapian_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <random>

namespace portolan {
namespace {

using testing::HasSubstr;

std::string NumberBytes(uint64_t number) {
  std::string out;
  AppendWireNumber(out, number);
  return out;
}

std::string DoubleBytes(double value) {
  std::string out;
  AppendWireDouble(out, value);
  return out;
}

QueryPlan PlanOf(const std::string& words) {
  return QueryPlan::Make(*UserQuery::Parse(words), {}, {.fields = {1, 0, 0, 0, 0}, .still = 0}).value();
}

TEST(XapianWireTest, NumbersAreGoldenAndComeBack) {
  EXPECT_EQ(NumberBytes(0), std::string(1, '\0'));
  EXPECT_EQ(NumberBytes(254), "\xfe");
  EXPECT_EQ(NumberBytes(255), "\xff\x80");
  EXPECT_EQ(NumberBytes(255 + 127), "\xff\xff");
  EXPECT_EQ(NumberBytes(255 + 128), std::string("\xff\x00\x81", 3));
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{254}, uint64_t{255}, uint64_t{1} << 32, (uint64_t{1} << 63) - 1}) {
    WireReader reader(NumberBytes(number));
    const std::string bytes = NumberBytes(number);
    WireReader again(bytes);
    uint64_t back = 0;
    EXPECT_TRUE(again.Number(back));
    EXPECT_EQ(back, number);
  }
  uint64_t number = 0;
  EXPECT_FALSE(WireReader("\xff\x7f\x7f").Number(number)) << "cut";
  EXPECT_FALSE(WireReader(std::string(1, '\xff') + std::string(20, '\x7f')).Number(number)) << "too long";
}

TEST(XapianWireTest, DoublesAreGoldenAndThoseOfTheLibrary) {
  EXPECT_EQ(DoubleBytes(1), "\x07\x01");
  EXPECT_EQ(DoubleBytes(-0.5), "\x86\x80");
  EXPECT_EQ(DoubleBytes(0), std::string("\x06\x00", 2));
  std::mt19937_64 random(1);
  std::vector<double> values = {0.1, 1e300, 1e-300, DBL_MAX, DBL_MIN, 255, 256, 65535.5, 3.14159};
  for (int i = 0; i < 1000; ++i)
    values.push_back(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 100));
  for (const double value : values) {
    const std::string bytes = DoubleBytes(value);
    WireReader reader(bytes);
    double back = 0;
    ASSERT_TRUE(reader.Double(back)) << value;
    EXPECT_EQ(back, value);
    EXPECT_TRUE(reader.rest().empty());
    // The library writes the five constants of BM25 like that.
    if (value < 1e100 && value >= 0) {
      EXPECT_TRUE(Xapian::BM25Weight(value, 0, 0, 0, 0).serialise().starts_with(bytes)) << value;
    }
  }
  double value = 0;
  EXPECT_FALSE(WireReader("\x7f\xff\xff\x01").Double(value)) << "cut";
  EXPECT_FALSE(WireReader("\x0f\xff\xff\xff").Double(value)) << "infinite";
}

TEST(XapianWireTest, AQuestionIsGolden) {
  const QueryPlan plan = PlanOf("a");
  const std::string query = Xapian::Query("a").serialise();
  const std::string weight = Xapian::BM25Weight(plan.options().k1, 0, 0, plan.options().b, 0.5).serialise();
  std::string expected = NumberBytes(query.size()) + query;
  expected += std::string(
      "\x01\x00"
      "1\x00"
      "30\x06\x00\x00\x06\x00",
      11);
  expected += NumberBytes(18) + "Xapian::BM25Weight" + NumberBytes(weight.size()) + weight + NumberBytes(0);
  EXPECT_EQ(WireQuery(plan), expected);
  SearchStatistics all{.documents = 7, .total_length = 300, .terms = {{"a", {3, 5}}}};
  EXPECT_EQ(WireMset(plan, all, 10, 1000), NumberBytes(0) + NumberBytes(10) + NumberBytes(1000) + NumberBytes(300) +
                                               NumberBytes(7) + NumberBytes(0) + NumberBytes(300) +
                                               std::string("\x00\x01\x01"
                                                           "a\x03\x05",
                                                           6));
}

TEST(XapianWireTest, MessagesComeInAnyPieces) {
  std::string bytes;
  AppendWireMessage(bytes, WireAsk::kQuery, std::string(1000, 'x'));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(TakeWireMessage(std::string_view(bytes).substr(0, size)).error().code(), ErrorCode::kNotFound) << size;
  }
  bytes += "more";
  const auto message = TakeWireMessage(bytes).value();
  EXPECT_EQ(message.type, 8);
  EXPECT_EQ(message.body, std::string(1000, 'x'));
  EXPECT_EQ(message.size, bytes.size() - 4);
  EXPECT_EQ(TakeWireMessage(std::string("\0\xff\x7f\x7f\x7f\xff", 6)).error().code(), ErrorCode::kCorrupt);
}

TEST(XapianWireTest, StatisticsThatCannotBeTrueAreRefused) {
  const QueryPlan plan = PlanOf("a");
  const auto parse = [&](const std::string& bytes) {
    const auto statistics = ParseWireStatistics(bytes, plan);
    return statistics ? std::string() : statistics.error().message();
  };
  const std::string head = NumberBytes(300) + NumberBytes(7) + NumberBytes(0) + NumberBytes(300) + '\0';
  EXPECT_EQ(parse(head + NumberBytes(1) +
                  "\x01"
                  "a\x03\x05"),
            "");
  EXPECT_EQ(parse(head + NumberBytes(0)), "");
  EXPECT_THAT(parse(head + NumberBytes(1) +
                    "\x01"
                    "b\x03\x05"),
              HasSubstr("not asked for"));
  EXPECT_THAT(parse(head + NumberBytes(1) +
                    "\x01"
                    "a\x08\x09"),
              HasSubstr("8 of its 7 pages"));
  EXPECT_THAT(parse(head + NumberBytes(200)), HasSubstr("not asked for"));
  EXPECT_THAT(parse(head + NumberBytes(1) + "\x01"), HasSubstr("cut"));
  EXPECT_THAT(parse(head + NumberBytes(0) + "x"), HasSubstr("tail"));
  EXPECT_THAT(parse(""), HasSubstr("no sense"));
}

TEST(XapianWireTest, ResultsThatCannotBeTrueAreRefused) {
  const auto hit = [](double score, uint64_t docid, const std::string& tie) {
    return DoubleBytes(score) + NumberBytes(docid) + NumberBytes(tie.size()) + tie + NumberBytes(0) + NumberBytes(0);
  };
  const auto parse = [&](uint64_t matches, uint64_t size, const std::string& hits) {
    std::string bytes = NumberBytes(0);
    for (int i = 0; i < 6; ++i) bytes += NumberBytes(matches);
    const auto results =
        ParseWireResults(bytes + DoubleBytes(9) + DoubleBytes(9) + DoubleBytes(1) + NumberBytes(size) + hits, 2, 100);
    return results ? std::to_string(results->hits.size()) : results.error().message();
  };
  EXPECT_EQ(parse(5, 2, hit(2, 7, "12345678") + hit(1, 8, "")), "2");
  EXPECT_THAT(parse(5, 2, hit(1, 7, "") + hit(2, 8, "")), HasSubstr("not in order"));
  EXPECT_THAT(parse(5, 1, hit(-1, 7, "")), HasSubstr("not in order"));
  EXPECT_THAT(parse(5, 2, hit(1, 7, "") + hit(1, 7, "")), HasSubstr("twice"));
  EXPECT_THAT(parse(5, 1, hit(1, 0, "")), HasSubstr("no number"));
  EXPECT_THAT(parse(5, 3, hit(1, 7, "")), HasSubstr("more than the 2"));
  EXPECT_THAT(parse(1, 2, hit(1, 7, "") + hit(1, 8, "")), HasSubstr("number of matches"));
  EXPECT_THAT(parse(uint64_t{1} << 40, 0, ""), HasSubstr("no sense"));
  EXPECT_THAT(parse(5, 2, hit(1, 7, "")), HasSubstr("cut"));
}

}  // namespace
}  // namespace portolan
