// What a visit means for a page that is visited again.

#include "crawl/refresh.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "fresh/schedule_reader.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kNow = 1'780'000'000 * kSecond;

PageResult Answer(int status, PayloadChange change = PayloadChange::kUnknown,
                  uint8_t distance = VisitSignals::kUnknownDistance) {
  PageResult result;
  result.status = status;
  result.visit = std::make_unique<Visit>();
  result.visit->signals.change = change;
  result.visit->signals.text_distance = distance;
  return result;
}

TEST(RefreshEndTest, WhatAnAnswerMeans) {
  const auto end = [](const PageResult& result) { return Refresh::EndOf(result, {}); };
  EXPECT_EQ(end(Answer(304, PayloadChange::kNotModified, 0)), VisitEnd::kSame);
  EXPECT_EQ(end(Answer(200, PayloadChange::kSame, 0)), VisitEnd::kSame);
  EXPECT_EQ(end(Answer(200, PayloadChange::kOther)), VisitEnd::kChanged) << "without a text the bytes count";
  EXPECT_EQ(end(Answer(200, PayloadChange::kOther, 0)), VisitEnd::kSame) << "an advertisement";
  EXPECT_EQ(end(Answer(200, PayloadChange::kOther, Refresh::kSameText)), VisitEnd::kSame);
  EXPECT_EQ(end(Answer(200, PayloadChange::kOther, Refresh::kSameText + 1)), VisitEnd::kChanged);
  EXPECT_EQ(end(Answer(404, PayloadChange::kOther)), VisitEnd::kGone);
  EXPECT_EQ(end(Answer(410, PayloadChange::kOther)), VisitEnd::kGone);
  EXPECT_EQ(end(Answer(301)), VisitEnd::kMoved);
  EXPECT_EQ(end(Answer(302)), VisitEnd::kFailed);
  EXPECT_EQ(end(Answer(503)), VisitEnd::kFailed);
  PageResult reset = Answer(0);
  reset.outcome = FetchOutcome::kReset;
  EXPECT_EQ(end(reset), VisitEnd::kFailed);
  PageResult unasked = Answer(304);
  unasked.outcome = FetchOutcome::kUnaskedNotModified;
  EXPECT_EQ(end(unasked), VisitEnd::kFailed) << "a 304 that was not asked for says nothing";
  EXPECT_EQ(Refresh::EndOf(Answer(200, PayloadChange::kSame), {.dropped = true}), VisitEnd::kDropped);
}

TEST(RefreshEndTest, HomePagesAndSitemapsAreHubs) {
  EXPECT_TRUE(Refresh::IsHub({.depth = 3, .url = "http://a.test/"}));
  EXPECT_TRUE(Refresh::IsHub({.kind = UrlKind::kSitemap, .depth = 1, .url = "http://a.test/sitemap.xml"}));
  EXPECT_TRUE(Refresh::IsHub({.depth = 0, .url = "http://a.test/news/"}));
  EXPECT_FALSE(Refresh::IsHub({.depth = 1, .url = "http://a.test/page"}));
  EXPECT_GT(Refresh::ImportanceOf({.depth = 1, .url = "http://a.test/x"}),
            Refresh::ImportanceOf({.depth = 5, .url = "http://a.test/x"}));
  EXPECT_GT(Refresh::ImportanceOf({.depth = 1, .budget = 1000, .url = "http://a.test/x"}),
            Refresh::ImportanceOf({.depth = 1, .budget = 10, .url = "http://a.test/x"}));
}

class RefreshTest : public testing::Test {
 protected:
  RefreshTest() {
    options_.enabled = true;
    options_.schedule.memory = 1 << 16;
    options_.schedule.calendar.block_size = 512;
    options_.schedule.calendar.segment_size = 4096;
    Open();
  }
  void Open() {
    manifest_.emplace(Manifest::Open(env_, "state").value());
    refresh_ = Refresh::Open(env_, *manifest_, options_, 16, kSecond, now_).value();
    To(0);
  }
  void To(int64_t hours) {
    now_ = hours * kHour;
    refresh_->Advance(now_, kNow + now_, false);
    while (refresh_->Work().value()) {
    }
  }
  void First(const std::string& url, PageResult&& result = Answer(200)) {
    const UrlRecord record{.depth = 1, .url = url};
    ASSERT_TRUE(refresh_->OnFirstVisit(result, record, {}, HostKey(url, options_.schedule.key)));
  }
  std::vector<std::string> Due() {
    const std::vector<std::string> records = refresh_->TakeDue(1000).value();
    std::vector<std::string> urls;
    for (const std::string& record : records) {
      EXPECT_FALSE(DecodeUrlRecord(record)->last.empty());
      urls.emplace_back(DecodeUrlRecord(record)->url);
    }
    return urls;
  }
  void Again(const std::string& url, PageResult&& result) {
    const UrlRecord record{.depth = 1, .url = url};
    ASSERT_TRUE(refresh_->OnRevisit(result, record, {}, HostKey(url, options_.schedule.key)));
  }

  MemEnv env_;
  ShardRefresh options_;
  std::optional<Manifest> manifest_;
  int64_t now_ = 0;
  std::unique_ptr<Refresh> refresh_;
};

TEST_F(RefreshTest, OnlyPagesThatCameOrMayComeAreScheduled) {
  First("http://a.test/page");
  First("http://a.test/gone", Answer(404));
  First("http://a.test/moved", Answer(301));
  First("http://a.test/ill", Answer(503));
  const std::string style = "http://a.test/style.css";
  ASSERT_TRUE(refresh_->OnFirstVisit(Answer(200), {.requisite = 1, .depth = 1, .url = style}, {}, 1));
  ASSERT_TRUE(refresh_->OnFirstVisit(Answer(200), {.depth = 1, .url = "http://a.test/zip"}, {.dropped = true}, 1));
  EXPECT_EQ(refresh_->counts().pages, 2U);
  EXPECT_EQ(refresh_->counts().added, 2U);
}

TEST_F(RefreshTest, OfOneHostNoMoreAreTakenThanItServesInATick) {
  for (int i = 0; i < 600; ++i) First("http://giant.test/" + std::to_string(i));
  for (int i = 0; i < 10; ++i) First("http://h" + std::to_string(i) + ".test/");
  To(24 * 300);
  size_t giant = 0;
  size_t others = 0;
  std::string taken;
  for (int turn = 0; turn < 40; ++turn) {
    for (const std::string& url : Due()) {
      const bool is_giant = url.find("giant") != std::string::npos;
      ++(is_giant ? giant : others);
      if (is_giant) taken = url;
    }
  }
  EXPECT_EQ(giant, 256U) << "one per second";
  EXPECT_EQ(others, 10U);
  EXPECT_EQ(refresh_->counts().held, 600U - 256U);
  Again(taken, Answer(304, PayloadChange::kNotModified, 0));
  To(24 * 300 + 1);
  EXPECT_EQ(Due().size(), 1U);
}

TEST_F(RefreshTest, ASitemapIsHeardAboutPagesOfItsOwnHostOnly) {
  PageResult sitemap = Answer(200);
  for (const char* url : {"http://a.test/x", "http://b.test/x"}) {
    sitemap.visit->hints.push_back(
        {.link = static_cast<uint32_t>(sitemap.links.links.size()), .modified_s = 1'779'000'000});
    sitemap.links.Add(url, Hash64(url), HostKey(url, options_.schedule.key), 0);
  }
  sitemap.visit->hints.push_back({.link = 99, .modified_s = 1});  // a link that is not there
  const std::string url = "http://a.test/sitemap.xml";
  ASSERT_TRUE(refresh_->OnFirstVisit(sitemap, {.kind = UrlKind::kSitemap, .url = url}, {},
                                     HostKey(url, options_.schedule.key)));
  EXPECT_EQ(refresh_->counts().signals, 1U);
}

TEST_F(RefreshTest, DatesOfTheMomentOrTheFutureSayNothing) {
  const auto rate = [&](const std::string& url, int64_t age_s, uint16_t flags) {
    PageResult result = Answer(200);
    result.visit->signals.age_s = age_s;
    result.visit->signals.flags = flags;
    First(url, std::move(result));
    double found = -1;
    EXPECT_TRUE(manifest_->Commit(refresh_->Checkpointables()));
    EXPECT_TRUE(ForEachScheduled(env_, *manifest_, "fresh", [&](const ScheduledPage& page) {
      if (DecodeUrlRecord(page.entry.record)->url == url) found = page.entry.change.shape;
      return true;
    }));
    return found;
  };
  EXPECT_GT(rate("http://a.test/1", 86'400, 0), 0);
  EXPECT_EQ(rate("http://a.test/2", 0, kSignalNowDate), 0);
  EXPECT_EQ(rate("http://a.test/3", -86'400, kSignalFutureDate), 0);
}

TEST_F(RefreshTest, ARestartKnowsWhatIsOutOfEachHost) {
  for (int i = 0; i < 300; ++i) First("http://a.test/" + std::to_string(i));
  To(24 * 300);
  std::vector<std::string> taken;
  for (int turn = 0; turn < 10; ++turn) {
    for (const std::string& url : Due()) taken.push_back(url);
  }
  ASSERT_EQ(taken.size(), 256U);
  ASSERT_TRUE(manifest_->Commit(refresh_->Checkpointables()));
  refresh_.reset();
  Open();
  To(24 * 300 + 1);
  EXPECT_TRUE(Due().empty());
  Again(taken[0], Answer(200, PayloadChange::kSame, 0));
  To(24 * 300 + 2);
  EXPECT_EQ(Due().size(), 1U);
}

TEST_F(RefreshTest, AReportAboutAPageThatIsNotOutIsIgnored) {
  First("http://a.test/");
  Again("http://a.test/", Answer(200, PayloadChange::kOther));
  ASSERT_TRUE(refresh_->OnUnvisited({.url = "http://b.test/"}, VisitEnd::kDropped));
  EXPECT_EQ(refresh_->counts().changed, 0U);
  EXPECT_EQ(refresh_->counts().pages, 1U);
}

}  // namespace
}  // namespace portolan
