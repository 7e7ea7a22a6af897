// Every kind of violation is planted once in a log that is clean without it.

#include "sim/oracle/judge.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace portolan::sim {
namespace {

constexpr int64_t kStart = int64_t{1'767'300'000} * 1'000'000'000;
constexpr int64_t kS = 1'000'000'000;

WorldParams TestParams() {
  WorldParams params = *LoadProfile("small");
  const std::pair<const char*, const char*> settings[] = {
      {"domains", "40"},       {"pages", "4000"},        {"max_hosts", "3"},      {"addresses", "64"},
      {"robots_rules", "0.7"}, {"crawl_delay", "0.7"},   {"crawl_delay_s", "5"},  {"robots_error", "0.2"},
      {"flaky", "0.1"},        {"https", "0.3"},         {"fault_reset", "0.05"}, {"restricted_pages", "0.2"},
      {"change_days", "1"},    {"trap_calendar", "0.3"}, {"spam_domains", "2"},   {"spam_entry", "0.01"},
  };
  for (const auto& [key, value] : settings) {
    const Status status = SetParam(params, key, value);
    EXPECT_TRUE(status.has_value()) << key;
  }
  return params;
}

const World& TheWorld() {
  static const std::unique_ptr<World> world = *World::Create(TestParams(), 11);
  return *world;
}

Rules StrictRules() {
  Rules rules;
  rules.host_gap_ns = kS;
  rules.ip_gap_ns = kS / 2;
  rules.connections = 1;
  rules.ip_sockets = 1;
  rules.crawl_delay = true;
  rules.fetches_per_url = 1;
  rules.robots_ttl_ns = 86400 * kS;
  return rules;
}

struct TestHit {
  double at_s = 0;
  double took_s = 0.05;
  std::string host;
  std::string path;
  std::string address;
  int status = 200;
  bool tls = false;
};

std::string AddressText(std::string_view host) {
  const DnsAnswer answer = TheWorld().Resolve(host);
  if (answer.v4.empty()) return "::1";
  const uint32_t v4 = answer.v4.front();
  return fmt::format("{}.{}.{}.{}", v4 >> 24, (v4 >> 16) & 255, (v4 >> 8) & 255, v4 & 255);
}

TestHit At(double at_s, const Place& place, int status = 200) {
  const std::string url = TheWorld().UrlOf(place);
  const std::string host = TheWorld().HostName(place.host);
  return {.at_s = at_s,
          .host = host,
          .path = url.substr(TheWorld().Origin(place.host).size()),
          .address = AddressText(host),
          .status = status,
          .tls = TheWorld().HostIsTls(place.host)};
}

TestHit RobotsAt(double at_s, HostId host, int status = 200) {
  return At(at_s, {.host = host, .place_class = PlaceClass::kRobots}, status);
}

int64_t NsOf(double at_s) { return kStart + static_cast<int64_t>(at_s * 1e9); }

void Feed(Judge& judge, const std::vector<TestHit>& hits) {
  uint64_t connection = 0;
  for (const TestHit& hit : hits) {
    judge.OnHit({.unix_ns = NsOf(hit.at_s),
                 .end_ns = NsOf(hit.at_s + hit.took_s),
                 .connection = ++connection,
                 .address = hit.address,
                 .host = hit.host,
                 .tls = hit.tls,
                 .method = "GET",
                 .path_and_query = hit.path,
                 .user_agent = "portolan/0",
                 .status = hit.status,
                 .bytes = 100});
  }
}

Account JudgeAll(const std::vector<TestHit>& hits, const Rules& rules = StrictRules()) {
  Judge judge(TheWorld(), {.rules = rules});
  Feed(judge, hits);
  return judge.Finish(NsOf(100));
}

// So many of this kind, and nothing of any other.
void ExpectOnly(const Account& account, std::optional<Violation> kind, uint64_t count = 1) {
  for (int i = 0; i < kViolations; ++i) {
    const auto violation = static_cast<Violation>(i);
    EXPECT_EQ(account.Of(violation), kind == violation ? count : 0) << InfoOf(violation).key << "\n"
                                                                    << AccountTable(account);
  }
}

std::vector<Place> PagesOf(HostId host, const std::function<bool(const Place&)>& wanted) {
  std::vector<Place> places;
  for (uint64_t page = 0; page < TheWorld().Pages(host); ++page) {
    const Place place{.host = host, .place_class = PlaceClass::kPage, .number = page};
    if (wanted(place)) places.push_back(place);
  }
  return places;
}

bool IsGood(const Place& place) {
  return TheWorld().KindOf(place) == PageKind::kNormal && TheWorld().Allowed(place, "portolan", kStart);
}

HostId FindHost(const std::function<bool(HostId)>& wanted) {
  for (uint32_t domain = 0; domain < TheWorld().Domains(); ++domain) {
    for (uint32_t host = 0; host < TheWorld().Hosts(domain); ++host) {
      const HostId id{domain, host};
      if (TheWorld().DnsWorks(id) && wanted(id)) return id;
    }
  }
  ADD_FAILURE() << "the test's world has no such host";
  return {};
}

bool IsPlain(HostId host) {
  return TheWorld().RobotsReachable(host, kStart) && TheWorld().CrawlDelay(host, "portolan", kStart) == 0 &&
         PagesOf(host, IsGood).size() >= 4;
}

class JudgeTest : public testing::Test {
 protected:
  HostId host_ = FindHost(IsPlain);
  std::vector<Place> good_ = PagesOf(host_, IsGood);
  std::vector<TestHit> clean_ = {RobotsAt(0, host_), At(2, good_[0]), At(4, good_[1]), At(6, good_[2])};
};

TEST_F(JudgeTest, PoliteLogIsClean) {
  const Account account = JudgeAll(clean_);
  ExpectOnly(account, std::nullopt);
  EXPECT_EQ(account.TotalViolations(), 0U);
  EXPECT_EQ(account.fetches, 4U);
  EXPECT_EQ(account.pages_fetched, 3U);
  EXPECT_EQ(account.robots_fetches, 1U);
  EXPECT_EQ(account.hosts, 1U);
  EXPECT_EQ(account.addresses, 1U);
  EXPECT_EQ(account.host_gap.ns, 2 * kS);
  EXPECT_NEAR(static_cast<double>(account.host_end_gap.ns), 1.95e9, 1e6);
  EXPECT_EQ(account.max_in_progress, 1U);
}

TEST_F(JudgeTest, HostGapTooSmall) {
  clean_[3].at_s = 4.99;
  // The address is the same, but its gap is smaller.
  ExpectOnly(JudgeAll(clean_), Violation::kHostGap);
  clean_[3].at_s = 4.999;  // within the slack
  ExpectOnly(JudgeAll(clean_), std::nullopt);
}

TEST_F(JudgeTest, HostGapFromTheEnd) {
  clean_[3].at_s = 5.02;
  ExpectOnly(JudgeAll(clean_), std::nullopt);
  Rules rules = StrictRules();
  rules.gap_from_end = true;
  ExpectOnly(JudgeAll(clean_, rules), Violation::kHostGap);
}

TEST_F(JudgeTest, IpGapTooSmallBetweenTwoHosts) {
  const HostId other = FindHost([this](HostId id) { return id != host_ && IsPlain(id); });
  const Place page = PagesOf(other, IsGood)[0];
  std::vector<TestHit> hits = {clean_[0], RobotsAt(1, other), clean_[1], At(3, page)};
  hits[1].address = hits[3].address = hits[0].address;
  ExpectOnly(JudgeAll(hits), std::nullopt);
  hits[3].at_s = 2.4;
  ExpectOnly(JudgeAll(hits), Violation::kIpGap);
  EXPECT_EQ(JudgeAll(hits).ip_gap.ns, kS * 2 / 5);
  hits[3].address = "127.99.99.99";
  ExpectOnly(JudgeAll(hits), std::nullopt);
}

TEST_F(JudgeTest, DelayFactorNotKept) {
  Rules rules = StrictRules();
  rules.delay_factor = 10;
  ExpectOnly(JudgeAll(clean_, rules), std::nullopt);
  clean_[2].took_s = 0.3;  // 3 s wanted after 4.3
  ExpectOnly(JudgeAll(clean_, rules), Violation::kDelayFactor);
  rules.delay_factor_max_ns = kS;
  ExpectOnly(JudgeAll(clean_, rules), std::nullopt);
}

TEST_F(JudgeTest, TwoRequestsAtOnce) {
  clean_[2].took_s = 2.5;
  ExpectOnly(JudgeAll(clean_), Violation::kParallel);
  EXPECT_EQ(JudgeAll(clean_).max_in_progress, 2U);
  Rules rules = StrictRules();
  rules.connections = 2;
  ExpectOnly(JudgeAll(clean_, rules), std::nullopt);
}

TEST_F(JudgeTest, TwoConnectionsToAnAddress) {
  for (const bool early : {false, true}) {
    Judge judge(TheWorld(), {.rules = StrictRules()});
    judge.OnOpen(NsOf(0), 1, "127.1.0.1", 80);
    judge.OnOpen(NsOf(0), 2, "127.1.0.2", 80);
    if (!early) judge.OnClose(NsOf(1), 1);
    judge.OnOpen(NsOf(2), 3, "127.1.0.1", 80);
    const Account account = judge.Finish(NsOf(3));
    ExpectOnly(account, early ? std::optional(Violation::kSockets) : std::nullopt);
    EXPECT_EQ(account.max_sockets, early ? 2U : 1U);
  }
}

// A rule alone.
Rules OneRule(uint32_t Rules::* rule, uint32_t allowed) {
  Rules rules;
  rules.*rule = allowed;
  return rules;
}

TEST_F(JudgeTest, InstantAnswersToRequestsThatCameTogetherAreParallel) {
  std::vector<TestHit> hits = {RobotsAt(0, host_)};
  // Each is answered a tenth of a millisecond after the last one: far less than the clocks' slack.
  for (int i = 0; i < 4; ++i) {
    hits.push_back(At(2 + 1e-6 * i, good_[static_cast<size_t>(i)]));
    hits.back().took_s = 1e-4 * (i + 1);
  }
  for (const uint32_t allowed : {1U, 2U, 3U, 4U}) {
    const Account account = JudgeAll(hits, OneRule(&Rules::connections, allowed));
    ExpectOnly(account, Violation::kParallel, 4 - allowed);
    EXPECT_EQ(account.max_in_progress, 4U);
  }
}

TEST_F(JudgeTest, RequestsOneAfterAnotherAreNotParallelHoweverCloseTheyAre) {
  std::vector<TestHit> hits = {RobotsAt(0, host_)};
  for (int i = 0; i < 4; ++i) {
    hits.push_back(At(2 + 1e-4 * i, good_[static_cast<size_t>(i)]));
    hits.back().took_s = 1e-4;
  }
  const Account account = JudgeAll(hits, OneRule(&Rules::connections, 1));
  ExpectOnly(account, std::nullopt);
  EXPECT_EQ(account.max_in_progress, 1U);
}

TEST_F(JudgeTest, ConnectionsOpenToAHost) {
  const auto run = [this](uint32_t allowed, bool close_each) {
    Judge judge(TheWorld(), {.rules = OneRule(&Rules::open_connections, allowed)});
    TestHit hit = RobotsAt(0, host_);
    for (uint64_t connection = 1; connection <= 3; ++connection) {
      const double at_s = static_cast<double>(connection);
      judge.OnOpen(NsOf(at_s), connection, "127.1.0.1", 80);
      judge.OnOpen(NsOf(at_s), 100 + connection, "127.1.0.1", 80);  // never used
      judge.OnHit({.unix_ns = NsOf(at_s + 0.001),
                   .end_ns = NsOf(at_s + 0.001),
                   .connection = connection,
                   .address = "127.1.0.1",
                   .host = hit.host,
                   .tls = hit.tls,
                   .method = "GET",
                   .path_and_query = hit.path,
                   .status = 200});
      if (close_each) judge.OnClose(NsOf(at_s + 0.002), connection);
    }
    return judge.Finish(NsOf(10));
  };
  const Account kept = run(2, false);
  ExpectOnly(kept, Violation::kOpenConnections);
  EXPECT_EQ(kept.open_connections_max, 3U);
  EXPECT_EQ(kept.open_connections_host, TheWorld().HostName(host_));
  EXPECT_EQ(kept.max_sockets, 6U);
  ExpectOnly(run(3, false), std::nullopt);
  const Account closed = run(1, true);
  ExpectOnly(closed, std::nullopt);
  EXPECT_EQ(closed.open_connections_max, 1U);
}

TEST_F(JudgeTest, WhatBrowsersAskByThemselvesIsNoInventedUrlButKeepsThePace) {
  for (const char* path : {"/favicon.ico", "/.well-known/security.txt", "/apple-touch-icon-precomposed.png"}) {
    clean_[3].path = path;
    clean_[3].at_s = 6;
    const Account account = JudgeAll(clean_);
    ExpectOnly(account, std::nullopt);
    EXPECT_EQ(account.browser_requests, 1U);
    clean_[3].at_s = 4.5;
    ExpectOnly(JudgeAll(clean_), Violation::kHostGap);
  }
  clean_[3].at_s = 6;
  clean_[3].path = "/images/favicon.ico";
  ExpectOnly(JudgeAll(clean_), Violation::kUnknownUrl);
  clean_[3].path = "/favicon.ico";
  clean_[3].host = "nobody.test";
  ExpectOnly(JudgeAll(clean_), Violation::kUnknownUrl);
}

TEST_F(JudgeTest, PagesAreCountedByProtocol) {
  Judge judge(TheWorld(), {});
  const TestHit page = At(2, good_[0]);
  for (const auto& [tls, http2, status] : {std::tuple(true, true, 200), std::tuple(true, false, 200),
                                           std::tuple(false, false, 200), std::tuple(true, true, 500)}) {
    judge.OnHit({.unix_ns = NsOf(2),
                 .end_ns = NsOf(3),
                 .host = page.host,
                 .tls = tls,
                 .http2 = http2,
                 .method = "GET",
                 .path_and_query = page.path,
                 .status = status});
  }
  EXPECT_EQ(judge.account().page_answers, 3U);
  EXPECT_EQ(judge.account().page_answers_https, 2U);
  EXPECT_EQ(judge.account().page_answers_http2, 1U);
}

TEST_F(JudgeTest, ForbiddenPage) {
  const HostId host = FindHost([](HostId id) {
    return IsPlain(id) && !PagesOf(id, [](const Place& place) {
                             return TheWorld().KindOf(place) == PageKind::kNormal &&
                                    !TheWorld().Allowed(place, "portolan", kStart);
                           }).empty();
  });
  const Place forbidden = PagesOf(host, [](const Place& place) {
    return TheWorld().KindOf(place) == PageKind::kNormal && !TheWorld().Allowed(place, "portolan", kStart);
  })[0];
  std::vector<TestHit> hits = {RobotsAt(0, host), At(2, PagesOf(host, IsGood)[0])};
  ExpectOnly(JudgeAll(hits), std::nullopt);
  hits.push_back(At(4, forbidden));
  ExpectOnly(JudgeAll(hits), Violation::kRobots);
  Rules rules = StrictRules();
  rules.robots = false;
  ExpectOnly(JudgeAll(hits, rules), std::nullopt);
}

TEST_F(JudgeTest, PageBeforeRobots) {
  ExpectOnly(JudgeAll({clean_[1], clean_[2]}), Violation::kRobotsNotAsked, 2);
  // Asked for, but the answer had not come.
  clean_[0].took_s = 3;
  Rules rules = StrictRules();
  rules.connections = 2;
  ExpectOnly(JudgeAll(clean_, rules), Violation::kRobotsNotAsked);
}

TEST_F(JudgeTest, PageWhileRobotsIsUnreachable) {
  const HostId ill = FindHost([](HostId id) { return !TheWorld().RobotsReachable(id, kStart); });
  const Place page{.host = ill, .place_class = PlaceClass::kPage, .number = 0};
  ExpectOnly(JudgeAll({RobotsAt(0, ill, 503)}), std::nullopt);
  ExpectOnly(JudgeAll({RobotsAt(0, ill, 503), At(1000, page)}), Violation::kRobotsUnreachable);
}

TEST_F(JudgeTest, RobotsPastItsLifetime) {
  clean_.push_back(At(90'000, good_[3]));
  ExpectOnly(JudgeAll(clean_), Violation::kRobotsStale);
  clean_.insert(clean_.end() - 1, RobotsAt(89'000, host_));
  ExpectOnly(JudgeAll(clean_), std::nullopt);
}

TEST_F(JudgeTest, CrawlDelayNotKept) {
  const HostId slow = FindHost([](HostId id) {
    return TheWorld().RobotsReachable(id, kStart) && TheWorld().CrawlDelay(id, "portolan", kStart) > 1.1 &&
           PagesOf(id, IsGood).size() >= 3;
  });
  const double delay = TheWorld().CrawlDelay(slow, "portolan", kStart);
  const std::vector<Place> pages = PagesOf(slow, IsGood);
  std::vector<TestHit> hits = {RobotsAt(0, slow), At(1.1, pages[0]), At(1.1 + delay, pages[1])};
  ExpectOnly(JudgeAll(hits), std::nullopt);
  hits[2].at_s -= 0.05;
  ExpectOnly(JudgeAll(hits), Violation::kCrawlDelay);
  Rules rules = StrictRules();
  rules.crawl_delay = false;
  ExpectOnly(JudgeAll(hits, rules), std::nullopt);
}

struct Flaky {
  Place place;
  int status = 0;
  double wait_s = 0;
};

// A page that asks for two seconds or more when it is asked for first, in seconds or as a date.
Flaky FindFlaky(bool as_date) {
  std::optional<Flaky> found;
  const auto look = [&found, as_date](HostId id) {
    if (!IsPlain(id)) return false;
    const auto flaky = [](const Place& page) {
      return TheWorld().KindOf(page) == PageKind::kFlaky && TheWorld().Allowed(page, "portolan", kStart);
    };
    for (const Place& place : PagesOf(id, flaky)) {
      const TestHit hit = At(0, place);
      Request request{.host = hit.host, .path_and_query = hit.path, .tls = hit.tls};
      request.unix_ns = NsOf(0);
      const Answer answer = TheWorld().Respond(request);
      for (const auto& [name, value] : answer.headers) {
        if (name != "Retry-After" || value.ends_with("GMT") != as_date) continue;
        // The start is at a full minute.
        const double wait_s = as_date ? std::stod(value.substr(23, 2)) : std::stod(value);
        if (wait_s >= 2) found = {place, answer.status, wait_s};
      }
    }
    return found.has_value();
  };
  FindHost(look);
  return found.value_or(Flaky());
}

TEST_F(JudgeTest, RetryAfterNotKept) {
  for (const bool as_date : {false, true}) {
    const Flaky flaky = FindFlaky(as_date);
    ASSERT_GE(flaky.wait_s, 2);
    const Place other = PagesOf(flaky.place.host, IsGood)[0];
    const double until_s = flaky.wait_s + (as_date ? 2 : 2.05);
    std::vector<TestHit> hits = {RobotsAt(0, flaky.place.host), At(2, flaky.place, flaky.status), At(until_s, other)};
    ExpectOnly(JudgeAll(hits), std::nullopt);
    hits[2].at_s = until_s - 0.01;
    ExpectOnly(JudgeAll(hits), Violation::kRetryAfter);
    // The same page tried again in time is no repetition.
    hits[2] = At(until_s, flaky.place, 200);
    ExpectOnly(JudgeAll(hits), std::nullopt);
    EXPECT_EQ(JudgeAll(hits).retries, 1U);
    EXPECT_EQ(JudgeAll(hits).unlike_world, 0U);
  }
}

TEST_F(JudgeTest, OtherSchemeIsADetourAndNoFetch) {
  clean_[3] = clean_[2];
  clean_[3].at_s = 6;
  clean_[3].tls = !clean_[3].tls;
  clean_[3].status = 301;
  const Account account = JudgeAll(clean_);
  ExpectOnly(account, std::nullopt);
  EXPECT_EQ(account.detours, 1U);
}

TEST_F(JudgeTest, SamePageTwice) {
  clean_[3] = At(6, good_[0]);
  ExpectOnly(JudgeAll(clean_), Violation::kRepeat);
  Rules rules = StrictRules();
  rules.fetches_per_url = 2;
  ExpectOnly(JudgeAll(clean_, rules), std::nullopt);
}

TEST_F(JudgeTest, TriesAfterFailuresAreReportedUpToABound) {
  std::vector<TestHit> hits = {RobotsAt(0, host_)};
  for (int i = 1; i <= 21; ++i) hits.push_back(At(2.0 * i, good_[0], 500));
  const Account account = JudgeAll(hits);
  EXPECT_EQ(account.retries, 20U);
  ExpectOnly(account, Violation::kRepeat, 1);
}

TEST_F(JudgeTest, UrlThatDoesNotExist) {
  clean_[3].path = "/no/such/page/anywhere";
  ExpectOnly(JudgeAll(clean_), Violation::kUnknownUrl);
  clean_[3] = clean_[2];
  clean_[3].at_s = 6;
  clean_[3].host = "nobody.test";
  ExpectOnly(JudgeAll(clean_), Violation::kUnknownUrl);
}

TEST_F(JudgeTest, MissedPagesCountWhenTheCrawlClaimsToBeComplete) {
  const auto reachable = [this](const std::function<void(uint64_t)>& each) {
    for (int i = 0; i < 4; ++i) each(TheWorld().DenseNumber(host_, good_[static_cast<size_t>(i)].number));
  };
  for (const bool complete : {false, true}) {
    Rules rules = StrictRules();
    rules.complete = complete;
    Judge judge(TheWorld(), {.rules = rules});
    Feed(judge, clean_);
    std::vector<std::string> missed;
    judge.Cover(reachable, [&missed](const std::string& url) { missed.push_back(url); });
    const Account account = judge.Finish(NsOf(10));
    EXPECT_EQ(account.reachable, 4U);
    EXPECT_EQ(account.fetched_of_reachable, 3U);
    EXPECT_EQ(account.missed, 1U);
    EXPECT_EQ(missed, std::vector<std::string>{TheWorld().UrlOf(good_[3])});
    EXPECT_EQ(account.missed_urls, missed);
    ExpectOnly(account, complete ? std::optional(Violation::kMissed) : std::nullopt);
  }
}

TEST_F(JudgeTest, DnsQuestionsAreCountedByName) {
  Judge judge(TheWorld(), {});
  judge.OnDns(NsOf(0), "a.test", "A", 0);
  judge.OnDns(NsOf(1), "a.test", "AAAA", 0);
  judge.OnDns(NsOf(1), "b.test", "A", 3);
  EXPECT_EQ(judge.account().dns_questions, 3U);
  EXPECT_EQ(judge.account().dns_names, 2U);
  EXPECT_EQ(judge.account().max_dns_questions, 2U);
  EXPECT_EQ(judge.account().max_dns_name, "a.test");
}

TEST_F(JudgeTest, CopiesGrowOld) {
  Judge judge(TheWorld(), {.rules = StrictRules()});
  Feed(judge, clean_);
  const Freshness young = judge.MeasureFreshness(NsOf(6));
  EXPECT_EQ(young.copies, 3U);
  EXPECT_EQ(young.fresh, 3U);
  EXPECT_EQ(young.mean_age_s, 0);
  // A simple model: walk through time for the first moment at which the version differs.
  const int64_t now = NsOf(10 * 86400);
  const Freshness old = judge.MeasureFreshness(now);
  uint64_t fresh = 0;
  double age_s = 0;
  for (int i = 0; i < 3; ++i) {
    const Place& place = good_[static_cast<size_t>(i)];
    const uint64_t version = TheWorld().Version(place, NsOf(2.0 * i + 2));
    int64_t at = NsOf(2.0 * i + 2);
    while (at < now && TheWorld().Version(place, at) == version) at += 60 * kS;
    if (at >= now) {
      ++fresh;
    } else {
      age_s += static_cast<double>(now - at) * 1e-9;
    }
  }
  EXPECT_EQ(old.fresh, fresh);
  EXPECT_LT(old.fresh, 3U);
  EXPECT_NEAR(old.mean_age_s, age_s / 3, 61);
}

TEST_F(JudgeTest, HostsPastTheBoundAreCountedAndNotJudged) {
  Judge judge(TheWorld(), {.rules = StrictRules(), .max_hosts = 1});
  const HostId other = FindHost([this](HostId id) { return id != host_ && IsPlain(id); });
  Feed(judge, {clean_[0], RobotsAt(0.01, other), RobotsAt(0.02, other)});
  EXPECT_EQ(judge.account().unjudged, 2U);
}

TEST_F(JudgeTest, ExamplesAreBoundedAndCountsAreNot) {
  Judge judge(TheWorld(), {.rules = StrictRules(), .offences_a_kind = 3});
  std::vector<TestHit> hits;
  for (int i = 0; i < 10; ++i) {
    hits.push_back(At(i * 2, good_[0]));
    hits.back().path = fmt::format("/made-up-{}", i);
  }
  Feed(judge, hits);
  EXPECT_EQ(judge.account().Of(Violation::kUnknownUrl), 10U);
  EXPECT_EQ(judge.account().offences.size(), 3U);
}

TEST_F(JudgeTest, JsonHasAKeyForEveryKind) {
  clean_[3].path = "/no/such\xff";
  const auto json = nlohmann::json::parse(AccountJson(JudgeAll(clean_)));
  uint64_t sum = 0;
  for (int i = 0; i < kViolations; ++i) {
    const std::string key = std::string(InfoOf(static_cast<Violation>(i)).key) + "_violations";
    ASSERT_TRUE(json.contains(key)) << key;
    sum += json[key].get<uint64_t>();
  }
  EXPECT_EQ(json["violations"], sum);
  EXPECT_EQ(sum, 1U);
  EXPECT_EQ(json["fetches"], 4);
  EXPECT_EQ(json["offences"].size(), 1U);
}

}  // namespace
}  // namespace portolan::sim
