#include "sim/world/reach.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <unordered_set>

namespace portolan::sim {
namespace {

constexpr int64_t kNow = 1'790'000'000'000'000'000;

std::unique_ptr<World> Make(std::string_view profile, uint64_t seed = 1) {
  auto world = World::Create(*LoadProfile(profile), seed);
  EXPECT_TRUE(world);
  return std::move(*world);
}

bool MayBeFetched(const World& world, const Place& place, const ReachOptions& options) {
  return world.DnsWorks(place.host) && world.TlsWorks(place.host) &&
         (!options.obey_robots || world.Allowed(place, options.agent, options.unix_ns));
}

// By World's public face, with a set and a queue.
std::unordered_set<uint64_t> SimpleSearch(const World& world, const ReachOptions& options) {
  std::unordered_set<uint64_t> seen;
  std::vector<Place> queue;
  const auto add = [&](const Place& place) {
    if (place.place_class != PlaceClass::kPage || !MayBeFetched(world, place, options)) return;
    if (seen.insert(world.DenseNumber(place.host, place.number)).second) queue.push_back(place);
  };
  for (const std::string& url : world.Seeds()) add(world.FindUrl(url));
  while (!queue.empty()) {
    const Place place = queue.back();
    queue.pop_back();
    const PageKind kind = world.KindOf(place);
    if (kind == PageKind::kRedirect || kind == PageKind::kRedirectLoop) add(world.RedirectTarget(place));
    world.Links(place, options.unix_ns, [&](const OutLink& link) {
      if (!link.nofollow || options.follow_nofollow) add(link.target);
    });
  }
  return seen;
}

TEST(ReachTest, EnumerationFindsWhatASimpleSearchFinds) {
  for (const char* profile : {"small", "evil"}) {
    WorldParams params = *LoadProfile(profile);
    params.pages /= 10;
    params.domains = 1 + params.domains / 5;
    const auto made = World::Create(params, 1);
    ASSERT_TRUE(made);
    const World* const world = made->get();
    for (const bool obey : {true, false}) {
      for (const bool nofollow : {true, false}) {
        const ReachOptions options{.unix_ns = kNow, .obey_robots = obey, .follow_nofollow = nofollow};
        const Reach reach = Enumerate(*world, options);
        const std::unordered_set<uint64_t> simple = SimpleSearch(*world, options);
        ASSERT_EQ(reach.count, simple.size()) << profile;
        for (const uint64_t dense : simple) ASSERT_TRUE(reach.Has(dense));
        uint64_t by_kind = 0;
        for (const uint64_t count : reach.by_kind) by_kind += count;
        EXPECT_EQ(by_kind, reach.count);
      }
    }
  }
}

TEST(ReachTest, EverythingThatMayBeFetchedIsReached) {
  for (const char* profile : {"small", "demo", "evil", "web2007"}) {
    const auto world = Make(profile, 3);
    const ReachOptions options{.unix_ns = kNow};
    const Reach reach = Enumerate(*world, options);
    uint64_t allowed = 0;
    for (uint64_t n = 0; n < world->TotalPages(); ++n) {
      const bool may = MayBeFetched(*world, world->FromDense(n), options);
      ASSERT_EQ(reach.Has(n), may) << profile << " " << world->UrlOf(world->FromDense(n));
      allowed += may ? 1 : 0;
    }
    EXPECT_EQ(reach.count, allowed);
    std::printf("%-10s %8llu pages, %8llu reached, %7llu refused, %9llu links, %u sweeps\n", profile,
                static_cast<unsigned long long>(world->TotalPages()), static_cast<unsigned long long>(reach.count),
                static_cast<unsigned long long>(reach.refused), static_cast<unsigned long long>(reach.links),
                reach.sweeps);
  }
}

TEST(ReachTest, ProfilesHaveTheSizeThatTheyPromise) {
  const auto small = Make("small");
  EXPECT_EQ(small->TotalPages(), 200U);
  uint32_t hosts = 0;
  for (uint32_t d = 0; d < small->Domains(); ++d) hosts += small->Hosts(d);
  EXPECT_GE(hosts, 9U);
  EXPECT_LE(hosts, 16U);
  EXPECT_GE(Enumerate(*Make("demo"), {.unix_ns = kNow}).count, 60'000U);
  const uint64_t evil = Enumerate(*Make("evil"), {.unix_ns = kNow}).count;
  EXPECT_GE(evil, 50'000U);
  EXPECT_LE(evil, 100'000U);
}

// The exponent of a discrete power law by maximum likelihood over values in [low, high): a search over the likelihood
// of the truncated zeta distribution.
double FitExponent(const std::vector<uint64_t>& values, uint64_t low, uint64_t high) {
  double logs = 0;
  double count = 0;
  for (const uint64_t value : values) {
    if (value < low || value >= high) continue;
    logs += std::log(static_cast<double>(value));
    ++count;
  }
  double best = 0;
  double best_likelihood = -1e300;
  for (double alpha = 1.2; alpha < 4; alpha += 0.01) {
    double norm = 0;
    for (uint64_t x = low; x < high; ++x) norm += std::pow(static_cast<double>(x), -alpha);
    const double likelihood = -alpha * logs - count * std::log(norm);
    if (likelihood > best_likelihood) {
      best_likelihood = likelihood;
      best = alpha;
    }
  }
  return best;
}

TEST(WorldShapeSlowTest, AMillionPagesHaveTheShapeOfTheirParameters) {
  const auto world = Make("million");
  const WorldParams& params = world->params();
  EXPECT_NEAR(static_cast<double>(world->TotalPages()), 1e6, 1e4);
  uint64_t links = 0;
  uint64_t pages = 0;
  std::vector<uint64_t> clicks(world->Domains());  // links from other domains
  std::vector<uint64_t> in_degree(world->Domains());
  std::unordered_set<uint64_t> edges;  // between domains
  for (uint64_t n = 0; n < world->TotalPages(); n += 1) {
    const Place place = world->FromDense(n);
    bool shown = false;
    world->Links(place, kNow, [&](const OutLink& link) {
      shown = true;
      ++links;
      const uint32_t target = link.target.host.domain;
      if (target == place.host.domain) return;
      ++clicks[target];
      if (edges.insert(uint64_t{place.host.domain} << 32 | target).second) ++in_degree[target];
    });
    pages += shown ? 1 : 0;
  }
  const double mean = static_cast<double>(links) / static_cast<double>(pages);
  // Popularity: ln(links) over ln(rank) is a line of slope -s. Ranks by groups of doubling size.
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  double groups = 0;
  for (uint32_t first = 4; first * 2 < world->Domains(); first *= 2) {
    double sum = 0;
    for (uint32_t d = first; d < first * 2; ++d) sum += static_cast<double>(clicks[d]);
    const double x = std::log(first * 1.4142);
    const double y = std::log(sum / first);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
    ++groups;
  }
  const double slope = (groups * sxy - sx * sy) / (groups * sxx - sx * sx);
  const double exponent = FitExponent(in_degree, 30, world->Domains() / 20);
  std::printf("mean out-links %.1f; Zipf exponent of popularity %.3f; PLD in-degree exponent %.3f; %zu domain edges\n",
              mean, -slope, exponent, edges.size());
  EXPECT_NEAR(mean, params.links_mean, 3);
  EXPECT_NEAR(-slope, params.zipf_exponent, 0.1);
  EXPECT_NEAR(exponent, 1 + 1 / params.zipf_exponent, 0.25);

  // Sizes: where links do not set a floor, ln(size) is normal. The median and the upper quartile say mu and sigma.
  std::vector<double> sizes;
  for (uint64_t n = 0; n < world->TotalPages() && sizes.size() < 20'000; n += 37) {
    const Place place = world->FromDense(n);
    if (world->KindOf(place) != PageKind::kNormal) continue;
    const std::string url = world->UrlOf(place);
    const std::string name = world->HostName(place.host);
    Request request;
    request.host = name;
    request.path_and_query = std::string_view(url).substr(world->Origin(place.host).size());
    request.tls = world->HostIsTls(place.host);
    request.unix_ns = kNow;
    sizes.push_back(static_cast<double>(world->Respond(request).body.size()));
  }
  std::sort(sizes.begin(), sizes.end());
  double sum = 0;
  for (const double size : sizes) sum += size;
  const double mu = std::log(sizes[sizes.size() / 2]);
  const double sigma = (std::log(sizes[sizes.size() * 9 / 10]) - mu) / 1.2816;
  std::printf("page bytes: mean %.0f, mu %.3f, sigma %.3f over %zu pages\n", sum / static_cast<double>(sizes.size()),
              mu, sigma, sizes.size());
  EXPECT_NEAR(mu, std::log(params.page_bytes) - params.page_sigma * params.page_sigma / 2, 0.06);
  EXPECT_NEAR(sigma, params.page_sigma, 0.06);
}

TEST(WorldShapeSlowTest, TenMillionPagesAreEnumerated) {
  const auto begin = std::chrono::steady_clock::now();
  const auto world = Make("tenmillion");
  const auto made = std::chrono::steady_clock::now();
  const Reach reach = Enumerate(*world, {.unix_ns = kNow});
  const auto end = std::chrono::steady_clock::now();
  const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
  std::printf("%llu pages, %llu reached over %llu links in %u sweeps: made in %.2f s, enumerated in %.1f s\n",
              static_cast<unsigned long long>(world->TotalPages()), static_cast<unsigned long long>(reach.count),
              static_cast<unsigned long long>(reach.links), reach.sweeps, seconds(begin, made), seconds(made, end));
  EXPECT_GT(world->TotalPages(), 10'000'000U);
  EXPECT_EQ(reach.count + reach.refused, world->TotalPages());
  EXPECT_LT(seconds(begin, end), 600);
}

}  // namespace
}  // namespace portolan::sim
