#include "sim/world/maze.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sim/world/words.h"

namespace portolan::sim {
namespace {

WorldParams MazeParams(double share) {
  WorldParams params = LoadProfile("small").value();
  params.domains = 40;
  params.pages = 4000;
  params.https = 0;
  params.maze_repeat = params.maze_calendar = params.maze_session_path = params.maze_session_query = share;
  params.maze_growing = params.maze_facets = params.maze_soft404 = params.maze_redirect = share;
  return params;
}

// Walks through the mazes of all hosts, `steps` places each, and calls each(place) for what it meets.
template <typename Each>
void Walk(const World& world, int steps, Each&& each) {
  for (uint32_t domain = 0; domain < world.Domains(); ++domain) {
    std::vector<Place> todo = {{{domain, 0}, PlaceClass::kPage, 0}};
    for (size_t i = 0; i < todo.size() && i < static_cast<size_t>(steps); ++i) {
      const Place place = todo[i];
      each(place);
      if (world.KindOf(place) == PageKind::kRedirect && place.place_class == PlaceClass::kMaze) {
        todo.push_back(world.RedirectTarget(place));
      }
      world.Links(place, 0, [&](const OutLink& link) {
        if (link.target.place_class == PlaceClass::kMaze && todo.size() < 5 * static_cast<size_t>(steps)) {
          todo.push_back(link.target);
        }
      });
    }
  }
}

TEST(MazeTest, EveryLinkLeadsToThePlaceThatItNames) {
  for (const uint64_t words : {0, 1}) {
    WorldParams params = MazeParams(0.6);
    params.maze_words = words;
    const auto world = World::Create(params, 17 + words).value();
    std::map<MazeKind, std::set<std::string>> urls;
    Walk(*world, 200, [&](const Place& place) {
      world->Links(place, 0, [&](const OutLink& link) {
        if (link.target.place_class != PlaceClass::kMaze) return;
        ASSERT_EQ(world->FindUrl(link.url), link.target) << link.url;
        urls[MazeKindOf(link.target.number)].emplace(link.url);
      });
    });
    for (unsigned kind = 0; kind < kMazeKinds; ++kind) {
      EXPECT_GT(urls[static_cast<MazeKind>(kind)].size(), 20U) << MazeKindName(static_cast<MazeKind>(kind));
    }
  }
}

TEST(MazeTest, NearlyTheSameAddressIsNoPlace) {
  const auto world = World::Create(MazeParams(1), 3).value();
  Walk(*world, 30, [&](const Place& place) {
    if (place.place_class != PlaceClass::kMaze) return;
    const std::string url = world->UrlOf(place);
    EXPECT_NE(world->FindUrl(url + "x").place_class, PlaceClass::kMaze) << url;
    EXPECT_NE(world->FindUrl(url + "&a=b").place_class, PlaceClass::kMaze) << url;
  });
}

TEST(MazeTest, AnswersAreWhatTheKindSays) {
  const auto world = World::Create(MazeParams(1), 5).value();
  std::map<int, int> statuses;
  Walk(*world, 60, [&](const Place& place) {
    if (place.place_class != PlaceClass::kMaze) return;
    const std::string url = world->UrlOf(place);
    const std::string origin = world->Origin(place.host);
    const std::string host = world->HostName(place.host);
    Request request;
    request.host = host;
    request.path_and_query = std::string_view(url).substr(origin.size());
    request.tls = false;
    const Answer answer = world->Respond(request);
    ++statuses[answer.status];
    if (MazeKindOf(place.number) == MazeKind::kRedirect) {
      EXPECT_EQ(answer.status, 302);
      EXPECT_EQ(answer.headers[0].second, world->UrlOf(world->RedirectTarget(place)));
    } else {
      EXPECT_EQ(answer.status, 200);
      EXPECT_GT(answer.body.size(), 1000U);
    }
  });
  EXPECT_GT(statuses[200], 100);
  EXPECT_GT(statuses[302], 10);
}

TEST(MazeTest, SwitchesThatAreOffChangeNothing) {
  const auto plain = World::Create(MazeParams(0), 8).value();
  const auto mazes = World::Create(MazeParams(0.5), 8).value();
  // Pages keep their links; those of hosts with mazes have some more.
  for (uint64_t number = 0; number < plain->TotalPages(); ++number) {
    std::vector<std::string> before;
    std::set<std::string> after;
    const Place place = plain->FromDense(number);
    plain->Links(place, 0, [&](const OutLink& link) { before.emplace_back(link.url); });
    bool any = false;
    mazes->Links(place, 0, [&](const OutLink& link) {
      any |= link.target.place_class == PlaceClass::kMaze;
      after.emplace(link.url);
    });
    if (any) continue;
    for (const std::string& url : before) ASSERT_TRUE(after.contains(url)) << url;
  }
}

TEST(MazeTest, WordsAreThoseOfMazesAlone) {
  std::set<std::string_view> all(PathWords().begin(), PathWords().end());
  for (const uint64_t list : {0, 1}) {
    for (const std::string_view word : MazeWords(list)) {
      EXPECT_TRUE(all.insert(word).second) << word;
      EXPECT_TRUE(std::none_of(word.begin(), word.end(), [](char c) { return c < 'a' || c > 'z'; })) << word;
    }
  }
}

}  // namespace
}  // namespace portolan::sim
