// The router and the room of the link graph, without sockets.

#include "serve/graph_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "follow/graph_import.h"
#include "follow/testing/small_graph.h"
#include "graph/testing/round_trip.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class GraphRoomTest : public testing::Test {
 protected:
  GraphRoomTest() : graph_(env_, "crawl/graph"), room_(env_, clock_, "crawl/graph"), router_("crawl") {
    router_.Add(room_);
    router_.SetAddress("127.0.0.1", 8017);
  }
  void BuildSome() {
    graph_.Add(
        "http://a.test/",
        {{"http://a.test/1", "one \"<", 0}, {"http://b.test/", "two", kLinkNofollow}, {"https://www.b.test/x", "", 0}});
    graph_.Add("http://b.test/", {{"http://a.test/1", "back", 0}});
    graph_.Build();
  }
  static RawRequest Raw(std::string_view target) {
    return {.method = "GET",
            .target = target,
            .host = "localhost:8017",
            .content_type = {},
            .content_encoding = {},
            .content_length = {},
            .body = {}};
  }
  static RawRequest PostOf(std::string_view target, std::string_view body) {
    return {.method = "POST",
            .target = target,
            .host = "localhost:8017",
            .content_type = "application/json",
            .content_encoding = {},
            .content_length = "9",
            .body = body};
  }
  json Ask(const RawRequest& raw, int status = 200) {
    const Answer answer = router_.Handle(raw);
    EXPECT_EQ(answer.status, status) << raw.target << " " << answer.body;
    const json object = json::parse(answer.body, nullptr, false);
    EXPECT_FALSE(object.is_discarded()) << answer.body;
    if (status != 200) {
      EXPECT_TRUE(object.contains("error")) << answer.body;
    }
    return object;
  }
  json Get(const std::string& target, int status = 200) { return Ask(Raw(target), status); }
  std::string CodeOf(const std::string& target, int status) { return Get(target, status)["error"]["code"]; }

  MemEnv env_;
  ManualClock clock_;
  SmallGraph graph_;
  GraphRoom room_;
  Router router_;
};

TEST_F(GraphRoomTest, GivesLinksWithTextsInBothDirections) {
  BuildSome();
  EXPECT_EQ(Get("/graph/out?url=http://a.test/"), json::parse(R"({"generation":1,"level":"page","direction":"out",
    "url":"http://a.test/","from":0,"total":3,"links":[
      {"url":"http://a.test/1","anchor":"one \"<","flags":""},
      {"url":"http://b.test/","anchor":"two","flags":"nofollow"},
      {"url":"https://www.b.test/x","anchor":"","flags":""}]})"));
  const json in = Get("/graph/in?url=http://a.test/1");
  EXPECT_EQ(in["total"], 2);
  EXPECT_EQ(in["links"][1]["anchor"], "back");
  EXPECT_EQ(Get("/graph/out?url=a.test&level=host")["links"],
            json::parse(R"([{"url":"b.test"},{"url":"www.b.test"}])"));
  EXPECT_EQ(Get("/graph/out?url=a.test&level=domain")["links"], json::parse(R"([{"url":"b.test"}])"));
}

TEST_F(GraphRoomTest, PagesThroughLinks) {
  BuildSome();
  std::vector<std::string> urls;
  json part = {{"next", 0}};
  while (part.contains("next")) {
    part = Get("/graph/out?url=http://a.test/&limit=1&from=" + part["next"].dump());
    ASSERT_EQ(part["links"].size(), 1u);
    urls.push_back(part["links"][0]["url"]);
  }
  EXPECT_THAT(urls, testing::ElementsAre("http://a.test/1", "http://b.test/", "https://www.b.test/x"));
  EXPECT_TRUE(Get("/graph/out?url=http://a.test/&from=18446744073709551615")["links"].empty());
}

TEST_F(GraphRoomTest, AnswersBatchesInOrderWithTheErrorsInside) {
  BuildSome();
  const json batch =
      Ask(PostOf("/graph/in?limit=1", R"(["http://a.test/1","http://none.test/","http://","http://b.test/"])"));
  ASSERT_EQ(batch["results"].size(), 4u);
  EXPECT_EQ(batch["results"][0]["next"], 1);
  EXPECT_EQ(batch["results"][1]["error"]["code"], "not_in_graph");
  EXPECT_TRUE(batch["results"][1]["error"].contains("nearest_host"));
  EXPECT_EQ(batch["results"][2]["error"]["code"], "not_a_url");
  EXPECT_EQ(batch["results"][3]["total"], 1);
  EXPECT_FALSE(batch.contains("rest"));
  EXPECT_EQ(Get("/graph/in?limit=1&url=http://a.test/1&url=http://none.test/")["results"].size(), 2u);
  EXPECT_TRUE(Ask(PostOf("/graph/in", "[]"))["results"].empty());

  std::string body = "[\"http://a.test/\"";
  for (size_t i = 1; i < GraphRoom::kMaxBatch; ++i) body += ",\"http://a.test/\"";
  EXPECT_EQ(Ask(PostOf("/graph/out", body + "]"))["results"].size(), GraphRoom::kMaxBatch);
  EXPECT_EQ(Ask(PostOf("/graph/out", body + ",\"x\"]"), 413)["error"]["code"], "too_much");
}

TEST_F(GraphRoomTest, AnAnswerThatIsFullSaysWhereToGoOn) {
  const std::string anchor(1000, 'x');
  std::vector<SmallLink> links;
  for (int i = 0; i < 400; ++i) links.push_back({"http://a.test/" + std::to_string(1000 + i), anchor, 0});
  graph_.Add("http://a.test/", links);
  graph_.Build();
  std::string body = "[\"http://a.test/\"";
  for (int i = 1; i < 300; ++i) body += ",\"http://a.test/\"";
  const Answer answer = router_.Handle(PostOf("/graph/out?limit=1000", body + "]"));
  EXPECT_LT(answer.body.size(), GraphRoom::kMaxAnswer + 3000);
  const json batch = json::parse(answer.body);
  const size_t done = batch["results"].size();
  ASSERT_LT(done, 300u);
  EXPECT_EQ(batch["rest"], done);
  const json& last = batch["results"].back();
  EXPECT_EQ(last["next"], last["links"].size());
  EXPECT_EQ(last["total"], 400);
}

TEST_F(GraphRoomTest, WhatIsNotThereIsSaidWithTheNearestHost) {
  BuildSome();
  const json error = Get("/graph/out?url=http://www.b.test/none", 404)["error"];
  EXPECT_EQ(error["code"], "not_in_graph");
  EXPECT_EQ(error["nearest_host"], "www.b.test");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("http://www.b.test/none is not in the graph"));
}

TEST_F(GraphRoomTest, NodesOfAnImportedGraphAreNumbers) {
  graph::Adjacency truth;
  truth.Add(std::vector<graph::NodeId>{1, 2});
  truth.Add(std::vector<graph::NodeId>{2});
  truth.Add({});
  const auto packed = graph::Compress(truth, {}).value();
  for (const auto& [name, bytes] :
       {std::pair{"base.graph", packed.graph}, {"base.properties", packed.properties.ToText()}}) {
    ASSERT_TRUE(env_.Open(name, OpenMode::kCreate).value()->Append(bytes));
  }
  const auto imported = ImportGraph(env_, "base", "crawl/graph");
  ASSERT_TRUE(imported) << imported.error().ToString();
  const json in = Get("/graph/in?url=2");
  EXPECT_EQ(in["url"], 2);
  EXPECT_EQ(in["links"], json::parse(R"([{"url":0},{"url":1}])"));
  EXPECT_EQ(CodeOf("/graph/in?url=3", 404), "not_in_graph");
  EXPECT_EQ(CodeOf("/graph/in?url=http://a.test/", 400), "not_a_url");
  EXPECT_EQ(CodeOf("/graph/in?url=a.test&level=host", 404), "not_found");
}

TEST_F(GraphRoomTest, WrongQuestionsAreRefusedWithTheReason) {
  BuildSome();
  for (const char* target : {"/graph/out", "/graph/out?url=", "/graph/out?url=http://", "/graph/out?url=a&level=site",
                             "/graph/out?url=a&limit=0", "/graph/out?url=a&limit=100001", "/graph/out?url=a&limit=x",
                             "/graph/out?url=a&from=-1", "/graph/out?url=a&b=1", "/graph/out?url=%",
                             "/graph/out?url=a&level=page&level=host"}) {
    Get(target, 400);
  }
  EXPECT_EQ(CodeOf("/graph/ot?url=a", 404), "no_such_path");
  EXPECT_THAT(Get("/graph/ot", 404)["error"]["message"].get<std::string>(), HasSubstr("/graph/out"));
  Ask(PostOf("/graph/out", "{}"), 400);
  Ask(PostOf("/graph/out?url=a", "[]"), 400);
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"}) {
    RawRequest raw = Raw("/graph/out?url=a");
    raw.method = method;
    EXPECT_EQ(router_.Handle(raw).status, 405);
    EXPECT_EQ(router_.Handle(raw).allow, "GET, HEAD, POST");
  }
  Ask(PostOf("/", "[]"), 405);
  RawRequest raw = Raw("/graph/out?url=a");
  raw.host = "evil.test:8017";
  EXPECT_EQ(Ask(raw, 403)["error"]["code"], "host_refused");
  raw = Raw("/");
  raw.content_length = "5";
  Ask(raw, 400);
  raw = PostOf("/graph/out", "[]");
  raw.content_type = "text/plain";
  Ask(raw, 415);
  raw.content_type = "Application/JSON; charset=utf-8";
  Ask(raw, 200);
  raw.content_encoding = "gzip";
  Ask(raw, 415);
  raw = PostOf("/graph/out", "[]");
  raw.content_length = "";
  Ask(raw, 411);
  raw.content_length = "8388609";
  Ask(raw, 413);
  raw.content_length = "99999999999999999999999";
  Ask(raw, 413);
  raw.content_length = "x";
  Ask(raw, 400);
}

TEST_F(GraphRoomTest, ANewGenerationIsServedWithinASecond) {
  EXPECT_EQ(CodeOf("/graph/out?url=http://a.test/", 503), "no_graph");
  EXPECT_EQ(router_.Handle(Raw("/healthz")).status, 503);
  BuildSome();
  clock_.Advance(GraphSource::kCheckNs);
  EXPECT_EQ(Get("/graph/in?url=http://a.test/")["total"], 0);
  graph_.Add("http://c.test/", {{"http://a.test/", "new", 0}});
  graph_.Build();
  EXPECT_EQ(Get("/graph/in?url=http://a.test/")["generation"], 1) << "CURRENT is read once per second";
  clock_.Advance(GraphSource::kCheckNs);
  const json now = Get("/graph/in?url=http://a.test/");
  EXPECT_EQ(now["generation"], 2);
  EXPECT_EQ(now["total"], 1);
}

TEST_F(GraphRoomTest, ReadersOfAnOldGenerationEndInPeace) {
  BuildSome();
  GraphSource source(env_, clock_, "crawl/graph");
  const auto old = source.Current().value();
  auto look = old->Take(GraphLevel::kPages, GraphDirection::kForward).value();
  graph_.Add("http://c.test/", {{"http://a.test/", "new", 0}});
  graph_.Build();
  clock_.Advance(GraphSource::kCheckNs);
  EXPECT_EQ(source.Current().value()->files().generation(), 2u);
  const auto node = look->Find("http://a.test/").value().node;
  EXPECT_EQ(look->Each(*node, 0, 0, [](const GraphLook::Link&) { return true; }).value(), 3u);
  old->Return(GraphLevel::kPages, GraphDirection::kForward, std::move(look));
}

TEST_F(GraphRoomTest, DamageNamesTheFileAndIsForgottenWhenItIsRepaired) {
  BuildSome();
  Get("/graph/out?url=http://a.test/");
  for (const char* name : {"gen-1-pages.urls", "gen-1-pages.texts", "gen-1-pages.offsets", "CURRENT"}) {
    const std::string path = std::string("crawl/graph/") + name;
    const std::string whole = ReadWholeFile(env_, path).value();
    ASSERT_TRUE(ReplaceFile(env_, path, whole.substr(0, whole.size() - 1)));
    clock_.Advance(GraphSource::kCheckNs);
    const json error = Get("/graph/out?url=http://a.test/", 500)["error"];
    EXPECT_EQ(error["code"], "damaged");
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(name));
    EXPECT_EQ(router_.Handle(Raw("/healthz")).status, 503);
    ASSERT_TRUE(ReplaceFile(env_, path, whole));
    clock_.Advance(GraphSource::kCheckNs);
    EXPECT_EQ(Get("/graph/out?url=http://a.test/")["total"], 3) << name;
  }
}

TEST_F(GraphRoomTest, TheIndexListsWhatIsServed) {
  BuildSome();
  const Answer index = router_.Handle(Raw("/"));
  EXPECT_EQ(index.status, 200);
  EXPECT_THAT(index.type, HasSubstr("text/html"));
  EXPECT_THAT(index.body, HasSubstr("/graph/out"));
  EXPECT_THAT(index.body, HasSubstr("generation 1"));
  const json health = Get("/healthz");
  EXPECT_EQ(health["ok"], true);
  EXPECT_THAT(health["rooms"]["graph"]["message"].get<std::string>(), HasSubstr("generation 1: 4 pages, 4 links"));
}

}  // namespace
}  // namespace portolan
