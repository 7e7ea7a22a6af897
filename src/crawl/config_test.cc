#include "crawl/config.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crawl/config_fields.h"
#include "crawl/phase_plan.h"
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

TEST(ConfigTest, RulesAreReadBackAndKnowTheirLines) {
  const auto config = ParseConfig(
      "[rules]\nfile = \"more.toml\"\nblock_lists = [\"a.txt\"]\n[[rules.rule]]\naction = \"exclude\"\n"
      "pattern = '\\.zip$'\n[[rules.rule]]\naction = \"limit\"\npages_per_host = 7\n",
      "p.toml");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->rules.rule.size(), 2U);
  EXPECT_EQ(config->rules.rule[1].Name(), "rule 2 at p.toml:7");
  const std::string printed = ConfigToToml(*config);
  const auto again = ParseConfig(printed, "again.toml");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(ConfigToToml(*again), printed);
  EXPECT_EQ(again->rules.rule[0].patterns, std::vector<std::string>{"\\.zip$"});
  EXPECT_EQ(ParseConfig("[rules]\nrule = [\n{ action = \"exclude\" },\n{ act = 1 },\n]\n", "p.toml").error().message(),
            "p.toml:4: unknown key 'act' in a rule: did you mean 'action'?");
  Config set;
  ASSERT_TRUE(SetConfig(set, "rules.rule", "[{ action = 'exclude', host = 'a.org' }]"));
  EXPECT_EQ(set.rules.rule.size(), 1U);
  EXPECT_FALSE(SetConfig(set, "rules.rule", "[{ action = 'forbid' }]"));
}

TEST(ConfigTest, MistakesNameFileLineAndNearestName) {
  const auto message = [](std::string_view text) { return ParseConfig(text, "p.toml").error().message(); };
  EXPECT_EQ(message("[log]\n\nlevl = \"info\""), "p.toml:3: unknown key in [log] 'levl': did you mean 'level'?");
  EXPECT_EQ(message("[lgo]\n"), "p.toml:1: unknown section 'lgo': did you mean 'log'?");
  EXPECT_THAT(message("[log]\nlevel = 3"), HasSubstr("p.toml:2: log.level: must be a string"));
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
              HasSubstr("crawl.profile: 'wbe' is not one of site, web: did you mean 'web'?"));
  EXPECT_THAT(message("[crawl]\nmax_pages = -1"), HasSubstr("must be a number from 0 up"));
  EXPECT_THAT(message("[crawl]\nmax_pages = \"many\""), HasSubstr("crawl.max_pages: 'many' is not a count"));
  EXPECT_THAT(message("[crawl]\nmax_pages = 9007199254740993"),
              HasSubstr("crawl.max_pages: must be from 0 to 1000000000000000"));
  EXPECT_THAT(message("[crawl]\nseeds = \"http://a.test/\""), HasSubstr("must be a list of strings"));
  EXPECT_THAT(message("[crawl]\nseeds = [1]"), HasSubstr("must be a string in quotes"));
  EXPECT_THAT(message("[politeness]\nhost_delay = \"1 fortnight\""), HasSubstr("is not a duration"));
  EXPECT_THAT(message("[politeness]\nhost_delay = true"), HasSubstr("must be a duration"));
  EXPECT_THAT(message("[politeness]\nhost_delay = -2"), HasSubstr("must be a duration between"));
  EXPECT_THAT(message("[politeness]\ndelay_factor = nan"), HasSubstr("must be a number"));
  EXPECT_THAT(message("[fetch]\nhttp2 = 1"), HasSubstr("must be true or false"));
  EXPECT_THAT(message("[fetch]\nmax_body = 1.5"), HasSubstr("must be a size"));
  EXPECT_THAT(message("[fetch]\nhttp3 = true"), HasSubstr("did you mean 'http2'?"));
  EXPECT_THAT(message("[scope]\ncanonical = [\"tidy\"]"), HasSubstr("'tidy' is not a canonical rule"));
}

TEST(ConfigTest, DefaultsOfSiteAreValidAndWebWantsAContact) {
  EXPECT_TRUE(ValidateConfig(ForProfile(Profile::kSite)));
  Config web = ForProfile(Profile::kWeb);
  EXPECT_THAT(ValidateConfig(web).error().message(), HasSubstr("politeness.contact_url: is needed"));
  web.politeness.contact_url = "operator.test";
  EXPECT_THAT(ValidateConfig(web).error().message(), HasSubstr("politeness.contact_url: must be"));
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
  EXPECT_THAT(problems([](Config& c) { c.politeness.user_agent = "1st bot/1.0"; }),
              HasSubstr("does not begin with a product token"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.user_agent = "bot\r\nX: y"; }), HasSubstr("must be one line"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.user_agent = ""; }), HasSubstr("politeness.user_agent"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.robots_token = "my bot"; }), HasSubstr("politeness.robots_token"));
  EXPECT_THAT(problems([](Config& c) { c.crawl.seeds = {"ftp://a/"}; }), HasSubstr("crawl.seeds: 'ftp://a/'"));
  EXPECT_THAT(problems([](Config& c) { c.scope.mode = ScopeMode::kAny; }), HasSubstr("politeness.contact_url"));
  EXPECT_THAT(problems([](Config& c) { c.scope.include_domains = {"http://a.test/"}; }), HasSubstr("is not a domain"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.min_delay = std::chrono::hours(9); }),
              HasSubstr("above max_delay"));
  EXPECT_THAT(problems([](Config& c) { c.politeness.from = "a\r\nb"; }), HasSubstr("one line"));
  EXPECT_THAT(problems([](Config& c) { c.archive.directories = {"a", "a"}; }), HasSubstr("twice"));
  EXPECT_THAT(problems([](Config& c) {
                c.archive.enabled = false;
                c.archive.directories.clear();
              }),
              HasSubstr("name at least one directory"));
  const std::string two = problems([](Config& c) {
    c.archive.level = 13;
    c.memory.total = Mebi(1);
  });
  EXPECT_EQ(two, "memory.total: must be from 128M to 1024T, not 1M; archive.level: must be from 1 to 12, not 13");
}

TEST(ConfigTest, WhatPhasesCannotDoIsRefusedAndTheirGapIsLongEnough) {
  Config good = ForProfile(Profile::kSite);
  ASSERT_TRUE(SetConfig(good, "crawl.partition=phase"));
  EXPECT_TRUE(ValidateConfig(good)) << ValidateConfig(good).error().ToString();
  const PhasePlan plan = PhasePlan::Of(good);
  EXPECT_EQ(plan.partition.gap_ns, 424'000'000'000) << "2 and 5 minutes, and 4 s";
  EXPECT_EQ(plan.clock_error_ns, 1'000'000'000);
  EXPECT_EQ(plan.partition.phases, 0U);
  ASSERT_TRUE(SetConfig(good, "crawl.phase_gap=420400ms"));
  EXPECT_TRUE(ValidateConfig(good)) << ValidateConfig(good).error().ToString();
  EXPECT_EQ(PhasePlan::Of(good).clock_error_ns, PhasePlan::kLeastClockErrorNs);
  const auto refused = [&](std::string_view setting) {
    Config config = good;
    EXPECT_TRUE(SetConfig(config, setting)) << setting;
    const Status status = ValidateConfig(config);
    return status ? std::string("nothing is wrong") : status.error().message();
  };
  for (const auto& [setting, message] :
       {std::pair{"crawl.phase_gap=420399ms", "crawl.phase_gap: must be at least 7 m 00 s"},
        {"politeness.max_delay=301s", "crawl.phase_gap: must be at least"},
        {"fetch.total_timeout=121s", "crawl.phase_gap: must be at least"},
        {"crawl.phase_period=7m", "crawl.phase_period: must be longer than the gap"},
        {"budget.enabled=true", "budget.enabled: must be false"},
        {"traps.enabled=true", "traps.enabled: must be false"},
        {"content.duplicates=skip", "content.duplicates: must be"},
        {"rules.rule=[{action='limit', pages_per_host=10}]", "rules.rule: cannot limit pages"}}) {
    EXPECT_TRUE(refused(setting).starts_with(message)) << setting << ": " << refused(setting);
  }
  Config domains = ForProfile(Profile::kSite);
  ASSERT_TRUE(SetConfig(domains, "crawl.phases=3"));
  EXPECT_FALSE(ValidateConfig(domains)) << "phases without the partition";
}

TEST(ConfigTest, RangesHoldWhereverTheValueComesFrom) {
  for (const char* value : {"0", "100001", "1000000000", "18446744073709551615", "\"1G\"", "-1"}) {
    Config config;
    const Status set = SetConfig(config, "fetch.connections", value);
    ASSERT_FALSE(set) << value;
    EXPECT_THAT(set.error().message(), HasSubstr("from 1 to 100000")) << value;
    EXPECT_EQ(config.fetch.connections, Config().fetch.connections) << "left as it was";
    const auto parsed = ParseConfig(std::string("[fetch]\nconnections = ") + value, "p.toml");
    ASSERT_FALSE(parsed) << value;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kCorrupt) << value;
    EXPECT_THAT(parsed.error().message(), HasSubstr("p.toml:2:")) << value;
  }
  Config config;
  EXPECT_TRUE(SetConfig(config, "fetch.connections", "100000"));
  EXPECT_EQ(config.fetch.connections, 100'000U);
}

TEST(ConfigTest, EveryNumberHasARangeWhichItsDefaultKeeps) {
  size_t ranged = 0;
  for (const ConfigField& field : ConfigFields()) {
    if (field.range.empty()) continue;
    ++ranged;
    const std::string name = fmt::format("{}.{}", field.section, field.key);
    for (const Profile profile : {Profile::kSite, Profile::kWeb}) EXPECT_TRUE(field.check(ForProfile(profile))) << name;
    for (const char* value : {"99999999999999999999", "\"9999999T\"", "-1", "1e300", "inf", "nan", "\"99999999d\""}) {
      Config config;
      const Status status = SetConfig(config, name, value);
      ASSERT_FALSE(status) << name << " = " << value;
      EXPECT_THAT(status.error().message(), HasSubstr(field.range)) << value;
    }
    EXPECT_THAT(ConfigToToml(Config()), HasSubstr("[" + field.range + "]")) << name;
  }
  EXPECT_GE(ranged, 41U);
}

TEST(ConfigTest, DepthZeroIsTheSeedsAloneAndNoneIsNoLimit) {
  Config config;
  ASSERT_TRUE(SetConfig(config, "crawl.max_depth", "0"));
  EXPECT_EQ(config.crawl.max_depth, 0U);
  EXPECT_THAT(ConfigToToml(config), HasSubstr("\nmax_depth = 0\n"));
  ASSERT_TRUE(SetConfig(config, "crawl.max_depth", "none"));
  EXPECT_EQ(config.crawl.max_depth, std::nullopt);
  EXPECT_THAT(ConfigToToml(config), HasSubstr("\nmax_depth = \"none\"\n"));
  EXPECT_EQ(ParseConfig(ConfigToToml(config), "p.toml")->crawl.max_depth, std::nullopt);
  EXPECT_FALSE(SetConfig(config, "crawl.max_depth", "never"));
}

TEST(ConfigTest, NoDelayMeansNoFactorUnlessOneIsSet) {
  Config config;
  EXPECT_EQ(DelayFactorOf(config), kDelayFactor);
  ASSERT_TRUE(SetConfig(config, "politeness.host_delay", "0s"));
  EXPECT_EQ(DelayFactorOf(config), 0);
  EXPECT_EQ(DelayFactorOf(ParseConfig(ConfigToToml(config), "p.toml").value()), 0) << "a resumed crawl";
  EXPECT_EQ(DelayFactorOf(ParseConfig("[politeness]\nhost_delay = 0\ndelay_factor = 3\n", "p.toml").value()), 3);
  ASSERT_TRUE(SetConfig(config, "politeness.delay_factor", "auto"));
  EXPECT_EQ(DelayFactorOf(config), 0);
}

TEST(ConfigTest, FreeUserAgentIsSentAsItIs) {
  Config config;
  config.politeness.user_agent = "Mozilla/5.0 (compatible; Chart-Bot/2.0; +http://me.test/)";
  EXPECT_TRUE(ValidateConfig(config));
  EXPECT_EQ(UserAgentOf(config, "1.0"), config.politeness.user_agent);
  EXPECT_EQ(RobotsTokenOf(config), "Mozilla");
  config.politeness.contact_url = "http://me.test/";
  EXPECT_EQ(UserAgentOf(config, "1.0"), config.politeness.user_agent) << "it has the contact";
  config.politeness.contact_url = "http://you.test/";
  EXPECT_EQ(UserAgentOf(config, "1.0"), config.politeness.user_agent + " (+http://you.test/)");
  config.politeness.robots_token = "Chart-Bot";
  EXPECT_EQ(RobotsTokenOf(config), "Chart-Bot");
  config.politeness.user_agent = "7 of 9";
  EXPECT_TRUE(ValidateConfig(config)) << "with a token of its own it may begin as it likes";
}

TEST(ConfigTest, NetworkAddressesAreJudgedBeforeTheyAreUsed) {
  const auto dns = [](const std::string& server) {
    Config config;
    config.fetch.dns_servers = {server};
    return ValidateConfig(config).has_value();
  };
  for (const char* good : {"127.0.0.1", "127.0.0.1:5353", "::1", "[::1]", "[::1]:65535"})
    EXPECT_TRUE(dns(good)) << good;
  for (const char* bad : {"", "127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1:", "127.0.0.1:5x", "dns.test", "1.2.3:53",
                          "::1:99999", "[::1]:99999", "[::1", "127.0.0.1:53,::1", "127.0.0.1:-1"}) {
    EXPECT_FALSE(dns(bad)) << bad;
  }
  const auto proxy = [](const std::string& url) {
    Config config;
    config.fetch.proxy = url;
    return ValidateConfig(config).has_value();
  };
  for (const char* good : {"", "http://proxy.test:3128", "socks5h://127.0.0.1:9050", "https://me:word@proxy.test"}) {
    EXPECT_TRUE(proxy(good)) << good;
  }
  for (const char* bad : {"proxy.test:3128", "ftp://proxy.test", "http://", "http://proxy.test:99999", "http://a\nb"}) {
    EXPECT_FALSE(proxy(bad)) << bad;
  }
}

TEST(ConfigTest, AddedFieldsAreJudged) {
  const auto problems = [](auto change) {
    Config config;
    change(config.fetch);
    const Status status = ValidateConfig(config);
    return status ? std::string() : status.error().message();
  };
  EXPECT_EQ(problems([](Config::Fetch& f) {
              f.headers = {"X-Key: 1", "Authorization: Bearer x", "X-Empty-Not:y"};
              f.cookies = {"a=b", "c=d; e=f", "g="};
            }),
            "");
  for (const char* line : {"Host: x", "connection: close", "Content-Length: 3", "Transfer-Encoding: chunked", "TE: x",
                           "If-None-Match: x", "Range: bytes=0-1", "Cookie: a=b", "User-Agent: me", "Accept: */*",
                           "X: a\r\nY: b", "X: a\nY: b", "no colon", ": x", "X:", "X Y: z", ""}) {
    EXPECT_THAT(problems([&](Config::Fetch& f) { f.headers = {line}; }), HasSubstr("fetch.headers: ")) << line;
  }
  for (const char* cookie : {"", "a", "=b", "a=b\r\nX: y", " a=b"}) {
    EXPECT_THAT(problems([&](Config::Fetch& f) { f.cookies = {cookie}; }), HasSubstr("fetch.cookies: ")) << cookie;
  }
  for (const char* login : {"me", ":word", "me:wo\nrd"}) {
    EXPECT_THAT(problems([&](Config::Fetch& f) { f.login = login; }), HasSubstr("fetch.login: ")) << login;
  }
  EXPECT_EQ(problems([](Config::Fetch& f) { f.login = "me:"; }), "");
  EXPECT_THAT(problems([](Config::Fetch& f) {
                f.login = "me:word";
                f.headers = {"AUTHORIZATION: x"};
              }),
              HasSubstr("fetch.login"));
  EXPECT_THAT(problems([](Config::Fetch& f) { f.headers = {"X: " + std::string(20'000, 'x')}; }), HasSubstr("16 KiB"));
}

TEST(ConfigTest, TextThatTomlCannotHoldIsRefused) {
  Config config;
  EXPECT_THAT(SetConfig(config, "archive.description", "\xff").error().message(), HasSubstr("is not UTF-8"));
  EXPECT_THAT(SetConfig(config, "scope.exclude", "[\"\xc3\"]").error().message(), HasSubstr("scope.exclude: "));
  config.politeness.from = "\xe4@a.test";  // as a flag sets it
  EXPECT_EQ(ValidateConfig(config).error().message(), "politeness.from: is not UTF-8");
  config.politeness.from = "\xc3\xa4@a.test";
  EXPECT_TRUE(ValidateConfig(config));
  EXPECT_TRUE(ParseConfig(ConfigToToml(config), "p.toml"));
}

TEST(ConfigTest, DeepNestingIsRefusedBeforeItIsRead) {
  for (const std::string piece : {"[", "{a=", "a."}) {
    std::string deep;
    for (int i = 0; i < 200'000; ++i) deep += piece;
    EXPECT_THAT(ParseConfig("[fetch]\ndns_servers = " + deep, "p.toml").error().message(),
                HasSubstr("p.toml: line 2: "));
    EXPECT_EQ(ParseConfig(deep + "a = 1", "p.toml").error().code(), ErrorCode::kCorrupt);
    Config config;
    EXPECT_THAT(SetConfig(config, "fetch.dns_servers", deep).error().message(), HasSubstr("fetch.dns_servers: line 1"));
  }
}

TEST(ConfigTest, ACrawlsOwnSettingsMustBeWhole) {
  MemEnv env;
  const auto load = [&](const std::string& text) {
    EXPECT_TRUE(ReplaceFile(env, "crawl.toml", text));
    return LoadWholeConfig(env, "crawl.toml");
  };
  Config config;
  config.crawl.seeds = {"http://a.test/"};
  const std::string whole = ConfigToToml(config);
  ASSERT_TRUE(load(whole));
  EXPECT_EQ(ConfigToToml(*load(whole)), whole);
  config.crawl.seeds.clear();
  for (const std::string& text : {std::string(), ConfigToToml(config), whole.substr(0, whole.find("[fetch]")),
                                  std::string("[crawl]\nseeds = [\"http://a.test/\"]\n"), std::string("\x01\x02")}) {
    const auto loaded = load(text);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(loaded.error().message(), HasSubstr("crawl.toml:"));
  }
  config.crawl.seeds = {"http://a.test/"};
  config.politeness.min_delay = std::chrono::hours(9);
  EXPECT_EQ(load(ConfigToToml(config)).error().code(), ErrorCode::kCorrupt) << "settings that do not go together";
}

TEST(ConfigTest, MissingFileIsNamed) {
  MemEnv env;
  EXPECT_EQ(LoadConfig(env, "none.toml").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace portolan
