// How fast the world is. Figures are printed; the limits are loose, since test builds are not optimised.

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "io/rng.h"
#include "sim/world/world.h"

namespace portolan::sim {
namespace {

constexpr int64_t kNow = 1'790'000'000'000'000'000;

// Of this process's processor time: other programs on the machine do not count.
double Seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

TEST(WorldSpeedSlowTest, AnswersLinksAndSearches) {
  for (const char* profile : {"web2007", "web2026", "million"}) {
    const auto made = World::Create(*LoadProfile(profile), 1);
    ASSERT_TRUE(made);
    const World& world = **made;
    Rng rng(1);
    std::vector<Place> places;
    while (places.size() < 20000) places.push_back(world.FromDense(rng.Below(world.TotalPages())));
    std::vector<std::string> urls;
    std::vector<std::string> names;
    auto begin = std::clock();
    for (const Place& place : places) urls.push_back(world.UrlOf(place));
    const double name_s = Seconds(begin);
    begin = std::clock();
    size_t found = 0;
    for (size_t i = 0; i < urls.size(); ++i) found += world.FindUrl(urls[i]) == places[i] ? 1 : 0;
    const double find_s = Seconds(begin);
    ASSERT_EQ(found, places.size());
    for (const Place& place : places) names.push_back(world.HostName(place.host));
    uint64_t links = 0;
    uint64_t link_bytes = 0;
    begin = std::clock();
    for (const Place& place : places) {
      world.Links(place, kNow, [&](const OutLink& link) {
        ++links;
        link_bytes += link.url.size();
      });
    }
    const double links_s = Seconds(begin);
    uint64_t bytes = 0;
    begin = std::clock();
    for (size_t i = 0; i < places.size(); ++i) {
      Request request;
      request.host = names[i];
      request.path_and_query = std::string_view(urls[i]).substr(urls[i].find('/', 8));
      request.tls = urls[i][4] == 's';
      request.unix_ns = kNow;
      bytes += world.Respond(request).body.size();
    }
    const double answer_s = Seconds(begin);
    const double n = static_cast<double>(places.size());
    std::printf(
        "%-8s UrlOf %.2f us, FindUrl %.2f us, Links %.2f us per page (%.0f ns per link, %.0f bytes), Respond %.1f us "
        "a page of %.0f bytes, %.2f GB/s\n",
        profile, name_s / n * 1e6, find_s / n * 1e6, links_s / n * 1e6, links_s / static_cast<double>(links) * 1e9,
        static_cast<double>(link_bytes) / static_cast<double>(links), answer_s / n * 1e6,
        static_cast<double>(bytes) / n, static_cast<double>(bytes) / answer_s / 1e9);
    EXPECT_LT(answer_s / n, 1e-3);
  }
}

}  // namespace
}  // namespace portolan::sim
