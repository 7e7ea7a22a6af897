#include "fresh/refresh_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "flow/url_record.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr int64_t kNow = 1'780'000'000;
constexpr int64_t kDay = 86'400;
constexpr int64_t kSecond = 1'000'000'000;

RefreshOptions SmallOptions() {
  RefreshOptions options;
  options.memory = 1 << 16;
  options.threshold.sample = 64;
  options.calendar.block_size = 512;
  options.calendar.segment_size = 4096;
  return options;
}

std::string Record(const std::string& url) {
  UrlRecord record;
  record.url = url;
  return EncodeUrlRecord(record);
}

std::string UrlOf(const DueVisit& due) { return std::string(DecodeUrlRecord(due.record)->url); }

class RefreshScheduleTest : public testing::Test {
 protected:
  void Open() {
    schedule_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    schedule_ = RefreshSchedule::Open(env_, *manifest_, SmallOptions()).value();
    schedule_->SetCapacity(capacity_);
  }
  void SetUp() override {
    Open();
    To(0);
  }
  void To(double day) {
    day_ = day;
    schedule_->Advance((kNow + static_cast<int64_t>(day * kDay)) * kSecond);
    while (schedule_->Work(1000).value()) {
    }
  }
  void Add(const std::string& url, float importance = 1, bool hub = false) {
    const std::string record = Record(url);
    ASSERT_TRUE(schedule_->Add({.record = record, .importance = importance, .hub = hub}));
  }
  std::vector<DueVisit> Take(size_t max = 1000) { return schedule_->Take(max).value(); }
  bool Report(const DueVisit& due, VisitEnd end, double news = 0) {
    return schedule_->Report(due.key, {.end = end, .news = news}).value();
  }
  // Day by day until a page is due; its day.
  double NextDue(double until) {
    for (; day_ < until; To(day_ + 0.05)) {
      taken_ = Take(1);
      if (!taken_.empty()) return day_;
    }
    return until;
  }

  MemEnv env_;
  double capacity_ = 1;
  std::optional<Manifest> manifest_;
  std::unique_ptr<RefreshSchedule> schedule_;
  double day_ = 0;
  std::vector<DueVisit> taken_;
};

TEST_F(RefreshScheduleTest, CapacityIsUsedAndTheMoreImportantPagesComeMoreOften) {
  capacity_ = 40;
  Open();
  To(0);
  for (int i = 0; i < 200; ++i) Add("http://a.test/" + std::to_string(i), i % 2 == 0 ? 8.0F : 0.5F);
  Rng rng(1);
  std::map<bool, int> visits;
  double allowed = 0;
  for (double day = 0.1; day < 60; day += 0.1) {
    To(day);
    allowed = std::min(allowed + 4, 8.0);
    for (const DueVisit& due : Take(static_cast<size_t>(allowed))) {
      allowed -= 1;
      const std::string url = UrlOf(due);
      if (day > 20) ++visits[std::stoi(url.substr(url.rfind('/') + 1)) % 2 == 0];
      ASSERT_TRUE(Report(due, rng.Chance(0.6) ? VisitEnd::kChanged : VisitEnd::kSame));
    }
  }
  EXPECT_GT(visits[true] + visits[false], 40 * 40 * 9 / 10);
  EXPECT_GT(visits[true], 2 * visits[false]);
  EXPECT_EQ(schedule_->counts().pages, 200U);
}

TEST_F(RefreshScheduleTest, EachPageIsOutOnceAndComesBackWithItsReport) {
  for (int i = 0; i < 20; ++i) Add("http://a.test/" + std::to_string(i));
  To(300);
  const std::vector<DueVisit> due = Take();
  ASSERT_EQ(due.size(), 20U);
  std::set<uint64_t> keys;
  for (const DueVisit& visit : due) keys.insert(visit.key);
  EXPECT_EQ(keys.size(), 20U);
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(schedule_->counts().out, 20U);
  for (const DueVisit& visit : due) EXPECT_TRUE(Report(visit, VisitEnd::kSame));
  EXPECT_EQ(schedule_->counts().out, 0U);
  EXPECT_EQ(schedule_->counts().pages, 20U);
}

TEST_F(RefreshScheduleTest, ValidatorsComeBackWithThePage) {
  const std::string record = Record("http://a.test/");
  LastVisit last;
  last.validators.etag = "\"1\"";
  ASSERT_TRUE(schedule_->Add({.record = record, .last = last}));
  To(400);
  std::vector<DueVisit> due = Take();
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].last->validators.etag, "\"1\"");
  last.validators.etag = "\"2\"";
  ASSERT_TRUE(schedule_->Report(due[0].key, {.end = VisitEnd::kChanged, .last = last}));
  To(800);
  due = Take();
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].last->validators.etag, "\"2\"");
}

TEST_F(RefreshScheduleTest, GonePagesGrowRarerAndEnd) {
  Add("http://a.test/gone");
  ASSERT_LT(NextDue(400), 400);
  double last = day_;
  std::vector<double> waits;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Report(taken_[0], VisitEnd::kGone));
    const double due = NextDue(day_ + 100);
    waits.push_back(due - last);
    last = due;
  }
  EXPECT_NEAR(waits[0], 1, 0.1);
  EXPECT_NEAR(waits[1], 2, 0.1);
  EXPECT_NEAR(waits[2], 4, 0.1);
  EXPECT_FALSE(Report(taken_[0], VisitEnd::kGone));
  EXPECT_EQ(schedule_->counts().pages + schedule_->counts().out, 0U);
  EXPECT_EQ(schedule_->counts().ended, 1U);
}

TEST_F(RefreshScheduleTest, APageThatWasGoneAndIsBackStays) {
  Add("http://a.test/back");
  for (int i = 0; i < 20; ++i) {
    ASSERT_LT(NextDue(day_ + 400), 10'000);
    ASSERT_EQ(taken_.size(), 1U);
    ASSERT_TRUE(Report(taken_[0], i % 4 == 3 ? VisitEnd::kSame : VisitEnd::kGone));
  }
}

TEST_F(RefreshScheduleTest, ErrorsWaitLongerAndDoNotEnd) {
  Add("http://a.test/down");
  for (int i = 0; i < 30; ++i) {
    ASSERT_LT(NextDue(day_ + 400), 10'000);
    ASSERT_EQ(taken_.size(), 1U);
    ASSERT_TRUE(Report(taken_[0], VisitEnd::kFailed));
  }
  EXPECT_GT(day_, 32 * 15);
}

// 100 pages that change every 25 days on average, eight visits per day, a sitemap that is read every quarter of a day.
TEST_F(RefreshScheduleTest, AnHonestSignalBringsAPageForwardAndALieDoesNot) {
  capacity_ = 8;
  double honest_wait = 0;
  for (const bool honest : {true, false}) {
    env_ = MemEnv();
    Open();
    To(0);
    for (int i = 0; i < 100; ++i) Add("http://a.test/" + std::to_string(i));
    Rng rng(2);
    std::map<std::string, double> changed;  // since the last visit: on which day first
    std::map<std::string, double> lastmod;
    double allowed = 0;
    double waited = 0;  // from the change to the visit
    int found = 0;
    for (double day = 0.25; day < 80; day += 0.25) {
      To(day);
      for (int i = 0; i < 100; ++i) {
        const std::string url = "http://a.test/" + std::to_string(i);
        if (rng.Chance(0.01)) {
          changed.try_emplace(url, day);
          lastmod[url] = day;
        }
        schedule_->Signal(url, kNow + static_cast<int64_t>((honest ? lastmod[url] : day) * kDay));
      }
      allowed = std::min(allowed + 2, 4.0);
      for (const DueVisit& due : Take(static_cast<size_t>(allowed))) {
        allowed -= 1;
        const auto change = changed.find(UrlOf(due));
        if (change != changed.end() && day > 40) {
          waited += day - change->second;
          ++found;
        }
        ASSERT_TRUE(Report(due, change != changed.end() ? VisitEnd::kChanged : VisitEnd::kSame));
        if (change != changed.end()) changed.erase(change);
      }
    }
    ASSERT_GT(found, 50);
    if (honest) {
      honest_wait = waited / found;
    } else {
      EXPECT_LT(honest_wait, 0.5 * waited / found);
    }
  }
}

TEST_F(RefreshScheduleTest, AHubThatBringsLinksComesOftenAndOneThatDoesNotComesRarely) {
  capacity_ = 20;
  Open();
  To(0);
  for (int i = 0; i < 100; ++i) Add("http://a.test/" + std::to_string(i));
  Add("http://a.test/feed", 0, true);
  Add("http://a.test/dead", 0, true);
  std::map<std::string, int> visits;
  std::map<std::string, double> last;
  for (double day = 0.1; day < 60; day += 0.1) {
    To(day);
    for (const DueVisit& due : Take(2)) {
      const std::string url = UrlOf(due);
      ++visits[url];
      const double news = url.ends_with("feed") ? std::round(5 * (day - last[url])) : 0;
      last[url] = day;
      ASSERT_TRUE(Report(due, VisitEnd::kSame, news));
    }
  }
  EXPECT_GT(visits["http://a.test/feed"], 20);
  EXPECT_LT(visits["http://a.test/dead"], visits["http://a.test/feed"] / 4);
}

TEST_F(RefreshScheduleTest, AClockThatIsSetBackNeitherStopsNorFloods) {
  capacity_ = 50;
  Open();
  To(0);
  for (int i = 0; i < 100; ++i) Add("http://a.test/" + std::to_string(i));
  const auto run = [&](double from, double to) {
    uint64_t visits = 0;
    for (double day = from; day < to; day += 0.1) {
      To(day);
      for (const DueVisit& due : Take(5)) {
        ++visits;
        EXPECT_TRUE(Report(due, visits % 2 == 0 ? VisitEnd::kChanged : VisitEnd::kSame));
      }
    }
    return visits;
  };
  run(0, 10);
  const uint64_t usual = run(10, 20);
  const uint64_t back = run(-1000, -990);
  EXPECT_GT(back, usual / 2);
  EXPECT_LT(back, usual * 2);
}

TEST_F(RefreshScheduleTest, AMillionLastmodsOfTodayChangeNothing) {
  Add("http://honest.test/a");
  for (int i = 0; i < 20'000; ++i) {
    static_cast<void>(schedule_->Signal("http://liar.test/" + std::to_string(i), INT64_MAX));
  }
  EXPECT_EQ(schedule_->counts().pages, 1U);
  To(1);
}

TEST_F(RefreshScheduleTest, APageThatNeverCameIsTriedSomeTimesAndEnds) {
  const std::string record = Record("http://a.test/down");
  ASSERT_TRUE(schedule_->Add({.record = record, .failed = true}));
  bool stays = true;
  int tries = 1;
  for (; stays && tries < 20; ++tries) {
    ASSERT_LT(NextDue(day_ + 40), 100);
    stays = Report(taken_[0], VisitEnd::kFailed);
  }
  EXPECT_EQ(tries, RefreshSchedule::kNeverHadStrikes);
  EXPECT_EQ(schedule_->counts().ended, 1U);
}

TEST_F(RefreshScheduleTest, APageThatComesAfterAllIsVisitedLikeOthers) {
  const std::string record = Record("http://a.test/late");
  ASSERT_TRUE(schedule_->Add({.record = record, .failed = true}));
  ASSERT_LT(NextDue(10), 10);
  ASSERT_TRUE(Report(taken_[0], VisitEnd::kSame));
  ASSERT_LT(NextDue(400), 400);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(Report(taken_[0], VisitEnd::kFailed));
    ASSERT_LT(NextDue(day_ + 40), 2000);
  }
}

TEST_F(RefreshScheduleTest, PagesThatAreHeldComeATickLater) {
  for (int i = 0; i < 20; ++i) Add("http://a.test/" + std::to_string(i));
  To(300);
  const auto hold = [](const UrlRecord& record) { return record.url.ends_with("7"); };
  EXPECT_EQ(schedule_->Take(100, hold)->size(), 18U);
  EXPECT_EQ(schedule_->counts().held, 2U);
  EXPECT_TRUE(Take().empty());
  To(300 + 300.0 / kDay);
  EXPECT_EQ(Take().size(), 2U);
}

TEST_F(RefreshScheduleTest, NewLinksOfAPageThatWasVisitedAgainMakeItAHub) {
  capacity_ = 20;
  Open();
  To(0);
  for (int i = 0; i < 100; ++i) Add("http://a.test/" + std::to_string(i));
  schedule_->Brought("http://a.test/3");  // of its first visit: all links are new then
  std::map<std::string, int> visits;
  for (double day = 0.1; day < 60; day += 0.1) {
    To(day);
    for (const DueVisit& due : Take(2)) {
      const std::string url = UrlOf(due);
      ++visits[url];
      ASSERT_TRUE(Report(due, VisitEnd::kSame));
      if (url.ends_with("/3")) {
        for (int i = 0; i < 5; ++i) schedule_->Brought(url);
      }
    }
  }
  EXPECT_GT(visits["http://a.test/3"], 3 * visits["http://a.test/4"]);
}

// The same crawl with an hour that takes 36 seconds, and one that is set back to an hour when it is opened again.
TEST_F(RefreshScheduleTest, AShorterHourIsTheSameCrawlFaster) {
  const auto visits = [](int64_t shortest_ns, bool restart) {
    MemEnv env;
    std::optional<Manifest> manifest(Manifest::Open(env, "store").value());
    RefreshOptions options = SmallOptions();
    options.shortest_ns = shortest_ns;
    auto schedule = RefreshSchedule::Open(env, *manifest, options).value();
    std::string all;
    int64_t now = kNow * kSecond;
    for (int hour = 0; hour < 600; ++hour) {
      if (restart && hour == 300) {
        EXPECT_TRUE(manifest->Commit(schedule->Checkpointables()));
        options.shortest_ns = 3600 * kSecond;
        schedule.reset();
        manifest.emplace(Manifest::Open(env, "store").value());
        schedule = RefreshSchedule::Open(env, *manifest, options).value();
      }
      now += options.shortest_ns;
      schedule->SetCapacity(40);
      schedule->Advance(now);
      if (hour < 20) {
        const std::string record = Record("http://a.test/" + std::to_string(hour));
        EXPECT_TRUE(schedule->Add({.record = record}));
      }
      while (schedule->Work(1000).value()) {
      }
      const std::vector<DueVisit> taken = schedule->Take(2).value();
      for (const DueVisit& due : taken) {
        all += std::to_string(hour) + " " + UrlOf(due) + "\n";
        EXPECT_TRUE(schedule->Report(due.key, {.end = hour % 3 == 0 ? VisitEnd::kChanged : VisitEnd::kSame}));
      }
    }
    return all;
  };
  const std::string usual = visits(3600 * kSecond, false);
  EXPECT_GT(std::ranges::count(usual, '\n'), 50);
  EXPECT_TRUE(visits(36 * kSecond, false) == usual);
  // The time between the last moment of the one and the first of the other is not known.
  EXPECT_NEAR(static_cast<double>(std::ranges::count(visits(36 * kSecond, true), '\n')),
              static_cast<double>(std::ranges::count(usual, '\n')), 5);
}

// What a restart must not lose: entries, pages that are out, what was learnt.
std::string Observe(RefreshSchedule& schedule) {
  std::string all = std::to_string(schedule.counts().taken) + " " + std::to_string(schedule.counts().out) + " " +
                    std::to_string(schedule.threshold().value()) + " " +
                    std::to_string(schedule.rates().levels().mean) + " " +
                    std::to_string(schedule.threshold().sampled()) + ":";
  schedule.SetCapacity(100);
  std::set<std::string> urls;
  for (int day = 100; day < 1000; day += 100) {
    schedule.Advance((kNow + day * kDay) * kSecond);
    for (bool more = true; more;) more = schedule.Work(1000).value();
    const auto due = schedule.Take(1000).value();
    for (const DueVisit& visit : due) urls.insert(UrlOf(visit));
  }
  for (const std::string& url : urls) all += " " + url;
  return all;
}

Status Script(Env& env, uint64_t& committed, uint64_t last_commit) {
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, "store"));
  ASSIGN_OR_RETURN(auto schedule, RefreshSchedule::Open(env, manifest, SmallOptions()));
  schedule->SetCapacity(20);
  Rng rng(1);
  std::vector<DueVisit> out;
  for (int step = 0; step < 120; ++step) {
    schedule->Advance((kNow + step * kDay / 4) * kSecond);
    if (step < 30) {
      const std::string record = Record("http://h" + std::to_string(step % 3) + ".test/" + std::to_string(step));
      RETURN_IF_ERROR(schedule->Add({.record = record}));
    }
    static_cast<void>(schedule->Signal("http://h1.test/" + std::to_string(rng.Below(30)), kNow + step * kDay / 4));
    RETURN_IF_ERROR(schedule->Work(3));
    ASSIGN_OR_RETURN(const auto due, schedule->Take(2));
    out.insert(out.end(), due.begin(), due.end());
    while (out.size() > 3) {
      const VisitEnd end = rng.Chance(0.1) ? VisitEnd::kGone : rng.Chance(0.5) ? VisitEnd::kChanged : VisitEnd::kSame;
      RETURN_IF_ERROR(schedule->Report(out.front().key, {.end = end}));
      out.erase(out.begin());
    }
    if (step % 30 == 29) {
      RETURN_IF_ERROR(manifest.Commit(schedule->Checkpointables()));
      committed = manifest.sequence();
      if (committed == last_commit) return {};
    }
  }
  return {};
}

std::string Reopened(Env& env) {
  auto manifest = Manifest::Open(env, "store");
  if (!manifest) return "error: " + manifest.error().ToString();
  auto schedule = RefreshSchedule::Open(env, *manifest, SmallOptions());
  if (!schedule) return "error: " + schedule.error().ToString();
  return Observe(**schedule);
}

TEST(RefreshScheduleCrashTest, KillsLoseNoSchedule) {
  constexpr uint64_t kCommits = 4;
  std::vector<std::string> expected;
  MemEnv empty;
  expected.push_back(Reopened(empty));
  for (uint64_t commit = 1; commit <= kCommits; ++commit) {
    MemEnv env;
    uint64_t committed = 0;
    ASSERT_TRUE(Script(env, committed, commit));
    ASSERT_EQ(committed, commit);
    expected.push_back(Reopened(env));
    ASSERT_FALSE(expected.back().starts_with("error")) << expected.back();
    ASSERT_NE(expected.back(), expected[commit - 1]);
  }
  uint64_t cuts = 0;
  for (uint64_t cut = 1;; ++cut) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    uint64_t committed = 0;
    static_cast<void>(Script(env, committed, kCommits));
    if (!env.power_is_cut()) break;
    ++cuts;
    if (cut % 5 != 0) continue;  // calendar_test.cc does each
    auto survived = mem.CrashedCopy(CrashMode::kTorn, cut);
    const uint64_t sequence = Manifest::Open(*survived, "store").value().sequence();
    ASSERT_TRUE(sequence == committed || sequence == committed + 1) << "cut at " << cut;
    ASSERT_EQ(Reopened(*survived), expected[sequence]) << "cut at " << cut;
  }
  EXPECT_GT(cuts, 100U);
}

}  // namespace
}  // namespace portolan
