// The frontier's behaviour, rule by rule.

#include "frontier/frontier.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/mem_env.h"

namespace portolan {
namespace {

using Kind = Dispatch::Kind;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kCalendar = 1'700'000'000 * kSecond;

FrontierOptions SmallOptions() {
  FrontierOptions options;
  options.back_queues = 100;
  options.politeness.host_delay_ns = kSecond;
  options.politeness.ip_delay_ns = 0;
  options.politeness.ip_hold_max_ns = 0;
  return options;
}

class FrontierTest : public testing::Test {
 protected:
  void Open(const FrontierOptions& options) {
    options_ = options;
    frontier_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    auto opened = Frontier::Open(env_, *manifest_, options, now_, kCalendar + now_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    frontier_ = *std::move(opened);
  }
  void Commit() {
    const auto status = manifest_->Commit(frontier_->Checkpointables());
    ASSERT_TRUE(status) << status.error().ToString();
  }
  void Add(const std::string& url, uint8_t priority = 0) {
    ASSERT_TRUE(frontier_->Add({.priority = priority, .url = url}));
  }
  // Resolves names on the way, one address per host, and returns the first dispatch that is something else.
  Dispatch Next() {
    for (;;) {
      auto dispatch = frontier_->Next(now_, kCalendar + now_);
      EXPECT_TRUE(dispatch) << dispatch.error().ToString();
      const Status whole = frontier_->CheckInvariants();
      EXPECT_TRUE(whole) << whole.error().ToString();
      if (dispatch->kind == Kind::kMoreWork) continue;
      if (dispatch->kind != Kind::kResolve || !resolve_) return *dispatch;
      ++resolved_;
      const auto special = answers_.find(std::string(dispatch->name));
      Resolution resolution{.host = dispatch->host, .addresses = {}, .ttl_s = 3600};
      if (special != answers_.end()) {
        resolution = special->second;
        resolution.host = dispatch->host;
      } else {
        resolution.addresses = {Address::V4(static_cast<uint32_t>(dispatch->host) | 1)};
      }
      frontier_->OnResolved(resolution, now_);
    }
  }
  // The next fetch, whenever that is.
  Dispatch NextFetch() {
    for (int i = 0; i < 100; ++i) {
      const Dispatch dispatch = Next();
      if (dispatch.kind == Kind::kFetch) return dispatch;
      EXPECT_EQ(dispatch.kind, Kind::kWait);
      EXPECT_GT(dispatch.until_ns, now_);
      now_ = dispatch.until_ns;
    }
    ADD_FAILURE() << "no fetch";
    return {};
  }

  MemEnv env_;
  std::optional<Manifest> manifest_;
  FrontierOptions options_;
  std::unique_ptr<Frontier> frontier_;
  int64_t now_ = 5 * kSecond;
  bool resolve_ = true;
  int resolved_ = 0;
  std::map<std::string, Resolution> answers_;
};

TEST_F(FrontierTest, AUrlIsResolvedFetchedAndGone) {
  Open(SmallOptions());
  resolve_ = false;
  EXPECT_EQ(Next().kind, Kind::kWait);
  EXPECT_TRUE(frontier_->Hungry());
  Add("http://a.example/1");
  const Dispatch resolve = Next();
  ASSERT_EQ(resolve.kind, Kind::kResolve);
  EXPECT_EQ(resolve.name, "a.example");
  EXPECT_EQ(Next().kind, Kind::kWait);  // asked once
  frontier_->OnResolved({.host = resolve.host, .addresses = {Address::V4(7)}, .ttl_s = 60}, now_);
  const Dispatch fetch = Next();
  ASSERT_EQ(fetch.kind, Kind::kFetch);
  EXPECT_EQ(fetch.record.url, "http://a.example/1");
  EXPECT_EQ(fetch.address, Address::V4(7));
  EXPECT_EQ(frontier_->counts().in_flight, 1U);
  frontier_->Finish(fetch.slot, {}, now_);
  EXPECT_EQ(frontier_->counts().urls(), 0U);
  EXPECT_EQ(frontier_->counts().hosts, 1U);  // its clock still runs
  now_ += kSecond;
  EXPECT_EQ(Next().kind, Kind::kWait);
  EXPECT_EQ(frontier_->counts().hosts, 1U) << "there may be more for it soon";
  now_ += kSecond;
  EXPECT_EQ(Next().kind, Kind::kWait);
  EXPECT_EQ(frontier_->counts().hosts, 0U);
  EXPECT_EQ(frontier_->counts().ips, 0U);
  EXPECT_FALSE(frontier_->Add({.url = "mailto:me"}));
}

TEST_F(FrontierTest, SeveralConnectionsGoToAHostWhereThatIsAllowed) {
  FrontierOptions options = SmallOptions();
  options.connections_per_host = 3;
  options.politeness.host_delay_ns = 0;
  options.politeness.delay_factor = 0;
  options.politeness.ip_hold_max_ns = 30 * kSecond;
  Open(options);
  for (int i = 0; i < 6; ++i) Add("http://a.example/" + std::to_string(i));
  std::vector<Dispatch> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(Next());
    ASSERT_EQ(open.back().kind, Kind::kFetch);
  }
  EXPECT_EQ(Next().kind, Kind::kWait) << "three are as many as may be";
  frontier_->Finish(open[1].slot, {}, now_);
  const Dispatch next = Next();
  ASSERT_EQ(next.kind, Kind::kFetch);
  EXPECT_EQ(next.record.url, "http://a.example/3");
  EXPECT_EQ(Next().kind, Kind::kWait);
  // All of them come back after a crash, once each.
  Commit();
  Open(options);
  EXPECT_EQ(frontier_->counts().urls(), 5U);
  std::set<std::string> urls;
  for (int i = 0; i < 5; ++i) {
    const Dispatch fetch = NextFetch();
    urls.insert(std::string(fetch.record.url));
    frontier_->Finish(fetch.slot, {}, now_);
  }
  EXPECT_EQ(urls.size(), 5U);
}

TEST_F(FrontierTest, ConnectionsThatFailTogetherAreOneIllness) {
  FrontierOptions options = SmallOptions();
  options.connections_per_host = 4;
  options.politeness.host_delay_ns = 0;
  options.give_up_after = 3;
  Open(options);
  for (int i = 0; i < 8; ++i) Add("http://a.example/" + std::to_string(i));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::pair<SlotId, std::string>> open;
    for (int i = 0; i < 4; ++i) {
      const Dispatch fetch = NextFetch();
      open.emplace_back(fetch.slot, fetch.record.url);
    }
    const Hit ill{.ok = false, .host_ill = true, .wait_ns = 10 * kSecond};
    for (const auto& [slot, url] : open) frontier_->Retry(slot, {.attempts = 1, .url = url}, Where::kHead, ill, now_);
    const Dispatch wait = Next();
    ASSERT_EQ(wait.kind, Kind::kWait) << "given up after eight failures at two moments";
    EXPECT_EQ(wait.until_ns, now_ + (round == 0 ? 10 : 20) * kSecond);
  }
  const Dispatch third = NextFetch();
  frontier_->Retry(third.slot, third.record, Where::kHead, {.ok = false, .host_ill = true}, now_);
  EXPECT_EQ(Next().kind, Kind::kFail);
}

TEST_F(FrontierTest, TheGapStartsAtTheEndAndIsTenTimesTheDuration) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  Add("http://a.example/3");
  const Dispatch first = NextFetch();
  const int64_t wait = Next().until_ns;
  EXPECT_EQ(wait, Frontier::kNever);  // one URL per host
  now_ += 2 * kSecond;
  frontier_->Finish(first.slot, {.duration_ns = 2 * kSecond}, now_);
  const int64_t end = now_;
  const Dispatch second = NextFetch();
  EXPECT_EQ(now_, end + 20 * kSecond);
  EXPECT_EQ(second.record.url, "http://a.example/2");
  frontier_->Finish(second.slot, {.duration_ns = 1, .retry_after_ns = 100 * 3600 * kSecond}, now_);
  EXPECT_EQ(Next().until_ns, now_ + 24 * 3600 * kSecond);
}

TEST_F(FrontierTest, CrawlDelayHoldsForTheGapThatRuns) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  const Dispatch first = NextFetch();
  frontier_->Finish(first.slot, {}, now_);
  frontier_->SetCrawlDelay(first.host, 30 * kSecond);
  frontier_->SetCrawlDelay(first.host + 1, 30 * kSecond);  // an unknown host
  EXPECT_EQ(Next().until_ns, now_ + 30 * kSecond);
  const int64_t end = now_;
  const Dispatch second = NextFetch();
  EXPECT_EQ(now_, end + 30 * kSecond);
  frontier_->Finish(second.slot, {}, now_);
  frontier_->SetCrawlDelay(first.host, 60 * kSecond);  // of a host that lingers
  Add("http://a.example/3");
  const int64_t second_end = now_;
  NextFetch();
  EXPECT_EQ(now_, second_end + 60 * kSecond);
}

TEST_F(FrontierTest, ASkippedUrlTouchesNoClock) {
  FrontierOptions options = SmallOptions();
  options.politeness.ip_delay_ns = 5 * kSecond;
  options.politeness.ip_hold_max_ns = 30 * kSecond;
  Open(options);
  for (int i = 0; i < 3; ++i) Add("http://a.example/" + std::to_string(i));
  for (int i = 0; i < 3; ++i) {
    const Dispatch fetch = Next();
    ASSERT_EQ(fetch.kind, Kind::kFetch);
    frontier_->Skip(fetch.slot);
  }
  EXPECT_EQ(frontier_->counts().urls(), 0U);
  Add("http://a.example/4");
  EXPECT_EQ(Next().kind, Kind::kFetch);
}

TEST_F(FrontierTest, AHostThatLeftAMomentAgoNeedsNoLookUp) {
  Open(SmallOptions());
  for (int i = 0; i < 3; ++i) {
    Add("http://a.example/" + std::to_string(i));
    const Dispatch fetch = Next();
    ASSERT_EQ(fetch.kind, Kind::kFetch);
    frontier_->Finish(fetch.slot, {}, now_);
    now_ += 3 * kSecond / 2;
    EXPECT_EQ(Next().kind, Kind::kWait);
  }
  EXPECT_EQ(resolved_, 1);
  now_ += kSecond;
  EXPECT_EQ(Next().kind, Kind::kWait);
  EXPECT_EQ(frontier_->counts().hosts, 0U);
}

TEST_F(FrontierTest, RetriesGoToTheHeadOrWaitTheirTime) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  Dispatch fetch = NextFetch();
  UrlRecord record = fetch.record;
  record.attempts = 1;
  frontier_->Retry(fetch.slot, record, Where::kTail, {.ok = false, .wait_ns = 60 * kSecond}, now_);
  const int64_t failed = now_;
  fetch = NextFetch();
  EXPECT_EQ(fetch.record.url, "http://a.example/2");
  frontier_->ReturnToHead(fetch.slot, fetch.record, {}, now_);  // robots.txt was fetched instead
  EXPECT_EQ(now_, failed + kSecond);
  fetch = NextFetch();
  EXPECT_EQ(fetch.record.url, "http://a.example/2");
  frontier_->Finish(fetch.slot, {}, now_);
  fetch = NextFetch();
  EXPECT_EQ(fetch.record.url, "http://a.example/1");
  EXPECT_EQ(fetch.record.attempts, 1);
  EXPECT_EQ(now_, failed + 60 * kSecond);
}

TEST_F(FrontierTest, AnIllHostWaitsLongerEachTimeAndIsWellAfterASuccess) {
  Open(SmallOptions());
  Add("http://a.example/1");
  const Hit ill{.ok = false, .host_ill = true, .wait_ns = 30 * kSecond};
  for (int64_t wait : {30, 60, 120, 240}) {
    const Dispatch fetch = NextFetch();
    frontier_->Retry(fetch.slot, fetch.record, Where::kHead, ill, now_);
    EXPECT_EQ(Next().until_ns, now_ + wait * kSecond);
  }
  Dispatch fetch = NextFetch();
  frontier_->Retry(fetch.slot, fetch.record, Where::kHead, {}, now_);
  fetch = NextFetch();
  frontier_->Retry(fetch.slot, fetch.record, Where::kHead, ill, now_);
  EXPECT_EQ(Next().until_ns, now_ + 30 * kSecond);
}

TEST_F(FrontierTest, AHostThatStaysIllIsGivenUp) {
  FrontierOptions options = SmallOptions();
  options.give_up_after = 3;
  Open(options);
  for (int i = 0; i < 5; ++i) Add("http://a.example/" + std::to_string(i));
  const Hit ill{.ok = false, .host_ill = true, .outcome = FetchOutcome::kConnectRefused};
  for (int i = 0; i < 3; ++i) {
    const Dispatch fetch = NextFetch();
    frontier_->Retry(fetch.slot, fetch.record, Where::kHead, ill, now_);
  }
  for (int i = 0; i < 5; ++i) {
    const Dispatch fail = Next();
    ASSERT_EQ(fail.kind, Kind::kFail);
    EXPECT_EQ(fail.outcome, FetchOutcome::kConnectRefused);
    EXPECT_EQ(fail.record.url, "http://a.example/" + std::to_string(i));
  }
  EXPECT_EQ(frontier_->counts().urls(), 0U);
  // Its back-off is not forgotten with its URLs.
  Add("http://a.example/new");
  const Dispatch wait = Next();
  EXPECT_EQ(wait.kind, Kind::kWait);
  EXPECT_EQ(wait.until_ns, now_ + 240 * kSecond);
}

TEST_F(FrontierTest, NamesThatDoNotExistFailTheirUrls) {
  Open(SmallOptions());
  answers_["gone.example"] = {.outcome = FetchOutcome::kDnsNotFound};
  answers_["printer.example"] = {.outcome = FetchOutcome::kAddressForbidden};
  answers_["empty.example"] = {.outcome = FetchOutcome::kAnswered};
  std::multiset<FetchOutcome> outcomes;
  for (const char* host : {"gone", "printer", "empty"}) {
    for (int i = 0; i < 2; ++i) Add("http://" + std::string(host) + ".example/" + std::to_string(i));
  }
  for (int i = 0; i < 6; ++i) {
    const Dispatch fail = Next();
    ASSERT_EQ(fail.kind, Kind::kFail);
    outcomes.insert(fail.outcome);
  }
  EXPECT_EQ(outcomes.count(FetchOutcome::kDnsNotFound), 4U);
  EXPECT_EQ(outcomes.count(FetchOutcome::kAddressForbidden), 2U);
  EXPECT_EQ(Next().kind, Kind::kWait);
  EXPECT_EQ(frontier_->counts().hosts, 0U);
}

TEST_F(FrontierTest, FailingNameServersAreAskedAgainAndOthersGoOn) {
  Open(SmallOptions());
  answers_["sick.example"] = {.outcome = FetchOutcome::kDnsTimeout};
  Add("http://sick.example/");
  Add("http://well.example/");
  const Dispatch fetch = Next();
  ASSERT_EQ(fetch.kind, Kind::kFetch);
  EXPECT_EQ(fetch.record.url, "http://well.example/");
  EXPECT_EQ(resolved_, 2);
  Dispatch next = Next();
  EXPECT_EQ(next.until_ns, now_ + 60 * kSecond);
  now_ = next.until_ns;
  next = Next();
  EXPECT_EQ(next.until_ns, now_ + 120 * kSecond);
  EXPECT_EQ(resolved_, 3);
  now_ = next.until_ns;
  next = Next();
  ASSERT_EQ(next.kind, Kind::kFail);
  EXPECT_EQ(next.outcome, FetchOutcome::kDnsTimeout);
  EXPECT_EQ(resolved_, 4);
  // Failures of our own network count against no host.
  answers_["ours.example"] = {.outcome = FetchOutcome::kLocal};
  Add("http://ours.example/");
  for (int i = 0; i < 20; ++i) {
    next = Next();
    ASSERT_EQ(next.kind, Kind::kWait);
    now_ = next.until_ns;
  }
  answers_.erase("ours.example");
  EXPECT_EQ(Next().kind, Kind::kFetch);
}

TEST_F(FrontierTest, AnExpiredAddressIsAskedForAgain) {
  Open(SmallOptions());
  answers_["a.example"] = {.addresses = {Address::V4(1)}, .ttl_s = 90};
  Add("http://a.example/1");
  Add("http://a.example/2");
  Add("http://a.example/3");
  frontier_->Finish(NextFetch().slot, {}, now_);
  frontier_->Finish(NextFetch().slot, {}, now_);
  EXPECT_EQ(resolved_, 1);
  answers_["a.example"] = {.addresses = {Address::V4(2)}, .ttl_s = 90};
  now_ += 90 * kSecond;
  EXPECT_EQ(NextFetch().address, Address::V4(2));
  EXPECT_EQ(resolved_, 2);
}

TEST_F(FrontierTest, AHostWithSeveralAddressesTurnsToAnotherWhenIll) {
  Open(SmallOptions());
  answers_["a.example"] = {.addresses = {Address::V4(1), Address::V4(2), Address::V4(3)}, .ttl_s = 86400};
  Add("http://a.example/1");
  std::set<std::string> used;
  for (int i = 0; i < 3; ++i) {
    const Dispatch fetch = NextFetch();
    used.insert(fetch.address.ToString());
    frontier_->Retry(fetch.slot, fetch.record, Where::kHead, {.ok = false, .host_ill = true}, now_);
  }
  EXPECT_EQ(used.size(), 3U);
}

TEST_F(FrontierTest, AtMaxHostsTheFrontWaitsAndNothingIsLost) {
  FrontierOptions options = SmallOptions();
  options.max_hosts = 10;
  options.back_queues = 50;
  Open(options);
  for (int i = 0; i < 1000; ++i) Add("http://h" + std::to_string(i) + ".example/");
  int fetched = 0;
  while (frontier_->counts().urls() > 0) {
    const Dispatch fetch = NextFetch();
    ASSERT_LE(frontier_->counts().hosts, 10U);
    frontier_->Finish(fetch.slot, {}, now_);
    ++fetched;
  }
  EXPECT_EQ(fetched, 1000);
}

TEST_F(FrontierTest, WhatIsTooMuchForTheMemoryGoesToDiskInSmallSteps) {
  FrontierOptions options = SmallOptions();
  options.memory = size_t{96} << 20;  // a sixteenth of it, which is spilled, is more than one step
  options.back_queues = 1'000'000;    // pull everything
  Open(options);
  const std::string path(1000, 'x');
  size_t most = 0;
  size_t largest_step = 0;
  for (int i = 0; i < 160'000; ++i) {
    Add("http://h" + std::to_string(i % 400) + ".example/" + std::to_string(i) + path);
    const size_t before = frontier_->counts().ram_bytes;
    ASSERT_TRUE(frontier_->Next(now_, kCalendar + now_));
    most = std::max(most, frontier_->counts().ram_bytes);
    largest_step = std::max(largest_step, before - std::min(before, frontier_->counts().ram_bytes));
  }
  EXPECT_LE(most, options.memory + (size_t{1} << 20));
  EXPECT_LE(largest_step, size_t{5} << 20);
  EXPECT_GE(largest_step, size_t{3} << 20) << "it came to that";
  EXPECT_EQ(frontier_->counts().urls(), 160'000U);
}

TEST_F(FrontierTest, NamesAreAskedForABoundedNumberAtATime) {
  FrontierOptions options = SmallOptions();
  options.max_resolving = 4;
  Open(options);
  resolve_ = false;
  for (int i = 0; i < 10; ++i) Add("http://h" + std::to_string(i) + ".example/");
  std::vector<uint64_t> asked;
  for (int i = 0; i < 4; ++i) {
    const Dispatch dispatch = Next();
    ASSERT_EQ(dispatch.kind, Kind::kResolve);
    asked.push_back(dispatch.host);
  }
  EXPECT_EQ(Next().kind, Kind::kWait);
  frontier_->OnResolved({.host = asked[1], .addresses = {Address::V4(9)}, .ttl_s = 60}, now_);
  frontier_->OnResolved({.host = asked[1], .addresses = {Address::V4(9)}, .ttl_s = 60}, now_);  // again: ignored
  EXPECT_EQ(Next().kind, Kind::kResolve);
  EXPECT_EQ(Next().kind, Kind::kFetch);
}

TEST_F(FrontierTest, ClocksSurviveARestart) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  Add("http://b.example/1");
  Dispatch a = NextFetch();
  ASSERT_EQ(a.record.url, "http://a.example/1");
  frontier_->Finish(a.slot, {.retry_after_ns = 1000 * kSecond}, now_);
  const Dispatch b = NextFetch();  // in flight when the frontier is closed
  ASSERT_EQ(b.record.url, "http://b.example/1");
  const int64_t free = now_ + 1000 * kSecond;
  Commit();
  EXPECT_EQ(frontier_->counts().in_flight, 1U);

  // 100 seconds later by the calendar.
  now_ += 100 * kSecond;
  Open(options_);
  EXPECT_EQ(frontier_->counts().waiting(), 2U);
  const Dispatch again = NextFetch();
  EXPECT_EQ(again.record.url, "http://b.example/1");
  EXPECT_GT(now_, free - 900 * kSecond);
  EXPECT_LE(now_, free - 900 * kSecond + kSecond);
  NextFetch();
  EXPECT_EQ(now_, free);
}

TEST_F(FrontierTest, ACalendarThatWentBackwardsWaitsAtMostTheDelayAgain) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  frontier_->Finish(NextFetch().slot, {.retry_after_ns = 1000 * kSecond}, now_);
  Commit();
  frontier_.reset();
  manifest_.emplace(Manifest::Open(env_, "store").value());
  frontier_ = Frontier::Open(env_, *manifest_, options_, now_, kCalendar - 3600 * kSecond).value();
  EXPECT_EQ(Next().until_ns, now_ + 1000 * kSecond);
}

TEST_F(FrontierTest, ACalendarThatWentForwardsStillWaitsTheDelay) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Add("http://a.example/2");
  frontier_->Finish(NextFetch().slot, {.retry_after_ns = 1000 * kSecond}, now_);
  Commit();
  frontier_.reset();
  manifest_.emplace(Manifest::Open(env_, "store").value());
  frontier_ = Frontier::Open(env_, *manifest_, options_, now_, kCalendar + 40 * 86'400 * kSecond).value();
  EXPECT_GE(Next().until_ns, now_ + options_.politeness.host_delay_ns);
  EXPECT_LT(Next().until_ns, now_ + 1000 * kSecond);
}

TEST_F(FrontierTest, MoreFrontQueuesBeforeThanNowLoseNothing) {
  Open(SmallOptions());
  for (int i = 0; i < 3000; ++i) Add("http://h" + std::to_string(i) + ".example/", static_cast<uint8_t>(i % 8));
  Commit();
  FrontierOptions options = SmallOptions();
  options.front_queues = 2;
  Open(options);
  EXPECT_EQ(frontier_->counts().urls(), 3000U);
  Commit();
  Open(options);
  EXPECT_EQ(frontier_->counts().urls(), 3000U);
}

TEST_F(FrontierTest, ADamagedSnapshotIsAnError) {
  Open(SmallOptions());
  Add("http://a.example/1");
  Next();
  Commit();
  env_.Corrupt("store/frontier-000000001.snapshot", 60, "xx");
  frontier_.reset();
  const auto opened = Frontier::Open(env_, *manifest_, options_, now_, kCalendar);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kCorrupt);
}

TEST_F(FrontierTest, OldSnapshotsAreRemoved) {
  Open(SmallOptions());
  for (int i = 0; i < 5; ++i) {
    Add("http://a.example/" + std::to_string(i));
    Next();
    Commit();
  }
  int snapshots = 0;
  const auto names = env_.List("store").value();
  for (const std::string& name : names) snapshots += name.ends_with(".snapshot") ? 1 : 0;
  EXPECT_EQ(snapshots, 1);
}

}  // namespace
}  // namespace portolan
