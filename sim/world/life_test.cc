#include "sim/world/life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sim/world/reach.h"
#include "sim/world/web.h"
#include "sim/world/world.h"

namespace portolan::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

std::unique_ptr<World> Make(std::initializer_list<const char*> settings, std::string_view profile = "small") {
  WorldParams params = *LoadProfile(profile);
  params.sitemaps = 1;
  params.validators = 1;
  for (const char* setting : settings) EXPECT_TRUE(SetParam(params, setting)) << setting;
  return World::Create(params, 1).value();
}

int64_t Epoch(const World& world) { return static_cast<int64_t>(world.params().epoch_s) * kSecond; }

struct Asked {
  int status = 0;
  std::string etag, modified, cache, body;
};

Asked Ask(const World& world, const Place& place, int64_t unix_ns, const Asked* last = nullptr) {
  const std::string url = world.UrlOf(place);
  const std::string name = world.HostName(place.host);
  Request request;
  request.host = name;
  request.path_and_query = std::string_view(url).substr(world.Origin(place.host).size());
  request.tls = world.HostIsTls(place.host);
  request.unix_ns = unix_ns;
  if (last != nullptr) {
    request.if_none_match = last->etag;
    request.if_modified_since = last->modified;
  }
  Answer answer = world.Respond(request);
  Asked asked{.status = answer.status, .body = std::move(answer.body)};
  for (auto& [name_of, value] : answer.headers) {
    if (name_of == "ETag") asked.etag = value;
    if (name_of == "Last-Modified") asked.modified = value;
    if (name_of == "Cache-Control") asked.cache = value;
  }
  return asked;
}

std::string SitemapOf(const World& world, HostId host, int64_t unix_ns) {
  return Ask(world, {host, PlaceClass::kSitemap, 0}, unix_ns).body;
}

// Everything that a world of today's profiles shows, as a number. A change of it changes every recorded crawl.
TEST(LifeTest, WorldsWithoutLifeStayAsTheyWere) {
  const auto number_of = [](std::string_view profile) {
    const auto world = World::Create(*LoadProfile(profile), 1).value();
    uint64_t hash = 0;
    const auto look = [&](const Place& place, int64_t unix_ns) {
      if (world->IsBomb(place)) return;
      const Asked asked = Ask(*world, place, unix_ns);
      for (const std::string* text : {&asked.body, &asked.etag, &asked.modified, &asked.cache}) {
        hash = Mix64(hash ^ Hash64(*text, static_cast<uint64_t>(asked.status)));
      }
      hash = Mix64(hash + world->Version(place, unix_ns) + static_cast<uint64_t>(world->LastChange(place, unix_ns)));
      world->Links(place, unix_ns,
                   [&](const OutLink& link) { hash = Mix64(hash ^ Hash64(link.url) ^ (link.nofollow ? 1 : 0)); });
    };
    for (const int64_t days : {3, 95}) {
      const int64_t at = Epoch(*world) + days * kDay;
      const uint64_t step = 1 + world->TotalPages() / 300;
      for (uint64_t page = 0; page < world->TotalPages(); page += step) look(world->FromDense(page), at);
      for (uint32_t d = 0; d < world->Domains() && d < 30; ++d) {
        for (const uint64_t part : {0, 1}) look({{d, 0}, PlaceClass::kSitemap, part}, at);
      }
    }
    return hash;
  };
  EXPECT_EQ(number_of("small"), 13193091975937878501U);
  EXPECT_EQ(number_of("demo"), 7299112685628132094U);
  EXPECT_EQ(number_of("evil"), 12541947304819602633U);
}

TEST(LifeTest, PagesAreBornOneAfterTheOther) {
  const auto world = Make({"pages=2000", "born=0.4", "born_days=20"});
  const Life& life = world->web().life;
  const Atlas& atlas = world->web().atlas;
  for (uint32_t hid = 0; hid < atlas.hosts(); ++hid) {
    const uint32_t content = atlas.facts(hid).content;
    const uint64_t first = life.FirstNewborn(content);
    ASSERT_GE(first, 1U);
    ASSERT_GT(kPageBranch * first + 1, atlas.Pages(content) - 1) << "no newborn page has children";
    EXPECT_EQ(life.Born(content, Epoch(*world)), first);
    EXPECT_EQ(life.Born(content, Epoch(*world) + 20 * kDay), atlas.Pages(content));
    for (uint64_t page = first; page < atlas.Pages(content); ++page) {
      const int64_t birth = life.BirthNs(content, page);
      ASSERT_LE(life.Born(content, birth - 1), page);
      ASSERT_GT(life.Born(content, birth), page);
      ASSERT_GE(birth, page > first ? life.BirthNs(content, page - 1) : 0);
    }
  }
}

TEST(LifeTest, ANewbornPageIsLinkedAndListedFromItsBirthAndNoLinkLeadsToAnUnbornOne) {
  const auto world = Make({"pages=2000", "born=0.4", "born_days=20"});
  const int64_t now = Epoch(*world) + 10 * kDay;
  uint64_t unborn = 0;
  uint64_t newborn = 0;
  for (uint64_t n = 0; n < world->TotalPages(); ++n) {
    const Place place = world->FromDense(n);
    const PageState state = world->StateOf(place, now);
    unborn += state == PageState::kUnborn ? 1 : 0;
    if (state == PageState::kUnborn) {
      EXPECT_EQ(Ask(*world, place, now).status, 404);
    }
    world->Links(place, now, [&](const OutLink& link) {
      EXPECT_NE(world->StateOf(link.target, now), PageState::kUnborn) << link.url;
    });
    if (state != PageState::kAlive || world->BirthNs(place) <= Epoch(*world)) continue;
    ++newborn;
    if (n % 37 != 0 || world->KindOf(place) != PageKind::kNormal) continue;
    const int64_t birth = world->BirthNs(place);
    const Place parent{place.host, PlaceClass::kPage, (place.number - 1) / kPageBranch};
    const Place home{place.host, PlaceClass::kPage, 0};
    for (const Place& hub : {parent, home}) {
      const auto names = [&](int64_t at) {
        bool found = false;
        world->Links(hub, at, [&](const OutLink& link) { found |= link.target == place; });
        return found;
      };
      EXPECT_FALSE(names(birth - 1));
      EXPECT_TRUE(names(birth));
      EXPECT_NE(world->Version(hub, birth - 1), world->Version(hub, birth)) << "the hub has changed";
      EXPECT_EQ(world->LastChange(hub, birth), birth);
    }
    const Asked before = Ask(*world, home, birth - 1);
    EXPECT_EQ(Ask(*world, home, birth, &before).status, 200);
    const std::string path = world->UrlOf(place).substr(world->Origin(place.host).size());
    if (path.find('&') != std::string::npos ||
        SitemapOf(*world, place.host, now).find(path + "</loc>") == std::string::npos) {
      continue;  // in a section that sitemaps leave out
    }
    EXPECT_THAT(SitemapOf(*world, place.host, birth - 1), Not(HasSubstr(path + "</loc>")));
  }
  EXPECT_GT(unborn, 200U);
  EXPECT_GT(newborn, 200U);
  EXPECT_EQ(Enumerate(*world, {.unix_ns = now, .obey_robots = false}).count, world->TotalPages() - unborn);
}

TEST(LifeTest, DeadPagesAre404Or410AndStayLinked) {
  const auto world = Make({"pages=2000", "dying=0.5", "life_days=10"});
  const int64_t now = Epoch(*world) + 20 * kDay;
  std::set<int> statuses;
  uint64_t dead = 0;
  for (uint64_t n = 0; n < world->TotalPages(); ++n) {
    const Place place = world->FromDense(n);
    if (world->StateOf(place, now) != PageState::kDead) continue;
    ++dead;
    const int64_t death = world->DeathNs(place);
    ASSERT_LE(death, now);
    EXPECT_EQ(Ask(*world, place, death - 1).status, 200);
    const Asked last = Ask(*world, place, death - 1);
    statuses.insert(Ask(*world, place, death, &last).status);
    bool links = false;
    world->Links(place, death, [&](const OutLink&) { links = true; });
    EXPECT_FALSE(links);
    EXPECT_EQ(world->KindOf(place), PageKind::kNormal);
  }
  EXPECT_GT(dead, 300U);
  EXPECT_EQ(statuses, (std::set<int>{404, 410}));
}

TEST(LifeTest, WhatStandsAroundTheTextChangesBytesAndValidatorsOnly) {
  const auto world = Make({"change_days=0", "boilerplate=1", "boilerplate_days=2"});
  uint64_t changed = 0;
  for (uint64_t n = 0; n < world->TotalPages(); ++n) {
    const Place place = world->FromDense(n);
    const int64_t then = Epoch(*world) + 10 * kDay;
    const int64_t now = Epoch(*world) + 16 * kDay;
    EXPECT_EQ(world->Version(place, then), world->Version(place, now));
    const Asked old = Ask(*world, place, then);
    const Asked next = Ask(*world, place, now, &old);
    const bool same = world->BytesVersion(place, then) == world->BytesVersion(place, now);
    ASSERT_EQ(next.status, same ? 304 : 200);
    if (same) continue;
    ++changed;
    EXPECT_NE(old.body, next.body);
    EXPECT_EQ(old.body.substr(0, old.body.find("<div id=\"footer\"")),
              next.body.substr(0, next.body.find("<div id=\"footer\"")));
  }
  EXPECT_GT(changed, world->TotalPages() / 2);
}

TEST(LifeTest, ServersLieAboutTheirPagesAsToldTo) {
  const auto visit = [](const World& world, uint64_t page, int64_t from, int64_t to) {
    const Place place = world.FromDense(page);
    const Asked first = Ask(world, place, Epoch(world) + from);
    return std::pair(first, Ask(world, place, Epoch(world) + to, &first));
  };
  const auto random_world = Make({"change_days=0", "etag_random=1"});
  const auto now_world = Make({"change_days=0", "modified_now=1"});
  const auto future_world = Make({"change_days=0", "modified_future=1"});
  const auto stuck_world = Make({"change_days=0.01", "stuck_304=1"});
  for (uint64_t page = 0; page < 50; ++page) {
    const auto random = visit(*random_world, page, kDay, kDay + 1000);
    EXPECT_NE(random.first.etag, random.second.etag);
    EXPECT_EQ(random.second.status, 200);
    EXPECT_EQ(random.first.body, random.second.body);
    const auto now = visit(*now_world, page, kDay, 2 * kDay);
    EXPECT_EQ(now.first.etag, "");
    EXPECT_EQ(now.first.modified, "Fri, 02 Jan 2026 00:00:00 GMT");
    EXPECT_EQ(now.second.status, 200);
    const auto future = visit(*future_world, page, kDay, 2 * kDay);
    EXPECT_EQ(future.first.modified, "Sun, 01 Feb 2026 00:00:00 GMT");
    EXPECT_EQ(future.second.status, 200);
    const auto stuck = visit(*stuck_world, page, kDay, 20 * kDay);
    EXPECT_EQ(stuck.first.status, 200);
    EXPECT_NE(stuck.first.etag, "");
    EXPECT_EQ(stuck.second.status, 304) << "though it has changed";
  }
  const auto unasked = Make({"unasked_304=0.5"});
  uint64_t silent = 0;
  for (uint64_t n = 0; n < unasked->TotalPages(); ++n) {
    const Place place = unasked->FromDense(n);
    const Asked asked = Ask(*unasked, place, Epoch(*unasked) + kDay);
    EXPECT_EQ(asked.status, unasked->AnswersUnasked(place) ? 304 : 200);
    silent += asked.status == 304 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(silent), 0.5 * static_cast<double>(unasked->TotalPages()), 30);
}

TEST(LifeTest, SitemapsSayWhatTheyAreToldTo) {
  const HostId host{0, 0};
  const int64_t now = 1767225600 * kSecond + 40 * kDay + 3'723 * kSecond;
  const std::string plain = SitemapOf(*Make({}), host, now);
  EXPECT_THAT(plain, HasSubstr("</loc><lastmod>2026-"));
  EXPECT_THAT(plain, Not(HasSubstr("changefreq")));
  EXPECT_THAT(SitemapOf(*Make({"lastmod_absent=1"}), host, now), Not(HasSubstr("lastmod")));
  const std::string lying = SitemapOf(*Make({"lastmod_lying=1", "lastmod_time=1", "changefreq=1"}), host, now);
  EXPECT_THAT(lying, HasSubstr("<lastmod>2026-02-10T01:02:03Z</lastmod><changefreq>always</changefreq>"));
  EXPECT_THAT(lying, Not(HasSubstr("2026-02-09")));
  EXPECT_THAT(SitemapOf(*Make({"changefreq=1", "change_days=1", "change_sigma=0"}), host, now),
              HasSubstr("<changefreq>daily</changefreq>"));
}

TEST(LifeTest, RatesAreLognormalAndImportanceFallsWithTheNumber) {
  const auto world = Make({"pages=5000", "change_days=10", "change_sigma=0"});
  EXPECT_DOUBLE_EQ(world->MeanChangeNs(world->FromDense(77)), 10.0 * static_cast<double>(kDay));
  EXPECT_EQ(
      Ask(*Make({"max_age=1", "change_days=10", "change_sigma=0"}), world->FromDense(1), Epoch(*world) + kDay).cache,
      "max-age=432000");
  const Place home{{0, 0}, PlaceClass::kPage, 0};
  EXPECT_DOUBLE_EQ(world->Importance(home), 1);
  EXPECT_GT(world->Importance(home), world->Importance({{0, 0}, PlaceClass::kPage, 1}));
  EXPECT_GT(world->Importance(home), world->Importance({{1, 0}, PlaceClass::kPage, 0}));
}

}  // namespace
}  // namespace portolan::sim
