// What is read from a request's bytes.

#include "serve/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ParseTargetTest, DecodesPathAndParametersInOrder) {
  Request request;
  ASSERT_TRUE(ParseTarget("/graph/o%75t?url=https%3A%2F%2Fa.test%2F%3Fx%3D1%262&limit=5&url=a+b&&x", request));
  EXPECT_EQ(request.path, "/graph/out");
  EXPECT_THAT(request.parameters,
              ElementsAre(Pair("url", "https://a.test/?x=1&2"), Pair("limit", "5"), Pair("url", "a+b"), Pair("x", "")));
}

TEST(ParseTargetTest, RefusesBrokenPercentEncoding) {
  Request request;
  for (const char* target : {"/a%", "/a%4", "/a%zz", "/?u=%", "/?u=%1", "/?%g0=1", "/?u=%%41"}) {
    const Status status = ParseTarget(target, request);
    ASSERT_FALSE(status) << target;
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message(), HasSubstr("%25"));
  }
  EXPECT_FALSE(ParseTarget("", request));
  EXPECT_FALSE(ParseTarget("http://a.test/", request));
  EXPECT_FALSE(ParseTarget("*", request));
}

TEST(RequestTest, NumbersHaveBounds) {
  Request request;
  ASSERT_TRUE(ParseTarget("/?n=7&t=1&t=2&bad=7x&huge=99999999999999999999&minus=-1", request));
  EXPECT_EQ(request.Number("n", 1, 0, 7).value(), 7u);
  EXPECT_EQ(request.Number("none", 3, 0, 7).value(), 3u);
  EXPECT_FALSE(request.Number("n", 1, 0, 6));
  EXPECT_FALSE(request.Number("n", 1, 8, 9));
  for (const char* name : {"t", "bad", "huge", "minus"}) EXPECT_FALSE(request.Number(name, 0, 0, UINT64_MAX)) << name;
  EXPECT_FALSE(request.Only({"n", "t"}));
  EXPECT_TRUE(request.Only({"n", "t", "bad", "huge", "minus"}));
}

TEST(ParseUrlListTest, TakesAListOfStringsAndNothingElse) {
  EXPECT_THAT(ParseUrlList(R"( ["a", "b\u00e9\n"] )", 2).value(), ElementsAre("a", "b\xc3\xa9\n"));
  EXPECT_TRUE(ParseUrlList("[]", 2).value().empty());
  for (const char* json : {"", "null", "\"a\"", "{}", "[1]", "[\"a\",null]", "[[\"a\"]]", "[{\"a\":1}]", "[\"a\"",
                           "[\"a\"]]", "[\"\xff\"]", "[\"a\",]", "[\"\\ud800\"]"}) {
    const auto urls = ParseUrlList(json, 2);
    ASSERT_FALSE(urls) << json;
    EXPECT_EQ(urls.error().code(), ErrorCode::kInvalidArgument) << json;
  }
  EXPECT_EQ(ParseUrlList(R"(["a","b","c"])", 2).error().code(), ErrorCode::kBusy);
  EXPECT_FALSE(ParseUrlList(std::string(1 << 20, '['), 2));
}

TEST(IsOwnHostTest, KnowsTheNamesOfThisMachineWithThePort) {
  for (const char* host : {"localhost:8017", "LocalHost:8017", "127.0.0.1:8017", "[::1]:8017", "127.0.0.9:8017"}) {
    EXPECT_TRUE(IsOwnHost(host, "127.0.0.9", 8017)) << host;
  }
  for (const char* host : {"", "localhost", "localhost:", "localhost:80", "localhost:8017x", "localhost:08017", "::1",
                           "127.0.0.2:8017", "evil.test:8017", "localhost.evil.test:8017", "127.0.0.1:8017:8017",
                           "[::1]", "a@localhost:8017", "localhost :8017"}) {
    EXPECT_FALSE(IsOwnHost(host, "127.0.0.9", 8017)) << host;
  }
  EXPECT_TRUE(IsOwnHost("localhost", "127.0.0.1", 80));
  EXPECT_TRUE(IsOwnHost("[::1]", "[::1]", 80));
  EXPECT_FALSE(IsOwnHost("", "", 80));
}

}  // namespace
}  // namespace portolan
