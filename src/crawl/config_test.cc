#include "crawl/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::HasSubstr;

TEST(ConfigTest, EmptyFileIsTheDefault) {
  EXPECT_EQ(ConfigToToml(ParseConfig("", "p.toml").value()), ConfigToToml(Config{}));
}

TEST(ConfigTest, PrintedFormIsReadBack) {
  Config config;
  config.log.level = LogLevel::kError;
  config.log.format = LogFormat::kJson;
  const auto again = ParseConfig(ConfigToToml(config), "p.toml");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->log.level, LogLevel::kError);
  EXPECT_EQ(again->log.format, LogFormat::kJson);
}

TEST(ConfigTest, MistakesNameFileLineAndNearestName) {
  const auto message = [](std::string_view text) { return ParseConfig(text, "p.toml").error().message(); };
  EXPECT_EQ(message("[log]\n\nlevl = \"info\""), "p.toml:3: unknown key in [log] 'levl': did you mean 'level'?");
  EXPECT_EQ(message("[lgo]\n"), "p.toml:1: unknown section 'lgo': did you mean 'log'?");
  EXPECT_THAT(message("[log]\nlevel = 3"), HasSubstr("p.toml:2: log.level: wants a string"));
  EXPECT_THAT(message("[log]\nlevel = \"loud\""), HasSubstr("'loud' is not a log level"));
  EXPECT_THAT(message("log = 5"), HasSubstr("'log' must be a section"));
  EXPECT_THAT(message("[log]\nlevel = \"in"), HasSubstr("p.toml:2:"));
}

TEST(ConfigTest, EveryKeyIsReadBackFromItsPrintedForm) {
  for (const Profile profile : {Profile::kSite, Profile::kWeb}) {
    const std::string printed = ConfigToToml(ForProfile(profile));
    const auto again = ParseConfig(printed, "p.toml");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(ConfigToToml(*again), printed);
    EXPECT_EQ(again->crawl.profile, profile);
  }
  const std::string text =
      "[crawl]\nseeds = [\"http://a.test/\\u0022\", \"\\u007F\"]\nmax_pages = \"2M\"\nmax_bytes = 5000\n"
      "max_time = \"90m\"\n[politeness]\ndelay_factor = 2.5\nhost_delay = \"1500ms\"\nmin_delay = 3\n"
      "[scope]\nmode = \"prefix\"\ncanonical = [\"drop-fragment\", \"sort-query\"]\n"
      "[fetch]\naddresses = \"v6-only\"\nmax_body = \"1.5M\"\nhttp2 = false\n";
  const auto config = ParseConfig(text, "p.toml");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->crawl.seeds, (std::vector<std::string>{"http://a.test/\"", "\x7f"}));
  EXPECT_EQ(config->crawl.max_pages, 2'000'000U);
  EXPECT_EQ(config->crawl.max_bytes.bytes, 5000U);
  EXPECT_EQ(config->crawl.max_time, std::chrono::minutes(90));
  EXPECT_EQ(config->politeness.host_delay, std::chrono::milliseconds(1500));
  EXPECT_EQ(config->politeness.min_delay, std::chrono::seconds(3));
  EXPECT_EQ(config->politeness.delay_factor, 2.5);
  EXPECT_EQ(config->scope.mode, ScopeMode::kPrefix);
  EXPECT_EQ(config->scope.canonical, CanonicalRule::kDropFragment | CanonicalRule::kSortQuery);
  EXPECT_EQ(config->fetch.addresses, IpPreference::kV6Only);
  EXPECT_EQ(config->fetch.max_body.bytes, 3U << 19);
  EXPECT_FALSE(config->fetch.http2);
  const std::string printed = ConfigToToml(*config);
  EXPECT_EQ(ConfigToToml(ParseConfig(printed, "q.toml").value()), printed);
  EXPECT_THAT(printed, HasSubstr("max_time = \"90m\""));
  EXPECT_THAT(printed, HasSubstr("max_body = \"1536K\""));
}

TEST(ConfigTest, ProfileIsTheGroundWhereverItStands) {
  const auto config = ParseConfig("[politeness]\nip_delay = \"3s\"\n[crawl]\nprofile = \"web\"\n", "p.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->politeness.host_delay, std::chrono::seconds(40));
  EXPECT_EQ(config->politeness.ip_delay, std::chrono::seconds(3));
  EXPECT_EQ(config->scope.mode, ScopeMode::kAny);
  EXPECT_EQ(ForProfile(Profile::kWeb).politeness.ip_delay, std::chrono::seconds(1));
  EXPECT_EQ(ParseProfile("web").value(), Profile::kWeb);
  EXPECT_EQ(ProfileName(Profile::kSite), "site");
}

TEST(ConfigTest, ValuesOfTheWrongKindAreRefused) {
  const auto message = [](const std::string& text) { return ParseConfig(text, "p.toml").error().message(); };
  EXPECT_THAT(message("[crawl]\nprofile = \"wbe\""),
              HasSubstr("crawl.profile: 'wbe' is none of site, web: did you mean 'web'?"));
  EXPECT_THAT(message("[crawl]\nmax_pages = -1"), HasSubstr("wants a number from 0 up"));
  EXPECT_THAT(message("[crawl]\nmax_pages = \"many\""), HasSubstr("crawl.max_pages: 'many' is not a count"));
  EXPECT_THAT(message("[crawl]\nmax_pages = 9007199254740993"), HasSubstr("too large"));
  EXPECT_THAT(message("[crawl]\nseeds = \"http://a.test/\""), HasSubstr("wants a list of strings"));
  EXPECT_THAT(message("[crawl]\nseeds = [1]"), HasSubstr("wants a string in quotes"));
  EXPECT_THAT(message("[politeness]\nhost_delay = \"1 fortnight\""), HasSubstr("is not a duration"));
  EXPECT_THAT(message("[politeness]\nhost_delay = true"), HasSubstr("wants a duration"));
  EXPECT_THAT(message("[politeness]\nhost_delay = -2"), HasSubstr("no duration"));
  EXPECT_THAT(message("[politeness]\ndelay_factor = nan"), HasSubstr("wants a number"));
  EXPECT_THAT(message("[fetch]\nhttp2 = 1"), HasSubstr("wants true or false"));
  EXPECT_THAT(message("[fetch]\nmax_body = 1.5"), HasSubstr("wants a size"));
  EXPECT_THAT(message("[fetch]\nhttp3 = true"), HasSubstr("did you mean 'http2'?"));
  EXPECT_THAT(message("[scope]\ncanonical = [\"tidy\"]"), HasSubstr("'tidy' is no canonical rule"));
}

TEST(ConfigTest, DefaultsOfSiteAreValidAndWebWantsAContact) {
  EXPECT_TRUE(ValidateConfig(ForProfile(Profile::kSite)));
  Config web = ForProfile(Profile::kWeb);
  EXPECT_THAT(ValidateConfig(web).error().message(), HasSubstr("politeness.contact_url: is needed"));
  web.politeness.contact_url = "operator.test";
  EXPECT_THAT(ValidateConfig(web).error().message(), HasSubstr("politeness.contact_url: wants"));
  web.politeness.contact_url = "https://operator.test/crawler";
  EXPECT_TRUE(ValidateConfig(web));
  EXPECT_EQ(UserAgentOf(web, "1.0"), "portolan/1.0 (+https://operator.test/crawler)");
  EXPECT_EQ(UserAgentOf(Config{}, "1.0"), "portolan/1.0");
}

TEST(ConfigTest, AnotherProfileKeepsWhatTheFileSays) {
  const std::string text = "[crawl]\nprofile = \"site\"\n[politeness]\nhost_delay = \"77s\"\n";
  const auto config = ParseConfig(text, "p.toml", Profile::kWeb);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->crawl.profile, Profile::kWeb);
  EXPECT_EQ(config->politeness.host_delay, std::chrono::seconds(77));
  EXPECT_TRUE(config->budget.enabled) << "the web profile's";
}

TEST(ConfigTest, ProblemsAreAllNamed) {
  const auto problems = [](auto change) {
    Config config;
    change(config);
    const Status status = ValidateConfig(config);
    return status ? std::string() : status.error().message();
  };
  EXPECT_THAT(problems([](Config& c) { c.politeness.user_agent = "my bot/1.0"; }), HasSubstr("no product token"));
  EXPECT_THAT(problems([](Config& c) { c.crawl.seeds = {"ftp://a/"}; }), HasSubstr("crawl.seeds: 'ftp://a/'"));
  EXPECT_THAT(problems([](Config& c) { c.scope.mode = ScopeMode::kAny; }), HasSubstr("politeness.contact_url"));
  EXPECT_THAT(problems([](Config& c) { c.scope.include_domains = {"http://a.test/"}; }), HasSubstr("is no domain"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.min_delay = std::chrono::hours(9); }),
              HasSubstr("above max_delay"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.from = "a\r\nb"; }), HasSubstr("one line"));
  EXPECT_THAT(problems([](Config& c) { c.archive.directories = {"a", "a"}; }), HasSubstr("twice"));
  EXPECT_THAT(problems([](Config& c) {
                c.archive.enabled = false;
                c.archive.directories.clear();
              }),
              HasSubstr("names no directory"));
  const std::string two = problems([](Config& c) {
    c.archive.level = 13;
    c.memory.total = Mebi(1);
  });
  EXPECT_EQ(two, "memory.total: at least 128M; archive.level: from 1 to 12");
}

TEST(ConfigTest, MissingFileIsNamed) {
  MemEnv env;
  EXPECT_EQ(LoadConfig(env, "none.toml").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace portolan
