// The crawler's own parsers read what the world writes, and find exactly what the world says.

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <memory>
#include <set>

#include "base/ascii.h"
#include "html/charset_decoder.h"
#include "html/charset_sniff.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "http/content_decoder.h"
#include "io/rng.h"
#include "robots/robots_rules.h"
#include "robots/robots_tag.h"
#include "robots/robots_txt.h"
#include "robots/sitemap.h"
#include "sim/world/world.h"

namespace portolan::sim {
namespace {

constexpr int64_t kNow = 1'790'000'000'000'000'000;

std::unique_ptr<World> Make(std::string_view profile, uint64_t seed = 1) {
  auto world = World::Create(*LoadProfile(profile), seed);
  EXPECT_TRUE(world);
  return std::move(*world);
}

Answer Ask(const World& world, const std::string& url, HostId host, std::string_view accept = {}) {
  const std::string name = world.HostName(host);
  Request request;
  request.host = name;
  request.path_and_query = std::string_view(url).substr(world.Origin(host).size());
  request.tls = world.HostIsTls(host);
  request.unix_ns = kNow;
  request.earlier = 9;
  request.accept_encoding = accept;
  return world.Respond(request);
}

// The links of `place` by the crawler's parser and by the world.
void CompareLinks(const World& world, const Place& place, PageReader& reader, PageLinks& found) {
  const std::string url = world.UrlOf(place);
  const Answer answer = Ask(world, url, place.host);
  const Page& page = reader.Read(answer.body);
  Url base;
  ASSERT_EQ(base.Assign(url), UrlStatus::kOk);
  ASSERT_EQ(base.href(), url);
  found.Resolve(page, base, {});
  const bool page_nofollow = world.KindOf(place) == PageKind::kPageNofollow;
  size_t index = 0;
  world.Links(place, kNow, [&](const OutLink& link) {
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_LT(index, found.links.size()) << url << " lacks " << link.url;
    const ResolvedLink& other = found.links[index];
    ASSERT_EQ(found.UrlOf(other), link.url)
        << url << " link " << index << " written " << page.View(page.links[other.source].url);
    ASSERT_EQ((page.links[other.source].rel & kRelNofollow) != 0 || page_nofollow, link.nofollow) << url;
    ASSERT_EQ(world.FindUrl(link.url), link.target) << link.url;
    ++index;
  });
  ASSERT_EQ(index, found.links.size()) << url << " has more: "
                                       << (index < found.links.size() ? found.UrlOf(found.links[index]) : "");
}

TEST(WorldRenderTest, TheCrawlersParserFindsExactlyTheLinks) {
  PageReader reader;
  PageLinks found;
  for (const char* profile : {"small", "demo", "evil", "web2007", "spam"}) {
    const auto world = Make(profile);
    Rng rng(11);
    size_t with_links = 0;
    for (int i = 0; i < 1500 && !testing::Test::HasFatalFailure(); ++i) {
      Place place = world->FromDense(rng.Below(world->TotalPages()));
      if (world->FaultOf(place) != WireFault::kNone || world->IsBomb(place)) continue;
      CompareLinks(*world, place, reader, found);
      with_links += found.links.empty() ? 0 : 1;
      // And a step into whatever trap or farm it leads to.
      for (int step = 0; step < 3; ++step) {
        std::vector<Place> odd;
        world->Links(place, kNow, [&](const OutLink& link) {
          if (link.target.place_class != PlaceClass::kPage) odd.push_back(link.target);
        });
        if (odd.empty()) break;
        place = odd[rng.Below(odd.size())];
        CompareLinks(*world, place, reader, found);
      }
    }
    EXPECT_GT(with_links, 1000U) << profile;
  }
}

// Not cheaper to read than real ones, and as good to pack: 394 pages of the web, in pieces of 25 KB, have 14.6 tags and
// 10 attributes a KiB and shrink 4.4 times.
TEST(WorldRenderTest, PagesAreAsDenseAsRealOnes) {
  const auto world = Make("web2007");
  Rng rng(7);
  double bytes = 0, packed = 0, tags = 0, attributes = 0;
  std::vector<char> room;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> deflate(libdeflate_alloc_compressor(6),
                                                                                         libdeflate_free_compressor);
  for (int i = 0; i < 1000; ++i) {
    const Place place = world->FromDense(rng.Below(world->TotalPages()));
    if (world->KindOf(place) != PageKind::kNormal || world->FaultOf(place) != WireFault::kNone) continue;
    const std::string body = Ask(*world, world->UrlOf(place), place.host).body;
    room.resize(libdeflate_gzip_compress_bound(deflate.get(), body.size()));
    bytes += static_cast<double>(body.size());
    packed += static_cast<double>(
        libdeflate_gzip_compress(deflate.get(), body.data(), body.size(), room.data(), room.size()));
    for (size_t at = 0; at + 1 < body.size(); ++at) {
      if (body[at] == '<' && (IsAlpha(body[at + 1]) || body[at + 1] == '/')) ++tags;
      if (body[at] == '=' && body[at + 1] == '"') ++attributes;
    }
  }
  EXPECT_NEAR(bytes / packed, 4.4, 0.5);
  EXPECT_GT(tags / bytes * 1024, 14.6);
  EXPECT_LT(tags / bytes * 1024, 24);
  EXPECT_NEAR(attributes / bytes * 1024, 10, 3);
}

TEST(WorldRenderTest, BytesAreInTheCharsetThatThePageDeclares) {
  const auto world = Make("evil");
  std::set<std::string> charsets;
  Rng rng(5);
  for (int i = 0; i < 600; ++i) {
    const Place place = world->FromDense(rng.Below(world->TotalPages()));
    if (world->KindOf(place) != PageKind::kNormal) continue;
    const Answer answer = Ask(*world, world->UrlOf(place), place.host);
    std::string label;
    for (const auto& [name, value] : answer.headers) {
      const size_t at = value.find("charset=");
      if (name == "Content-Type" && at != std::string::npos) label = value.substr(at + 8);
    }
    const CharsetDecision decision = SniffCharset(answer.body, label);
    ASSERT_TRUE(decision.source == CharsetSource::kHeader || decision.source == CharsetSource::kMeta);
    const auto meta = PrescanCharset(std::string_view(answer.body).substr(0, kPrescanBytes));
    ASSERT_TRUE(meta);
    ASSERT_EQ(*meta, decision.encoding);
    charsets.insert(std::string(EncodingName(decision.encoding)));
  }
  EXPECT_GE(charsets.size(), 10U);
}

TEST(WorldRenderTest, RobotsFilesSayWhatTheWorldSays) {
  const auto world = Make("evil");
  size_t forbidden = 0;
  size_t checked = 0;
  size_t delays = 0;
  Rng rng(17);
  for (int i = 0; i < 3000; ++i) {
    const Place some = world->FromDense(rng.Below(world->TotalPages()));
    if (!world->RobotsReachable(some.host, kNow)) continue;
    std::string url = world->Origin(some.host) + "/robots.txt";
    Answer answer = Ask(*world, url, some.host);
    for (int hops = 0; hops < 5 && answer.status == 301; ++hops) {
      url = answer.headers.at(0).second;
      answer = Ask(*world, url, some.host);
    }
    ASSERT_TRUE(answer.status == 200 || answer.status == 404) << url;
    for (const std::string_view agent : {"Portolan", "someone", "badbot", "wget"}) {
      const RobotsTxt file = ParseRobots(answer.status == 200 ? answer.body : "", {.agent = agent});
      const auto rules = RobotsRules::Open(file.rules);
      ASSERT_TRUE(rules);
      ASSERT_EQ(file.crawl_delay_ms.value_or(0), world->CrawlDelay(some.host, agent, kNow) * 1000) << url << agent;
      delays += file.crawl_delay_ms ? 1 : 0;
      for (int j = 0; j < 8; ++j) {
        Place place{some.host, PlaceClass::kPage, rng.Below(world->Pages(some.host))};
        if (j >= 6) {
          // Traps of this host, where it has any.
          std::vector<Place> traps;
          world->Links({some.host, PlaceClass::kPage, 0}, kNow, [&](const OutLink& link) {
            if (link.target.place_class > PlaceClass::kSitemap && link.target.host == some.host) {
              traps.push_back(link.target);
            }
          });
          if (!traps.empty()) place = traps[rng.Below(traps.size())];
        }
        const std::string path = world->UrlOf(place).substr(world->Origin(some.host).size());
        ASSERT_EQ(rules->Allows(path), world->Allowed(place, agent, kNow)) << world->UrlOf(place) << " for " << agent;
        ++checked;
        forbidden += world->Allowed(place, agent, kNow) ? 0 : 1;
      }
    }
  }
  EXPECT_GT(checked, 50'000U);
  EXPECT_GT(forbidden, checked / 50);
  EXPECT_GT(delays, 20U);
}

TEST(WorldRenderTest, RobotsTagsStandWhereTheKindSays) {
  const auto world = Make("evil");
  PageReader reader;
  size_t noindex = 0;
  size_t nofollow = 0;
  for (uint64_t n = 0; n < world->TotalPages(); n += 5) {
    const Place place = world->FromDense(n);
    const PageKind kind = world->KindOf(place);
    if (n % 50 != 0 && kind != PageKind::kNoindex && kind != PageKind::kPageNofollow) continue;
    if (kind == PageKind::kFault) continue;
    const Answer answer = Ask(*world, world->UrlOf(place), place.host);
    RobotsTag tag("portolan");
    for (const auto& [name, value] : answer.headers) {
      if (name == "X-Robots-Tag") tag.AddField(value);
    }
    const Page& page = reader.Read(answer.body);
    for (const PageMeta& meta : page.metas) tag.AddMeta(page.View(meta.name), page.View(meta.content));
    ASSERT_EQ(tag.Has(RobotsTag::kNoIndex), kind == PageKind::kNoindex);
    ASSERT_EQ(tag.Has(RobotsTag::kNoFollow), kind == PageKind::kPageNofollow);
    noindex += kind == PageKind::kNoindex ? 1 : 0;
    nofollow += kind == PageKind::kPageNofollow ? 1 : 0;
  }
  EXPECT_GT(noindex, 50U);
  EXPECT_GT(nofollow, 50U);
}

TEST(WorldRenderTest, ContentCodingsAreThoseThatTheClientAccepts) {
  WorldParams params = *LoadProfile("evil");
  params.bomb_bytes = 16 << 20;
  const auto made = World::Create(params, 1);
  ASSERT_TRUE(made);
  const World* const world = made->get();
  std::set<std::string> codings;
  size_t bombs = 0;
  for (uint64_t n = 0; n < world->TotalPages(); ++n) {
    const Place place = world->FromDense(n);
    const bool bomb = world->IsBomb(place) && ++bombs <= 2;
    if (!bomb && (n % 40 != 0 || world->KindOf(place) != PageKind::kNormal)) continue;
    const std::string url = world->UrlOf(place);
    const auto coding_of = [](const Answer& answer) {
      for (const auto& [name, value] : answer.headers) {
        if (name == "Content-Encoding") return value;
      }
      return std::string();
    };
    const Answer plain = Ask(*world, url, place.host, "identity, br;q=0");
    const Answer coded = Ask(*world, url, place.host, "gzip, deflate, br, zstd");
    ASSERT_TRUE(bomb || coding_of(plain).empty());
    const std::string coding = coding_of(coded);
    ASSERT_TRUE(coding_of(Ask(*world, url, place.host, "gzip")) == (coding.empty() ? "" : "gzip"));
    codings.insert(coding);
    std::string decoded;
    if (bomb) {
      EXPECT_LT(coded.body.size() * 500, world->params().bomb_bytes);
      ContentDecoder patient(CodingStack::Parse(coding), {.max_output = uint64_t{1} << 40, .max_ratio = 1e9});
      decoded.clear();
      patient.Feed(coded.body, decoded);
      EXPECT_EQ(patient.Finish(decoded), DecodeOutcome::kWhole);
      EXPECT_EQ(decoded.size(), world->params().bomb_bytes);
    } else {
      ContentDecoder decoder(CodingStack::Parse(coding), {});
      decoder.Feed(coded.body, decoded);
      decoder.Finish(decoded);
      ASSERT_EQ(decoded == plain.body, true) << url << coding;
    }
  }
  EXPECT_EQ(codings.size(), 5U);
  EXPECT_GT(bombs, 1U);
}

TEST(WorldRenderTest, SitemapsListPagesOfTheHost) {
  const auto world = Make("web2026");
  size_t indexes = 0;
  size_t pages = 0;
  for (uint32_t d = 0; d < 60; ++d) {
    const HostId host{d, 0};
    std::vector<std::string> files = {world->Origin(host) + "/sitemap.xml"};
    if (world->FindUrl(files[0]).place_class != PlaceClass::kSitemap) continue;
    for (size_t i = 0; i < files.size() && i < 5; ++i) {
      const Answer answer = Ask(*world, files[i], host);
      ASSERT_EQ(answer.status, 200);
      SitemapParser parser({}, [&](SitemapEntry& entry) {
        const Place place = world->FindUrl(entry.url);
        if (entry.role == SitemapEntry::Role::kSitemap) {
          ++indexes;
          EXPECT_EQ(place.place_class, PlaceClass::kSitemap) << entry.url;
          files.push_back(entry.url);
        } else {
          ++pages;
          EXPECT_EQ(place.place_class, PlaceClass::kPage) << entry.url;
        }
        EXPECT_EQ(place.host, host);
        return true;
      });
      parser.Feed(answer.body);
      EXPECT_EQ(parser.Finish(), SitemapOutcome::kWhole) << files[i];
    }
  }
  EXPECT_GT(indexes, 5U);
  EXPECT_GT(pages, 1000U);
}

}  // namespace
}  // namespace portolan::sim
