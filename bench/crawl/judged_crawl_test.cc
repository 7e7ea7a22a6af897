// The crawls that bench crawl times, made small: what they must trust, tell and give up.

#include "bench/crawl/judged_crawl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace portolan::bench {
namespace {

class JudgedCrawlTest : public testing::Test {
 protected:
  JudgedCrawlTest() {
    choice_.world.profile = "small";
    choice_.pages = 60;
    choice_.seeds = 8;
    choice_.max_seconds = 60;
    choice_.memory = "256M";
    choice_.server_core = -1;
    choice_.client_core = -1;
  }
  ~JudgedCrawlTest() override { std::filesystem::remove_all(root_); }
  std::string Dir() const { return (root_ / "crawl").string(); }

  CrawlChoice choice_;

 private:
  static std::filesystem::path MakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "judged_crawl_XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  const std::filesystem::path root_ = MakeRoot();
};

TEST_F(JudgedCrawlTest, AWorldOfHttpsIsTrustedAndFetched) {
  choice_.world.set = {"https=1", "bad_certificate=0"};
  const auto judged = CrawlAndJudge(choice_, Dir());
  ASSERT_TRUE(judged.has_value()) << judged.error().message();
  EXPECT_TRUE(CheckJudged(*judged).has_value()) << judged->account;
  EXPECT_GE(judged->crawl.pages, choice_.pages);
  EXPECT_GE(judged->https_share, 0.8);
  EXPECT_EQ(judged->http2_share, judged->https_share);  // the server offers HTTP/2 to all
  EXPECT_NEAR(judged->https_share, judged->world_https_share, 0.2);
  EXPECT_FALSE(std::filesystem::exists(Dir()));
}

TEST_F(JudgedCrawlTest, AWorldWithoutHttpsHasNoShareOfIt) {
  choice_.world.set = {"https=0"};
  const auto judged = CrawlAndJudge(choice_, Dir());
  ASSERT_TRUE(judged.has_value()) << judged.error().message();
  EXPECT_EQ(judged->https_share, 0);
  EXPECT_EQ(judged->http2_share, 0);
  EXPECT_EQ(judged->world_https_share, 0);
}

TEST_F(JudgedCrawlTest, ACrawlThatTakesTooLongSaysWhatItHadAndWhatBecameOfTheRest) {
  // No certificate is trusted, so no robots.txt can be fetched, and everything is tried again for hours.
  choice_.world.set = {"https=1", "bad_certificate=0"};
  choice_.set = {"fetch.ca_file=/dev/null"};
  choice_.max_seconds = 2;
  const auto judged = CrawlAndJudge(choice_, Dir());
  ASSERT_FALSE(judged.has_value());
  EXPECT_NE(judged.error().message().find("of 60 pages after 2 s"), std::string::npos) << judged.error().message();
  EXPECT_NE(judged.error().message().find("--max-seconds"), std::string::npos) << judged.error().message();
}

TEST_F(JudgedCrawlTest, APartThatHangsIsKilledInTime) {
  const auto child = Child::Start(-1, [](const Child::Parent& parent) -> Result<Child::Json> {
    parent.say_ready();
    for (;;) ::pause();
  });
  ASSERT_TRUE(child.has_value());
  const auto end = (*child)->Wait(0.2);
  ASSERT_FALSE(end.has_value());
  EXPECT_NE(end.error().message().find("killed"), std::string::npos);
}

}  // namespace
}  // namespace portolan::bench
