#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "io/rng.h"

namespace portolan::sim {
namespace {

constexpr int64_t kNow = 1'790'000'000'000'000'000;

std::unique_ptr<World> Make(std::string_view profile, uint64_t seed = 1) {
  auto params = LoadProfile(profile);
  EXPECT_TRUE(params);
  auto world = World::Create(*params, seed);
  EXPECT_TRUE(world);
  return std::move(*world);
}

Request Get(const World& world, const Place& place, const std::string& url, const std::string& name) {
  Request request;
  request.host = name;
  request.path_and_query = std::string_view(url).substr(world.Origin(place.host).size());
  request.tls = world.HostIsTls(place.host);
  request.unix_ns = kNow;
  return request;
}

Answer Ask(const World& world, const Place& place, uint32_t earlier = 9) {
  const std::string url = world.UrlOf(place);
  const std::string name = world.HostName(place.host);
  Request request = Get(world, place, url, name);
  request.earlier = earlier;
  return world.Respond(request);
}

uint64_t HashOf(const Answer& answer) {
  uint64_t hash = Hash64(answer.body, static_cast<uint64_t>(answer.status));
  for (const auto& [name, value] : answer.headers) hash = Hash64(name + ": " + value, hash);
  return Mix64(hash + static_cast<uint64_t>(answer.fault) + static_cast<uint64_t>(answer.framing) * 100);
}

// Some of every sort of place: pages of each kind, robots.txt, sitemaps, traps and spam.
std::vector<Place> Sample(const World& world, size_t count) {
  std::vector<Place> places;
  Rng rng(7);
  while (places.size() < count) places.push_back(world.FromDense(rng.Below(world.TotalPages())));
  for (size_t i = 0; i < count; i += 4) {
    const HostId host = places[i].host;
    places.push_back({host, PlaceClass::kRobots, 0});
    if (world.Find(world.HostName(host), "/sitemap.xml").place_class == PlaceClass::kSitemap) {
      places.push_back({host, PlaceClass::kSitemap, 0});
    }
  }
  // Walks out of trap entries and into farms.
  std::set<uint64_t> seen;
  for (uint64_t n = 0; n < world.TotalPages() && places.size() < count * 3; n += 7) {
    Place at = world.FromDense(n);
    for (int step = 0; step < 4; ++step) {
      std::vector<Place> odd;
      world.Links(at, kNow, [&](const OutLink& link) {
        if (link.target.place_class != PlaceClass::kPage) odd.push_back(link.target);
      });
      if (odd.empty()) break;
      at = odd[rng.Below(odd.size())];
      places.push_back(at);
    }
  }
  return places;
}

TEST(WorldTest, TheSameSeedGivesTheSameWebInAnotherInstance) {
  const auto a = Make("evil", 5);
  const auto b = Make("evil", 5);
  const auto c = Make("evil", 6);
  size_t different = 0;
  size_t compared = 0;
  for (const Place& place : Sample(*a, 1000)) {
    ASSERT_EQ(a->UrlOf(place), b->UrlOf(place));
    const uint64_t hash = HashOf(Ask(*a, place));
    ASSERT_EQ(hash, HashOf(Ask(*b, place))) << a->UrlOf(place);
    if (place.place_class != PlaceClass::kPage || place.host.host >= c->Hosts(place.host.domain) ||
        place.number >= c->Pages(place.host)) {
      continue;
    }
    ++compared;
    different += hash != HashOf(Ask(*c, place)) ? 1 : 0;
  }
  EXPECT_GT(compared, 100U);
  EXPECT_GT(different * 10, compared * 8);
}

// A change of this number is a change of every recorded world: say so in the changelog.
TEST(WorldTest, GoldenHashOverAllSortsOfPlaces) {
  const auto world = Make("evil", 42);
  std::set<PlaceClass> classes;
  std::set<PageKind> kinds;
  uint64_t hash = 0;
  for (const Place& place : Sample(*world, 4000)) {
    classes.insert(place.place_class);
    if (place.place_class == PlaceClass::kPage) kinds.insert(world->KindOf(place));
    hash = Mix64(hash + Hash64(world->UrlOf(place)) + HashOf(Ask(*world, place)));
  }
  EXPECT_EQ(classes.size(), 8U);
  EXPECT_EQ(kinds.size(), kPageKinds);
  EXPECT_EQ(hash, 4719868146260882069U);
}

TEST(WorldTest, EveryUrlLeadsBackToItsPlace) {
  for (const char* profile : {"small", "demo", "evil", "spam"}) {
    const auto world = Make(profile);
    for (const Place& place : Sample(*world, 3000)) {
      const std::string url = world->UrlOf(place);
      ASSERT_EQ(world->FindUrl(url), place) << url;
      ASSERT_EQ(world->Find(world->HostName(place.host), url.substr(world->Origin(place.host).size())), place) << url;
    }
    for (uint64_t n = 0; n < world->TotalPages(); n += 1 + world->TotalPages() / 5000) {
      const Place place = world->FromDense(n);
      ASSERT_EQ(world->DenseNumber(place.host, place.number), n);
      ASSERT_LT(place.number, world->Pages(place.host));
    }
  }
}

TEST(WorldTest, AnyOtherSpellingIsNothing) {
  const auto world = Make("evil");
  Rng rng(3);
  size_t found = 0;
  for (const Place& place : Sample(*world, 2000)) {
    const std::string name = world->HostName(place.host);
    const std::string path = world->UrlOf(place).substr(world->Origin(place.host).size());
    for (const std::string& other : {path + "x", path + "/", path + "?", "/" + path, path + "0", path.substr(1),
                                     path.substr(0, path.size() - 1)}) {
      const Place there = world->Find(name, other);
      if (there.place_class == PlaceClass::kNothing) continue;
      // Another place that really has this spelling.
      ++found;
      ASSERT_EQ(world->UrlOf(there), world->Origin(there.host) + other);
      ASSERT_FALSE(there == place);
    }
    std::string bent = path;
    bent[rng.Below(bent.size())] = static_cast<char>(rng.Below(256));
    const Place there = world->Find(name, bent);
    if (there.place_class != PlaceClass::kNothing) {
      ASSERT_EQ(world->UrlOf(there), world->Origin(there.host) + bent);
    }
  }
  EXPECT_LT(found, 2000U);
  for (const char* path :
       {"", "/robots.txt2", "/robots-99.txt", "/sitemap-0.xml", "/calendar/2026/13", "/browse?f=pink",
        "/pub/mirror/readme-1.html", "/shop.php?sid=&item=", "/999999999999999999999999", "/-"}) {
    EXPECT_EQ(world->Find(world->HostName({0, 0}), path).place_class, PlaceClass::kNothing) << path;
  }
  for (const char* name :
       {"", "test", ".test", "www.test", "example.com", "www.silver-99999999.test", "a.b.c.d.test"}) {
    EXPECT_FALSE(world->FindHost(name)) << name;
  }
}

TEST(WorldTest, PagesOfEachKindAnswerAsTheirKindSays) {
  const auto world = Make("evil");
  std::map<PageKind, size_t> counts;
  for (uint64_t n = 0; n < world->TotalPages(); n += 3) {
    const Place place = world->FromDense(n);
    const PageKind kind = world->KindOf(place);
    if (++counts[kind] > 100) continue;
    const Answer answer = Ask(*world, place);
    switch (kind) {
      case PageKind::kRedirect:
      case PageKind::kRedirectLoop:
        ASSERT_TRUE(answer.status == 301 || answer.status == 302 || answer.status == 307 || answer.status == 308);
        break;
      case PageKind::kNotFound:
        ASSERT_EQ(answer.status, 404);
        break;
      case PageKind::kGone:
        ASSERT_EQ(answer.status, 410);
        break;
      case PageKind::kForbidden:
        ASSERT_EQ(answer.status, 403);
        break;
      case PageKind::kServerError:
        ASSERT_GE(answer.status, 500);
        break;
      case PageKind::kFlaky: {
        ASSERT_EQ(answer.status, 200);
        const Answer first = Ask(*world, place, 0);
        ASSERT_TRUE(first.status == 429 || first.status == 503);
        break;
      }
      default:
        ASSERT_EQ(answer.status, 200);
        break;
    }
    ASSERT_EQ(answer.fault, world->FaultOf(place));
  }
  EXPECT_EQ(counts.size(), kPageKinds);
}

TEST(WorldTest, RedirectsEndAndLoopsDoNot) {
  const auto world = Make("evil");
  size_t longest = 0;
  size_t loops = 0;
  for (uint64_t n = 0; n < world->TotalPages(); ++n) {
    Place place = world->FromDense(n);
    const PageKind kind = world->KindOf(place);
    if (kind != PageKind::kRedirect && kind != PageKind::kRedirectLoop) continue;
    size_t hops = 0;
    while (hops < 50) {
      const PageKind at = world->KindOf(place);
      if (at != PageKind::kRedirect && at != PageKind::kRedirectLoop) break;
      place = world->RedirectTarget(place);
      ++hops;
    }
    if (kind == PageKind::kRedirectLoop) {
      ++loops;
      ASSERT_EQ(hops, 50U);
    } else {
      ASSERT_LT(hops, 50U);
      longest = std::max(longest, hops);
    }
  }
  EXPECT_GT(loops, 10U);
  EXPECT_GE(longest, 4U);
}

TEST(WorldTest, MirrorsAndDuplicatesShowTheSameBytes) {
  const auto world = Make("evil");
  size_t mirrors = 0;
  for (uint32_t d = 0; d < world->Domains(); ++d) {
    for (uint32_t h = 0; h < world->Hosts(d); ++h) {
      const auto original = world->MirrorOf({d, h});
      if (!original) continue;
      ++mirrors;
      ASSERT_EQ(world->Pages({d, h}), world->Pages(*original));
      for (uint64_t page = 0; page < std::min<uint64_t>(world->Pages(*original), 5); ++page) {
        ASSERT_EQ(Ask(*world, {{d, h}, PlaceClass::kPage, page}).body ==
                      Ask(*world, {*original, PlaceClass::kPage, page}).body,
                  true);
      }
    }
  }
  EXPECT_GT(mirrors, 10U);
  std::map<std::pair<uint32_t, uint32_t>, std::map<uint64_t, int>> bodies;
  size_t duplicates = 0;
  size_t repeated = 0;
  for (uint64_t n = 0; n < world->DenseNumber({40, 0}, 0); ++n) {
    const Place place = world->FromDense(n);
    const PageKind kind = world->KindOf(place);
    if (kind == PageKind::kNormal || kind == PageKind::kDuplicate) {
      const uint64_t hash = Hash64(Ask(*world, place).body);
      const int before = bodies[{place.host.domain, place.host.host}][hash]++;
      duplicates += kind == PageKind::kDuplicate ? 1 : 0;
      repeated += before > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(duplicates, 100U);
  EXPECT_EQ(repeated, duplicates);
}

TEST(WorldTest, PagesChangeAndValidatorsTellIt) {
  const auto world = Make("demo");
  constexpr int64_t kDay = 86'400'000'000'000;
  size_t changes = 0;
  size_t not_modified = 0;
  for (uint64_t n = 0; n < 200; ++n) {
    const Place place = world->FromDense(n * 7);
    if (world->KindOf(place) != PageKind::kNormal) continue;
    const std::string url = world->UrlOf(place);
    const std::string name = world->HostName(place.host);
    Request request = Get(*world, place, url, name);
    uint64_t version = world->Version(place, kNow);
    Answer answer = world->Respond(request);
    for (int day = 1; day <= 40; ++day) {
      request.unix_ns = kNow + day * kDay;
      std::string etag;
      std::string modified;
      for (const auto& [key, value] : answer.headers) {
        if (key == "ETag") etag = value;
        if (key == "Last-Modified") modified = value;
      }
      const uint64_t now = world->Version(place, request.unix_ns);
      ASSERT_GE(now, version);
      ASSERT_LE(world->LastChange(place, request.unix_ns), request.unix_ns);
      ((day & 1) != 0 ? request.if_none_match : request.if_modified_since) = (day & 1) != 0 ? etag : modified;
      const Answer next = world->Respond(request);
      request.if_none_match = request.if_modified_since = {};
      ASSERT_EQ(next.status == 304, now == version && !etag.empty()) << url << " day " << day;
      if (next.status == 304) {
        ++not_modified;
        ASSERT_TRUE(next.body.empty());
        ASSERT_EQ(world->Respond(request).body == answer.body, true);
      } else {
        if (now != version) {
          ++changes;
          ASSERT_EQ(next.body == answer.body, false);
        }
        answer = next;
      }
      version = now;
    }
  }
  // 200 pages of 40 days at one change in 30 days, less the heterogeneity that clusters them.
  EXPECT_GT(changes, 100U);
  EXPECT_GT(not_modified, 1000U);
}

TEST(WorldTest, AddressesAreLoopbackOrALie) {
  const auto world = Make("evil");
  std::map<uint32_t, size_t> hosts_on;
  size_t dead = 0;
  size_t many = 0;
  size_t six = 0;
  for (uint32_t d = 0; d < world->Domains(); ++d) {
    for (uint32_t h = 0; h < world->Hosts(d); ++h) {
      const DnsAnswer answer = world->Resolve(world->HostName({d, h}));
      many += answer.v4.size() > 1 ? 1 : 0;
      six += answer.v6.empty() ? 0 : 1;
      bool good = !answer.v6.empty();
      for (const uint32_t address : answer.v4) {
        ++hosts_on[address];
        good |= address >> 24 == 127;
      }
      ASSERT_EQ(good, world->DnsWorks({d, h}));
      dead += good ? 0 : 1;
    }
  }
  size_t most = 0;
  for (const auto& [address, hosts] : hosts_on) most = std::max(most, hosts);
  EXPECT_GT(most, 200U);
  EXPECT_GT(dead, 10U);
  EXPECT_GT(many, 10U);
  EXPECT_GT(six, 10U);
  EXPECT_EQ(world->Resolve("www.example.com").fault, DnsFault::kNotFound);
}

TEST(WorldTest, AWildcardFarmHasEveryHostName) {
  const auto world = Make("spam");
  uint32_t farm = world->Domains();
  while (world->Hosts(farm) != 0) ++farm;
  const std::string name = world->HostName({farm, 1234});
  const std::string domain = name.substr(name.find('.') + 1);
  EXPECT_EQ(world->FindHost(name), (HostId{farm, 1234}));
  const auto any = world->FindHost("any.thing." + domain);
  ASSERT_TRUE(any);
  EXPECT_EQ(any->domain, farm);
  EXPECT_EQ(world->Resolve("more-of-it." + domain).v4.size(), 1U);
  EXPECT_EQ(world->FindUrl("http://any.thing." + domain + "/").place_class, PlaceClass::kSpam);
  size_t links = 0;
  world->Links({{farm, 1234}, PlaceClass::kSpam, 0}, kNow, [&](const OutLink&) { ++links; });
  EXPECT_EQ(links, world->params().spam_links);
}

TEST(WorldTest, PortsStandInUrlsUnlessTheyAreTheDefault) {
  WorldParams params = *LoadProfile("evil");
  params.http_port = 8080;
  params.https_port = 8443;
  const auto world = World::Create(params, 1);
  ASSERT_TRUE(world);
  for (uint32_t d = 0; d < 100; ++d) {
    const std::string origin = (*world)->Origin({d, 0});
    EXPECT_TRUE(origin.ends_with((*world)->HostIsTls({d, 0}) ? ".test:8443" : ".test:8080")) << origin;
    EXPECT_EQ((*world)->FindUrl(origin + "/"), (Place{{d, 0}, PlaceClass::kPage, 0}));
    EXPECT_TRUE((*world)->HostName({d, 0}).ends_with(".test"));
  }
}

TEST(WorldTest, ImpossibleParametersAreRefused) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"domains", "0"}, {"hosts_alpha", "0.5"}, {"address_first", "167772161"}, {"giants", "9"}, {"pages", "0"}}) {
    WorldParams params;
    ASSERT_TRUE(SetParam(params, key, value));
    EXPECT_FALSE(World::Create(params, 1)) << key;
  }
}

}  // namespace
}  // namespace portolan::sim
