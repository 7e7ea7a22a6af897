#include "sim/server/world_site.h"

#include <gtest/gtest.h>

#include <string>

#include "io/clock.h"
#include "io/rng.h"

namespace portolan::sim {
namespace {

TEST(WorldSiteTest, CachedAnswersAreTheWorldsOwn) {
  auto params = LoadProfile("evil");
  ASSERT_TRUE(params.has_value()) << params.error().ToString();
  params->domains = 30;
  params->pages = 600;
  const auto world = World::Create(*params, 3);
  ASSERT_TRUE(world.has_value()) << world.error().ToString();
  constexpr size_t kCacheBytes = 2 << 20;
  const WorldSite site(**world, kCacheBytes);
  Rng rng(1);
  int64_t now = static_cast<int64_t>((*world)->params().epoch_s) * kSecond;
  for (int i = 0; i < 5000; ++i) {
    if (i % 100 == 0) now += static_cast<int64_t>(rng.Below(20 * 86400)) * kSecond;  // pages change meanwhile
    const Place place = (*world)->FromDense(rng.Below((*world)->TotalPages()));
    const std::string host = (*world)->HostName(place.host);
    const std::string url = (*world)->UrlOf(place);
    const std::string path = url.substr(url.find('/', url.find("://") + 3));
    Request request = {.host = host, .path_and_query = path, .unix_ns = now};
    request.tls = (*world)->HostIsTls(place.host) != (rng.Below(8) == 0);
    if (rng.Below(2) == 0) request.accept_encoding = "gzip, br";
    if (rng.Below(8) == 0) request.method = "HEAD";
    request.earlier = static_cast<uint32_t>(rng.Below(3));
    const Answer expected = (*world)->Respond(request);
    const SharedAnswer shared = site.RespondShared(request);
    Answer got = shared.answer;
    if (shared.body) got.body = *shared.body;
    ASSERT_EQ(got.status, expected.status) << url;
    ASSERT_EQ(got.headers, expected.headers) << url;
    ASSERT_EQ(got.body, expected.body) << url;
    ASSERT_EQ(got.fault, expected.fault) << url;
    ASSERT_EQ(got.framing, expected.framing) << url;
    ASSERT_LE(site.cached_bytes(), kCacheBytes);
  }
  EXPECT_GT(site.cached_bytes(), kCacheBytes / 2);
}

}  // namespace
}  // namespace portolan::sim
