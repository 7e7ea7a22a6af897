// What the bucket and the directories say of a cluster, its nodes and its shards: each text is read back as it was
// written, and what is something else is refused.

#include "cluster/node_record.h"

#include <gtest/gtest.h>

#include "cluster/cluster_settings.h"
#include "cluster/exchange_state.h"
#include "cluster/lease_view.h"
#include "cluster/shard_place.h"
#include "disk/inspect.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

TEST(NodeRecordTest, TextsAreReadBack) {
  const NodeRecord node{.process = 0xff, .beat = 12, .version = "1.2-3", .capacity = 4, .machine = "host1"};
  EXPECT_EQ(EncodeNode(node), "v1 process=00000000000000ff beat=12 version=1.2-3 capacity=4 machine=host1");
  EXPECT_EQ(DecodeNode(EncodeNode(node)), node);
  const PlaceRecord place{.node = "alpha", .files = 0x123, .to = "beta", .done = false};
  EXPECT_EQ(EncodePlace(place), "v1 node=alpha files=0000000000000123 to=beta state=begun");
  EXPECT_EQ(DecodePlace(EncodePlace(place)), place);
  const PlaceRecord done{.node = "alpha", .files = 1, .to = "", .done = true};
  EXPECT_EQ(DecodePlace(EncodePlace(done)), done);
  const ControlRecord end{.order = ClusterOrder::kEnd, .limit = "max_pages"};
  EXPECT_EQ(EncodeControl(end), "v1 end max_pages");
  EXPECT_EQ(DecodeControl(EncodeControl(end)), end);
  EXPECT_EQ(DecodeControl("v1 pause"), (ControlRecord{.order = ClusterOrder::kPause, .limit = ""}));
}

TEST(NodeRecordTest, WhatIsSomethingElseIsRefused) {
  for (const char* text : {"", "v1", "v2 process=1 beat=1 capacity=1", "v1 process=x beat=1 capacity=1",
                           "v1 process=1 beat=1", "v1 beat", "v1 process=1 beat=1 capacity=99999999999"}) {
    EXPECT_FALSE(DecodeNode(text)) << text;
  }
  for (const char* text : {"", "v1 node=- files=1 to=- state=done", "v1 node=a", "v1 node=a files=zz", "garbage"}) {
    EXPECT_FALSE(DecodePlace(text)) << text;
  }
  for (const char* text : {"", "v1 ", "v1 halt", "pause"}) EXPECT_FALSE(DecodeControl(text)) << text;
  EXPECT_FALSE(DecodeControl("v1 end " + std::string(1000, 'x')));
}

// Names of machines come from outside.
TEST(NodeRecordTest, AValueIsOneWord) {
  const NodeRecord node{.process = 1, .beat = 1, .version = "a b", .capacity = 1, .machine = "x beat=99\n"};
  const auto back = DecodeNode(EncodeNode(node));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->beat, 1U);
  EXPECT_EQ(back->machine, "x_beat_99_");
}

TEST(ClusterSettingsTest, SettingsAreReadBack) {
  ClusterSettings settings{.shards = 16,
                           .nodes = 3,
                           .seeds = 2'000'000,
                           .seeds_from = "my list.txt",
                           .rules_hash = 0xabc,
                           .lease_ms = 2500,
                           .key = HashKey({1, 2, 3, 0xffffffffffffffff}),
                           .toml = "[crawl]\nseeds = []\n\n[scope]\n"};
  const auto back = DecodeClusterSettings(EncodeClusterSettings(settings));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(back->shards, 16U);
  EXPECT_EQ(back->nodes, 3U);
  EXPECT_EQ(back->seeds, 2'000'000U);
  EXPECT_EQ(back->seeds_from, "my list.txt");
  EXPECT_EQ(back->rules_hash, 0xabcU);
  EXPECT_EQ(back->lease_ms, 2500);
  EXPECT_EQ(back->key, settings.key);
  EXPECT_EQ(back->toml, settings.toml);
}

TEST(ClusterSettingsTest, AnotherVersionAndDamageHaveNames) {
  const std::string good = EncodeClusterSettings({.shards = 2, .key = {}, .toml = "x = 1\n"});
  const auto other = DecodeClusterSettings("portolan-cluster 2\nshards 2\n\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kUnsupported);
  for (const std::string& text : {std::string(), std::string("portolan"), std::string("portolan-cluster 1\n"),
                                  std::string("portolan-cluster 1\nshards 0\n\n"), good.substr(0, good.find("key"))}) {
    const auto bad = DecodeClusterSettings(text);
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(bad.error().code(), ErrorCode::kCorrupt) << text;
  }
  // No cut of a good one is taken for settings without its end, except inside the crawl's own settings.
  for (size_t cut = 0; cut + 6 < good.size(); ++cut) EXPECT_FALSE(DecodeClusterSettings(good.substr(0, cut))) << cut;
}

TEST(ShardPlaceTest, AMarkIsReadBackAndNothingElseIs) {
  MemEnv env;
  const ShardPlace place{.cluster = "web", .id = 7, .shard = 3, .shards = 16, .files = 255};
  EXPECT_FALSE(ReadShardPlace(env, "d").value());
  ASSERT_TRUE(WriteShardPlace(env, "d", place));
  EXPECT_EQ(ReadShardPlace(env, "d").value(), place);
  ASSERT_TRUE(ReplaceFile(env, "d/cluster", EncodeShardPlace(place) + "more"));
  EXPECT_EQ(ReadShardPlace(env, "d").error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(DecodeShardPlace("portolan-shard 1 cluster=web id=7 shard=16 shards=16 files=1 before=0\n"));
  EXPECT_EQ(ShardDirName(3), "shard-03");
  EXPECT_EQ(ShardOfDirName("shard-03"), 3U);
  EXPECT_EQ(ShardOfDirName("shard-120"), 120U);
  for (const char* name : {"shard-3", "shard-", "shard-1000", "shard-0x", "other-03"}) {
    EXPECT_FALSE(ShardOfDirName(name)) << name;
  }
}

TEST(ShardPlaceTest, GoldenBytes) {
  EXPECT_EQ(EncodeShardPlace(
                {.cluster = "web", .id = 0x0123456789abcdef, .shard = 3, .shards = 16, .files = 255, .before = 0}),
            "portolan-shard 1 cluster=web id=0123456789abcdef shard=3 shards=16 files=00000000000000ff "
            "before=0000000000000000\n");
}

TEST(ShardPlaceTest, AShardIsClaimedWhereItsFilesAreAndNowhereElse) {
  const ShardPlace here{.cluster = "web", .id = 7, .shard = 3, .shards = 16, .files = 10};
  const auto wish = [&](const std::string& node, std::optional<ShardPlace> files, std::optional<PlaceRecord> record) {
    return WishFor(node, files, record);
  };
  const PlaceRecord at_alpha{.node = "alpha", .files = 10, .to = "", .done = false};
  EXPECT_EQ(wish("alpha", {}, {}), ClaimWish::kClaim);  // nobody has begun it
  EXPECT_EQ(wish("alpha", here, at_alpha), ClaimWish::kClaim);
  EXPECT_EQ(wish("beta", {}, at_alpha), ClaimWish::kElsewhere);
  EXPECT_EQ(wish("beta", here, at_alpha), ClaimWish::kElsewhere);  // a copy that nobody asked for
  EXPECT_EQ(wish("alpha", {}, at_alpha), ClaimWish::kElsewhere);   // its directory is gone
  ShardPlace older = here;
  older.files = 9;
  EXPECT_EQ(wish("alpha", older, at_alpha), ClaimWish::kElsewhere);
  PlaceRecord moves = at_alpha;
  moves.to = "beta";
  EXPECT_EQ(wish("alpha", here, moves), ClaimWish::kMovesAway);
  EXPECT_EQ(wish("beta", {}, moves), ClaimWish::kCopyMissing);
  EXPECT_EQ(wish("beta", older, moves), ClaimWish::kCopyMissing);  // a copy from before it was stopped
  EXPECT_EQ(wish("beta", here, moves), ClaimWish::kClaim);
  EXPECT_EQ(wish("gamma", here, moves), ClaimWish::kElsewhere);
  // Killed after the mark was written and before the bucket was.
  ShardPlace newer = here;
  newer.files = 11;
  newer.before = 10;
  EXPECT_EQ(wish("alpha", newer, at_alpha), ClaimWish::kClaim);
  EXPECT_EQ(wish("beta", newer, moves), ClaimWish::kClaim);
  PlaceRecord done = at_alpha;
  done.done = true;
  EXPECT_EQ(wish("alpha", here, done), ClaimWish::kDone);
}

// A process that holds the lock of its dead predecessor's directory need not wait for that one's lease to end.
TEST(LeaseOfTheDeadTest, IsClaimedAtOnceByTheHeirAndByNobodyElse) {
  const LeaseRecord held{.epoch = 4, .holder = 100, .beat = 9, .node = "alpha"};
  const auto claims = [&](uint64_t dead) {
    LeaseView view({.shards = 1, .capacity = 1, .node = "alpha", .holder = 200, .dead_holder = dead});
    for (const LeaseCommand& command : view.Turn(0)) EXPECT_EQ(command.kind, LeaseCommand::Kind::kRead);
    view.Read(0, 17, held, 1);
    const auto commands = view.Turn(2);
    return commands.size() == 1 && commands[0].kind == LeaseCommand::Kind::kWrite && commands[0].expected == 17 &&
           commands[0].record.epoch == 5;
  };
  EXPECT_TRUE(claims(100));
  EXPECT_FALSE(claims(0));
  EXPECT_FALSE(claims(101));
}

TEST(LeaseOfTheDeadTest, NothingIsClaimedBeforeItIsWanted) {
  LeaseView view({.shards = 1, .capacity = 1, .node = "alpha", .holder = 200, .wants_all = false});
  view.Turn(0);
  view.Read(0, 0, std::nullopt, 1);
  for (const LeaseCommand& command : view.Turn(3 * kSecond)) EXPECT_EQ(command.kind, LeaseCommand::Kind::kRead);
  view.Read(0, 0, std::nullopt, 3 * kSecond + 1);
  view.Want(0);
  const auto commands = view.Turn(6 * kSecond);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].kind, LeaseCommand::Kind::kWrite);
}

// Recovery checks every file that the manifest names before it cuts anything.
TEST(ExchangeStateTest, IsAFileThatTheStateCheckKnows) {
  MemEnv env;
  ExchangeState state;
  state.shard = 1;
  state.shards = 3;
  state.cluster = 9;
  std::string bytes = state.Encode();
  ASSERT_TRUE(env.CreateDirs("s"));
  ASSERT_TRUE(ReplaceFile(env, "s/exchange-00000001", bytes));
  const auto report = CheckFile(env, "s/exchange-00000001");
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_EQ(report->bytes, bytes.size());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(ReplaceFile(env, "s/exchange-00000001", bytes));
  EXPECT_EQ(CheckFile(env, "s/exchange-00000001").error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace portolan
