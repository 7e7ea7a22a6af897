#include "sim/world/params.h"

#include <gtest/gtest.h>

namespace portolan::sim {
namespace {

TEST(ParamsTest, EveryProfileLoadsAndComesBackFromItsText) {
  EXPECT_EQ(ProfileNames().size(), 8U);
  EXPECT_EQ(ProfileNames().front(), "small");
  for (const std::string& name : ProfileNames()) {
    const auto params = LoadProfile(name);
    ASSERT_TRUE(params) << params.error().ToString();
    EXPECT_EQ(params->profile, name);
    const auto again = LoadProfile(name, ParamsToToml(*params));
    ASSERT_TRUE(again) << again.error().ToString();
    EXPECT_EQ(*again, *params);
  }
}

TEST(ParamsTest, AUsersProfileStartsFromOneOfOurs) {
  const auto params = LoadProfile("mine", "[mine]\nbase = \"small\"\nlinks_mean = 3.5\n");
  ASSERT_TRUE(params) << params.error().ToString();
  EXPECT_EQ(params->links_mean, 3.5);
  EXPECT_EQ(params->pages, 200U);
}

TEST(ParamsTest, AnUnknownKeyNamesTheNearestOne) {
  const auto params = LoadProfile("mine", "[mine]\nlinks_maen = 3\n");
  ASSERT_FALSE(params);
  EXPECT_NE(params.error().message().find("did you mean 'links_mean'"), std::string::npos) << params.error().message();
  const auto profile = LoadProfile("smal");
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(profile.error().message().find("'small'"), std::string::npos);
}

TEST(ParamsTest, SetParamTakesNumbersInRangeOnly) {
  WorldParams params;
  EXPECT_TRUE(SetParam(params, "domains", "1000"));
  EXPECT_EQ(params.domains, 1000U);
  EXPECT_TRUE(SetParam(params, "http_port=8080"));
  EXPECT_FALSE(SetParam(params, "http_port"));
  EXPECT_FALSE(SetParam(params, "http_port", "70000"));
  EXPECT_FALSE(SetParam(params, "domains", "1.5"));
  EXPECT_FALSE(SetParam(params, "redirect", "-1"));
  EXPECT_FALSE(SetParam(params, "redirect", "often"));
  EXPECT_FALSE(SetParam(params, "redirekt", "0.1"));
  EXPECT_EQ(DescribeParams(params), "domains=1000 http_port=8080");
}

TEST(ParamsTest, AProfileThatStartsFromItselfIsRefused) {
  EXPECT_FALSE(LoadProfile("a", "[a]\nbase = \"b\"\n[b]\nbase = \"a\"\n"));
}

}  // namespace
}  // namespace portolan::sim
