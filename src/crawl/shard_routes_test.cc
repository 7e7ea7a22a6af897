#include "crawl/shard_routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "crawl/partition.h"

namespace portolan {
namespace {

class Recorder : public FetchPort {
 public:
  void Fetch(FetchTask&& task) override { fetches.push_back(task.id); }
  void Resolve(ResolveTask&& task) override { names.push_back(task.host); }

  std::vector<uint64_t> fetches;
  std::vector<uint64_t> names;
};

TEST(ShardRoutesTest, AnAnswerGoesToTheShardThatAsked) {
  Recorder web;
  ShardRoutes routes(web, 3);
  routes.port(2).Resolve({.host = 77, .name = "a.test"});
  routes.port(1).Resolve({.host = 78, .name = "b.test"});
  EXPECT_EQ(web.names, (std::vector<uint64_t>{77, 78}));
  EXPECT_EQ(routes.TakeAsker({.host = 78}), 1U);
  EXPECT_EQ(routes.TakeAsker({.host = 77}), 2U);
}

// Shards that doubt the network ask with the same host number, each for a name of its own.
TEST(ShardRoutesTest, EachShardThatAsksWithTheSameNumberGetsAnAnswer) {
  Recorder web;
  ShardRoutes routes(web, 3);
  routes.port(1).Resolve({.host = 0, .name = "a.test"});
  routes.port(2).Resolve({.host = 0, .name = "b.test"});
  std::vector<uint32_t> askers = {routes.TakeAsker({.host = 0}), routes.TakeAsker({.host = 0})};
  std::ranges::sort(askers);
  EXPECT_EQ(askers, (std::vector<uint32_t>{1, 2}));
}

TEST(ShardRoutesTest, FetchesPassAsTheyAre) {
  Recorder web;
  ShardRoutes routes(web, 2);
  FetchTask task;
  task.id = FirstFetchId(1);
  routes.port(1).Fetch(std::move(task));
  EXPECT_EQ(web.fetches, std::vector<uint64_t>{FirstFetchId(1)});
}

}  // namespace
}  // namespace portolan
