#include "sim/virtual/virtual_web.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "flow/url_record.h"
#include "robots/robots_rules.h"
#include "robots/robots_tag.h"

namespace portolan::sim {
namespace {

struct Collector : FetchEvents {
  void OnPage(PageResult&& result) override { pages.push_back(std::move(result)); }
  void OnResolved(Resolution&& resolution) override { resolutions.push_back(std::move(resolution)); }
  void OnResponse(FetchResponse&& response) override { responses.push_back(std::move(response)); }
  std::vector<PageResult> pages;
  std::vector<Resolution> resolutions;
  std::vector<FetchResponse> responses;
};

WorldParams RoughParams() {
  WorldParams params = *LoadProfile("small");
  params.domains = 30;
  params.pages = 1500;
  params.robots_rules = 0.5;
  params.robots_error = 0.2;
  params.redirect = params.not_found = params.gone = params.forbidden = params.server_error = params.flaky = 0.02;
  params.noindex = params.page_nofollow = params.soft404 = params.duplicate = 0.02;
  params.fault_reset = params.fault_close_early = params.fault_garbage = params.fault_tarpit = 0.01;
  params.dns_not_found = params.dns_servfail = params.dns_silent = params.dns_private = 0.05;
  params.https = 0.5;
  params.bad_certificate = 0.1;
  params.mirrors = 0.1;
  params.change_days = 0;
  return params;
}

class VirtualWebTest : public testing::Test {
 protected:
  static constexpr int64_t kStart = int64_t{1'767'400'000} * kSecond;

  Address AddressOf(HostId host) {
    const DnsAnswer answer = world_->Resolve(world_->HostName(host));
    return answer.v4.empty() ? *Address::Parse("::1") : Address::V4(answer.v4.front());
  }
  FetchTask TaskOf(const Place& place, UrlKind kind = UrlKind::kPage) {
    const std::string url = world_->UrlOf(place);
    return {.id = ++id_,
            .kind = kind,
            .url = url,
            .address = AddressOf(place.host),
            .host = HostKey(url, HashKey::Known())};
  }
  PageResult FetchOne(FetchTask task) {
    VirtualWeb web(*world_, time_, collector_, nullptr, {});
    web.Fetch(std::move(task));
    EXPECT_TRUE(collector_.pages.empty());  // never from inside Fetch
    while (time_.Step()) {
    }
    EXPECT_EQ(collector_.pages.size(), 1U);
    PageResult result = std::move(collector_.pages.back());
    collector_.pages.clear();
    return result;
  }
  FetchResponse RenderOne(FetchTask task) {
    VirtualWeb web(*world_, time_, collector_, nullptr, {.render = true});
    web.Fetch(std::move(task));
    while (time_.Step()) {
    }
    FetchResponse response = std::move(collector_.responses.back());
    collector_.responses.clear();
    return response;
  }
  std::vector<HostId> Hosts() {
    std::vector<HostId> hosts;
    for (uint32_t domain = 0; domain < world_->Domains(); ++domain) {
      for (uint32_t host = 0; host < world_->Hosts(domain); ++host) hosts.push_back({domain, host});
    }
    return hosts;
  }

  std::unique_ptr<World> world_ = *World::Create(RoughParams(), 21);
  VirtualTime time_{kStart};
  Collector collector_;
  uint64_t id_ = 0;
};

TEST_F(VirtualWebTest, ResultsAreTheWorldsTruth) {
  std::map<PageKind, int> kinds;
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    if (!world_->DnsWorks(place.host)) continue;
    const PageKind kind = world_->KindOf(place);
    const PageResult result = FetchOne(TaskOf(place));
    if (!world_->TlsWorks(place.host)) {
      EXPECT_EQ(result.outcome, FetchOutcome::kTlsCertificate);
      continue;
    }
    ++kinds[kind];
    switch (kind) {
      case PageKind::kRedirect:
        ASSERT_EQ(result.links.links.size(), 1U);
        EXPECT_EQ(result.links.UrlOf(result.links.links[0]), world_->UrlOf(world_->RedirectTarget(place)));
        EXPECT_EQ(result.links.links[0].flags, kFoundRedirect);
        break;
      case PageKind::kNotFound:
        EXPECT_EQ(result.status, 404);
        break;
      case PageKind::kFlaky:
        EXPECT_TRUE(result.status == 503 || result.status == 429) << result.status;
        break;
      case PageKind::kNoindex:
        EXPECT_EQ(result.robots_flags, RobotsTag::kNoIndex);
        break;
      case PageKind::kFault:
        EXPECT_FALSE(result.outcome == FetchOutcome::kAnswered && world_->FaultOf(place) == WireFault::kReset);
        break;
      case PageKind::kNormal: {
        EXPECT_EQ(result.status, 200);
        std::vector<std::string> expected;
        std::set<std::string> once;
        world_->Links(place, result.times.begin_unix_ns, [&](const OutLink& link) {
          if (once.insert(std::string(link.url)).second) expected.emplace_back(link.url);
        });
        std::vector<std::string> found;
        for (const FoundLink& link : result.links.links) {
          found.emplace_back(result.links.UrlOf(link));
          EXPECT_EQ(link.hash, Hash64(found.back()));
          EXPECT_EQ(link.host_hash, HostKey(found.back(), HashKey::Known()));
        }
        EXPECT_EQ(found, expected);
        break;
      }
      default:
        break;
    }
  }
  EXPECT_GE(kinds.size(), 10U);
}

TEST_F(VirtualWebTest, BothModesTellTheSame) {
  int compared = 0;
  for (uint64_t page = 0; page < world_->TotalPages(); page += 3) {
    const Place place = world_->FromDense(page);
    if (!world_->DnsWorks(place.host)) continue;
    const FetchTask task = TaskOf(place);
    const PageResult result = FetchOne(task);
    const FetchResponse response = RenderOne(task);
    EXPECT_EQ(result.outcome, response.outcome) << task.url;
    EXPECT_EQ(result.status, response.status) << task.url;
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

TEST_F(VirtualWebTest, RobotsRulesSayWhatTheWorldMeans) {
  int forbidden = 0;
  int unreachable = 0;
  for (const HostId host : Hosts()) {
    if (!world_->DnsWorks(host) || !world_->TlsWorks(host)) continue;
    const PageResult result = FetchOne(TaskOf({.host = host, .place_class = PlaceClass::kRobots}, UrlKind::kRobots));
    ASSERT_TRUE(result.robots.has_value());
    if (!world_->RobotsReachable(host, kStart)) {
      EXPECT_EQ(result.robots->kind, RobotsAnswer::Kind::kDisallowAll);
      ++unreachable;
      continue;
    }
    if (result.robots->kind != RobotsAnswer::Kind::kRules) continue;
    const auto rules = RobotsRules::Open(result.robots->rules);
    ASSERT_TRUE(rules.has_value());
    for (uint64_t page = 0; page < world_->Pages(host); ++page) {
      const Place place{.host = host, .place_class = PlaceClass::kPage, .number = page};
      const bool allowed = world_->Allowed(place, "portolan", result.times.begin_unix_ns);
      EXPECT_EQ(rules->Allows(PathAndQueryOf(world_->UrlOf(place))), allowed) << world_->UrlOf(place);
      forbidden += allowed ? 0 : 1;
    }
  }
  EXPECT_GT(forbidden, 0);
  EXPECT_GT(unreachable, 0);
}

TEST_F(VirtualWebTest, DnsIsAsTheWorldHasIt) {
  std::map<FetchOutcome, int> outcomes;
  for (const HostId host : Hosts()) {
    VirtualWeb web(*world_, time_, collector_, nullptr, {});
    const std::string name = world_->HostName(host);
    web.Resolve({.host = Hash64(name), .name = name});
    EXPECT_TRUE(collector_.resolutions.empty());
    while (time_.Step()) {
    }
    ASSERT_EQ(collector_.resolutions.size(), 1U);
    const Resolution resolution = std::move(collector_.resolutions.back());
    collector_.resolutions.clear();
    EXPECT_EQ(resolution.host, Hash64(name));
    EXPECT_EQ(resolution.outcome == FetchOutcome::kAnswered, world_->DnsWorks(host)) << name;
    EXPECT_EQ(resolution.addresses.empty(), resolution.outcome != FetchOutcome::kAnswered);
    ++outcomes[resolution.outcome];
  }
  EXPECT_GE(outcomes.size(), 4U);
}

TEST_F(VirtualWebTest, WrongAddressIsRefused) {
  const Place home{.host = {0, 0}, .place_class = PlaceClass::kPage, .number = 0};
  FetchTask task = TaskOf(home);
  EXPECT_EQ(FetchOne(task).outcome, FetchOutcome::kAnswered);
  task.address = Address::V4(0x7f636363);
  VirtualWeb web(*world_, time_, collector_, nullptr, {});
  web.Fetch(FetchTask(task));
  task.address = Address();
  web.Fetch(FetchTask(task));
  task = TaskOf(home);
  task.url = "http://nobody.test/";
  web.Fetch(FetchTask(task));
  while (time_.Step()) {
  }
  ASSERT_EQ(collector_.pages.size(), 3U);
  for (const PageResult& result : collector_.pages) EXPECT_EQ(result.outcome, FetchOutcome::kConnectRefused);
  EXPECT_EQ(web.counts().wrong_address, 3U);
}

TEST_F(VirtualWebTest, FlakyPagesGetWell) {
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    if (world_->KindOf(place) != PageKind::kFlaky || !world_->DnsWorks(place.host) || !world_->TlsWorks(place.host)) {
      continue;
    }
    VirtualWeb web(*world_, time_, collector_, nullptr, {});
    for (int i = 0; i < 5; ++i) {
      web.Fetch(TaskOf(place));
      while (time_.Step()) {
      }
    }
    EXPECT_NE(collector_.pages.front().status, 200);
    EXPECT_EQ(collector_.pages.back().status, 200);
    EXPECT_FALSE(collector_.pages.back().links.links.empty());
    return;
  }
  FAIL() << "no flaky page";
}

TEST_F(VirtualWebTest, MirrorsShareFingerprints) {
  for (const HostId host : Hosts()) {
    const auto original = world_->MirrorOf(host);
    if (!original || !world_->DnsWorks(host) || !world_->TlsWorks(host)) continue;
    const PageResult mine = FetchOne(TaskOf({.host = host, .place_class = PlaceClass::kPage}));
    const PageResult theirs = FetchOne(TaskOf({.host = *original, .place_class = PlaceClass::kPage}));
    EXPECT_NE(mine.fingerprint, 0U);
    EXPECT_EQ(mine.fingerprint, theirs.fingerprint);
    return;
  }
  FAIL() << "no mirror";
}

TEST_F(VirtualWebTest, SameBytesHaveTheSameFingerprint) {
  std::map<uint64_t, std::string> bodies;
  std::set<std::string> different;
  int shared = 0;
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    const PageKind kind = world_->KindOf(place);
    if (!world_->DnsWorks(place.host) || !world_->TlsWorks(place.host)) continue;
    if (kind != PageKind::kNormal && kind != PageKind::kDuplicate) continue;
    const FetchTask task = TaskOf(place);
    const uint64_t fingerprint = FetchOne(task).fingerprint;
    Request request;
    request.host = HostOf(task.url);
    request.path_and_query = PathAndQueryOf(task.url);
    request.tls = world_->HostIsTls(place.host);
    request.unix_ns = kStart;
    const std::string body = world_->Respond(request).body;
    const auto [entry, is_new] = bodies.try_emplace(fingerprint, body);
    if (!is_new) {
      ++shared;
      EXPECT_EQ(entry->second, body) << task.url;
    } else {
      EXPECT_TRUE(different.insert(body).second) << task.url;
    }
  }
  EXPECT_GT(shared, 5);
}

}  // namespace
}  // namespace portolan::sim
