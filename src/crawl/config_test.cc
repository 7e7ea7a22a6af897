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

TEST(ConfigTest, MissingFileIsNamed) {
  MemEnv env;
  EXPECT_EQ(LoadConfig(env, "none.toml").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace portolan
