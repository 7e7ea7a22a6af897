// Looking links up by name.

#include "follow/graph_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "follow/node_key.h"
#include "follow/testing/small_graph.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct LookedUp {
  std::vector<std::string> names;
  uint64_t total = 0;
};

LookedUp Look(const GraphFiles& files, GraphLevel level, GraphDirection direction, const std::string& name,
              uint64_t from = 0, uint64_t limit = 0) {
  const auto view = LinkView::Open(files, level, direction).value();
  GraphLook look = GraphLook::Open(*view).value();
  const auto node = look.Find(name).value().node;
  LookedUp result;
  if (!node) return result;
  result.total = look.Each(*node, from, limit,
                           [&](const GraphLook::Link& link) {
                             result.names.push_back(link.name + "|" + std::string(link.anchor) + "|" + link.flags);
                             return true;
                           })
                     .value();
  EXPECT_EQ(look.Count(*node).value(), result.total);
  return result;
}

class GraphLookTest : public testing::Test {
 protected:
  void SetUp() override {
    SmallGraph graph(env_, "graph");
    graph.Add(
        "http://a.test/",
        {{"http://a.test/1", "one", 0}, {"http://b.test/", "two", kLinkNofollow}, {"https://www.b.test/x", "", 0}});
    graph.Add("http://b.test/", {{"http://a.test/1", "back", 0}});
    graph.Build();
    files_ = GraphFiles::Open(env_, "graph").value();
  }
  MemEnv env_;
  std::unique_ptr<GraphFiles> files_;
};

TEST_F(GraphLookTest, GivesNeighboursWithTextsInBothDirections) {
  EXPECT_THAT(Look(*files_, GraphLevel::kPages, GraphDirection::kForward, "http://a.test/").names,
              ElementsAre("http://a.test/1|one|", "http://b.test/|two|nofollow", "https://www.b.test/x||"));
  EXPECT_THAT(Look(*files_, GraphLevel::kPages, GraphDirection::kTransposed, "http://a.test/1#part").names,
              ElementsAre("http://a.test/|one|", "http://b.test/|back|"));
  EXPECT_THAT(Look(*files_, GraphLevel::kHosts, GraphDirection::kForward, "a.test").names,
              ElementsAre("b.test||", "www.b.test||"));
}

TEST_F(GraphLookTest, PagesThroughAList) {
  const LookedUp part = Look(*files_, GraphLevel::kPages, GraphDirection::kForward, "http://a.test/", 1, 1);
  EXPECT_EQ(part.total, 3u);
  EXPECT_THAT(part.names, ElementsAre("http://b.test/|two|nofollow"));
  EXPECT_TRUE(Look(*files_, GraphLevel::kPages, GraphDirection::kForward, "http://a.test/", 3, 1).names.empty());
  const uint64_t most = UINT64_MAX;
  EXPECT_TRUE(Look(*files_, GraphLevel::kPages, GraphDirection::kForward, "http://a.test/", most, most).names.empty());
}

TEST_F(GraphLookTest, NamesTheNearestHostOfWhatIsNotThere) {
  const std::string key = KeyOfQuestion("http://www.b.test.example/", GraphLevel::kPages).value();
  EXPECT_FALSE(NearestHost(*files_, key).empty());
  EXPECT_EQ(NearestHost(*files_, KeyOfQuestion("http://ww.b.test/x", GraphLevel::kPages).value()), "www.b.test");
  EXPECT_EQ(KeyOfQuestion("http://", GraphLevel::kPages).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GraphLookTest, DamageNamesTheFile) {
  const std::string path = files_->PathOf("pages.urls");
  files_.reset();
  std::string bytes = ReadWholeFile(env_, path).value();
  bytes[3] = static_cast<char>(bytes[3] ^ 1);
  ASSERT_TRUE(ReplaceFile(env_, path, bytes));
  const auto files = GraphFiles::Open(env_, "graph");
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message(), HasSubstr("pages.urls"));
}

}  // namespace
}  // namespace portolan
