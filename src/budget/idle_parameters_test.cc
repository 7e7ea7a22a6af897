#include "budget/idle_parameters.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "flow/url_record.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

class IdleParametersTest : public testing::Test {
 protected:
  std::vector<IdleParameters::Change> See(const std::string& url, uint64_t page, bool same_bytes = true) {
    return idle_->Observe(url, Host(url), same_bytes ? Mix64(page) : Hash64(url), Mix64(~page));
  }
  static uint64_t Host(std::string_view url) { return HostKey(url, HashKey::Known()); }
  // Without's answer, audits left aside.
  std::string Short(const std::string& url) const {
    std::string out;
    return idle_->Without(url, Host(url), out) ? out : url;
  }
  // A URL of these that is not one of the audited.
  std::string NotAudited(const std::string& before, const std::string& after = "") const {
    for (int i = 0;; ++i) {
      const std::string url = fmt::format("{}{:x}{}", before, 0x9abc0000 + i, after);
      if (HashKey::Known().Hash(url) % IdleParameters::kAudit != 0) return url;
    }
  }

  MemEnv env_;
  Manifest manifest_ = Manifest::Open(env_, "store").value();
  std::unique_ptr<IdleParameters> idle_ = IdleParameters::Open(env_, manifest_, {.memory = 1 << 20}).value();
};

TEST_F(IdleParametersTest, ASessionIdIsLearntAndLeftOut) {
  std::vector<IdleParameters::Change> changes;
  for (int i = 0; i < 6; ++i) {
    See(fmt::format("https://a.example/p{}?id={}", i, i), static_cast<uint64_t>(i));
    for (const auto& change : See(fmt::format("https://a.example/p{}?id={}&sid={:x}", i, i, 0x77700 + i),
                                  static_cast<uint64_t>(i), /*same_bytes=*/false)) {
      changes.push_back(change);
    }
  }
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].name, "sid");
  EXPECT_TRUE(changes[0].idle);
  EXPECT_EQ(Short(NotAudited("https://a.example/new?sid=")), "https://a.example/new");
  EXPECT_EQ(Short(NotAudited("https://a.example/new?sid=", "&id=4")), "https://a.example/new?id=4");
  EXPECT_EQ(Short("https://a.example/new?id=4"), "https://a.example/new?id=4");
  const std::string other = NotAudited("https://b.example/new?sid=");
  EXPECT_EQ(Short(other), other) << "learnt for each host alone";
}

TEST_F(IdleParametersTest, TheOrderOfThePagesDoesNotMatter) {
  for (int i = 0; i < 8; ++i) {
    See(fmt::format("https://a.example/p{}?ref=x{}", i, i), static_cast<uint64_t>(i));
    See(fmt::format("https://a.example/p{}", i), static_cast<uint64_t>(i));
  }
  EXPECT_EQ(idle_->IdleOf("https://a.example/q?ref=1", Host("https://a.example/")), std::vector<std::string>{"ref"});
}

TEST_F(IdleParametersTest, AParameterThatChangesThePageIsKept) {
  for (int i = 0; i < 300; ++i) {
    See(fmt::format("https://a.example/item?id={}", i), static_cast<uint64_t>(i));
    See(fmt::format("https://a.example/{}?lang=en", i), static_cast<uint64_t>(1000 + i));
    See(fmt::format("https://a.example/{}?lang=de", i), static_cast<uint64_t>(2000 + i));
  }
  EXPECT_TRUE(idle_->IdleOf("https://a.example/item?id=7&lang=en", Host("https://a.example/")).empty());
}

TEST_F(IdleParametersTest, OneValueIsNotEnough) {
  for (int i = 0; i < 50; ++i) {
    See(fmt::format("https://a.example/list{}", i), static_cast<uint64_t>(i));
    See(fmt::format("https://a.example/list{}?page=1", i), static_cast<uint64_t>(i));
  }
  EXPECT_TRUE(idle_->IdleOf("https://a.example/list1?page=2", Host("https://a.example/")).empty());
}

TEST_F(IdleParametersTest, OneCounterExampleTakesItBackAndThenMoreIsNeeded) {
  const auto learn = [&](int from, int count) {
    for (int i = from; i < from + count; ++i) {
      See(fmt::format("https://a.example/p{}", i), static_cast<uint64_t>(i));
      See(fmt::format("https://a.example/p{}?s={}", i, i), static_cast<uint64_t>(i));
    }
  };
  const uint64_t host = Host("https://a.example/");
  learn(0, 20);
  ASSERT_FALSE(idle_->IdleOf("https://a.example/?s=1", host).empty());
  See("https://a.example/q", 500);
  const auto changes = See("https://a.example/q?s=3", 501);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_FALSE(changes[0].idle);
  EXPECT_TRUE(idle_->IdleOf("https://a.example/?s=1", host).empty());
  learn(100, 20);
  EXPECT_TRUE(idle_->IdleOf("https://a.example/?s=1", host).empty());
  learn(200, 20);
  EXPECT_FALSE(idle_->IdleOf("https://a.example/?s=1", host).empty());
}

TEST_F(IdleParametersTest, SessionsInThePath) {
  for (int i = 0; i < 8; ++i) {
    See(fmt::format("https://a.example/dir/p{}.html", i), static_cast<uint64_t>(i));
    See(fmt::format("https://a.example/s-00ab12cd{:x}/dir/p{}.html", i, i), static_cast<uint64_t>(i), false);
    See(fmt::format("https://a.example/dir/p{}.html;jsessionid=99ab12cd{:x}", i, i), static_cast<uint64_t>(i), false);
  }
  EXPECT_EQ(Short(NotAudited("https://a.example/s-77", "/x/y.html")), "https://a.example/x/y.html");
  EXPECT_EQ(Short(NotAudited("https://a.example/x/y.html;jsessionid=")), "https://a.example/x/y.html");
}

TEST_F(IdleParametersTest, ADirectoryThatCannotBeLeftOutIsKept) {
  // The same page under any token, but there is none without.
  for (int i = 0; i < 50; ++i) {
    See(fmt::format("https://a.example/s-00ab12cd{:x}/p{}.html", i, i % 5), static_cast<uint64_t>(i % 5));
  }
  const std::string url = NotAudited("https://a.example/s-77", "/p1.html");
  EXPECT_EQ(Short(url), url);
}

TEST_F(IdleParametersTest, SurvivesARestartAndIsReadByAnother) {
  for (int i = 0; i < 20; ++i) {
    See(fmt::format("https://a.example/p{}", i), static_cast<uint64_t>(i));
    See(fmt::format("https://a.example/p{}?s={}", i, i), static_cast<uint64_t>(i));
  }
  ASSERT_TRUE(manifest_.Commit(idle_->Checkpointables()));
  manifest_ = Manifest::Open(env_, "store").value();
  const uint64_t host = Host("https://a.example/");
  EXPECT_FALSE(IdleParameters::Open(env_, manifest_, {.memory = 1 << 20})
                   .value()
                   ->IdleOf("https://a.example/?s=1", host)
                   .empty());
  EXPECT_FALSE(
      IdleParameters::OpenCommitted(env_, manifest_, {}).value()->IdleOf("https://a.example/?s=1", host).empty());
}

TEST_F(IdleParametersTest, AnyUrlIsTaken) {
  std::string wide = "https://a.example/?";
  for (int i = 0; i < 500; ++i) wide += fmt::format("&p{}=1", i);
  for (const std::string& url : {wide, std::string("https://a.example/?"), std::string("https://a.example/?&&=&=1"),
                                 std::string("https://a.example/;;/;=?;"), std::string("https://a.example")}) {
    See(url, 1);
    See(url, 2);
    Short(url);
  }
}

}  // namespace
}  // namespace portolan
