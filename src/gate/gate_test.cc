#include "gate/gate.h"

#include <gtest/gtest.h>

#include <set>

#include "gate/robots_request.h"
#include "gate/robots_value.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr char kDir[] = "state";
constexpr uint32_t kStart = 1'800'000'000;
constexpr int64_t kMs = 1'000'000;

struct Events : GateSink {
  std::vector<std::string> all;
  std::vector<std::string> requests;
  std::vector<uint8_t> hops;
  std::vector<RobotsRef> refs;
  Status OnAllowed(const UrlRecord& record) override {
    all.push_back("allowed " + std::string(record.url));
    refs.push_back(record.robots);
    return {};
  }
  Status OnDenied(const UrlRecord& record, DenyReason reason) override {
    all.push_back((reason == DenyReason::kRules ? "denied " : "unreachable ") + std::string(record.url));
    return {};
  }
  Status OnRobotsWanted(const UrlRecord& request) override {
    EXPECT_EQ(request.kind, UrlKind::kRobots);
    requests.emplace_back(request.url);
    hops.push_back(request.hops);
    return {};
  }
};

class GateTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { Open(); }
  void TearDown() override { gate_.reset(); }

  void Open() {
    gate_.reset();
    manifest_ = std::make_unique<Manifest>(Manifest::Open(env_, kDir).value());
    GateOptions options;
    options.memory = GateOptions::kMinMemory;
    options.use_known_origins = GetParam();
    auto gate = Gate::Open(env_, *manifest_, executor_, options);
    ASSERT_TRUE(gate) << gate.error().ToString();
    gate_ = std::move(*gate);
  }
  void Commit() {
    const auto all = gate_->Checkpointables();
    ASSERT_TRUE(manifest_->Commit(all));
  }
  void Add(std::string_view url) {
    UrlRecord record;
    record.url = url;
    ASSERT_TRUE(gate_->Add(record, events_, now_));
  }
  // Until nothing moves, being hungry; one millisecond per step.
  void Settle() {
    for (int quiet = 0; quiet < 20; ++quiet) {
      now_.ns += kMs;
      const uint64_t moved = gate_->Pump(events_, 1000, now_).value();
      if (gate_->StartRounds(now_, true).value() || moved > 0) quiet = 0;
    }
  }
  void Pass(uint32_t seconds) {
    now_.unix_s += seconds;
    now_.ns += seconds * 1000 * kMs;
  }
  void Answer(std::string_view request, const RobotsAnswer& answer, uint8_t hops = 0) {
    ASSERT_TRUE(gate_->OnRobots(request, hops, answer, events_, now_));
  }
  static RobotsAnswer Rules(std::initializer_list<std::string_view> disallowed, uint32_t delay_ms = 0) {
    RobotsRulesBuilder builder;
    for (const std::string_view path : disallowed) builder.Add(path, false);
    builder.SetGroup(RobotsGroup::kAny);
    if (delay_ms > 0) builder.SetCrawlDelay(delay_ms);
    RobotsAnswer answer;
    answer.kind = RobotsAnswer::Kind::kRules;
    answer.rules = std::move(builder).Build();
    return answer;
  }
  static RobotsAnswer Plain(RobotsAnswer::Kind kind, std::string follow = "") {
    RobotsAnswer answer;
    answer.kind = kind;
    answer.follow = std::move(follow);
    return answer;
  }
  std::vector<std::string> Taken() { return std::exchange(events_.all, {}); }
  std::vector<std::string> Requests() { return std::exchange(events_.requests, {}); }

  using Strings = std::vector<std::string>;
  MemEnv env_;
  InlineExecutor executor_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<Gate> gate_;
  Events events_;
  GateNow now_{.ns = 0, .unix_s = kStart};
};

INSTANTIATE_TEST_SUITE_P(RamAndDisk, GateTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "KnownOrigins" : "DiskOnly"; });

TEST_P(GateTest, AUrlWaitsForItsRobotsAndIsThenDecided) {
  Add("http://a.example/x");
  Add("http://a.example/private/y");
  Settle();
  EXPECT_EQ(Requests(), Strings{"http://a.example/robots.txt"});
  EXPECT_EQ(Taken(), Strings{});
  EXPECT_EQ(gate_->waiting(), 2U);
  Answer("http://a.example/robots.txt", Rules({"/private"}, 1500));
  Settle();
  EXPECT_EQ(Taken(), (Strings{"allowed http://a.example/x", "denied http://a.example/private/y"}));
  EXPECT_EQ(gate_->waiting(), 0U);
  ASSERT_EQ(events_.refs.size(), 1U);
  EXPECT_EQ(events_.refs[0].expires, kStart + 24 * 3600);
  UrlRecord record{.robots = events_.refs[0], .url = "http://a.example/x"};
  EXPECT_EQ(gate_->CrawlDelayMs(record, kStart), 1500U);
  EXPECT_EQ(gate_->CrawlDelayMs({.url = "http://b.example/"}, kStart), std::nullopt);
  // The current rules count, not those at the time when the URL passed.
  Answer("http://a.example/robots.txt", Rules({"/private"}, 60'000));
  EXPECT_EQ(gate_->CrawlDelayMs(record, kStart), GetParam() ? 60'000U : 1500U);
}

TEST_P(GateTest, ASmallCrawlGoesThroughWithinMilliseconds) {
  const int64_t begin = now_.ns;
  Add("http://a.example/");
  while (events_.requests.empty()) {
    now_.ns += kMs / 10;
    ASSERT_TRUE(gate_->Pump(events_, 100, now_));
    ASSERT_TRUE(gate_->StartRounds(now_, true));
  }
  Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kAllowAll));
  while (events_.all.empty()) {
    now_.ns += kMs / 10;
    ASSERT_TRUE(gate_->Pump(events_, 100, now_));
    ASSERT_TRUE(gate_->StartRounds(now_, true));
  }
  EXPECT_LT(now_.ns - begin, 50 * kMs);  // a pause between two rounds of a DRUM is in it
}

TEST_P(GateTest, RobotsAreAskedForOncePerOriginAndAgainWhenStale) {
  for (int i = 0; i < 50; ++i) Add("http://a.example/" + std::to_string(i));
  Add("https://a.example/");
  Settle();
  EXPECT_EQ(Requests(), (Strings{"http://a.example/robots.txt", "https://a.example/robots.txt"}));
  Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kAllowAll));
  Settle();
  EXPECT_EQ(Taken().size(), 50U);
  Pass(24 * 3600 - 10);
  Add("http://a.example/z");
  Settle();
  EXPECT_EQ(Taken(), Strings{"allowed http://a.example/z"});
  EXPECT_EQ(Requests(), Strings{"https://a.example/robots.txt"});  // that answer was lost
  Pass(10);
  Add("http://a.example/zz");
  Settle();
  EXPECT_EQ(Requests(), Strings{"http://a.example/robots.txt"});
  EXPECT_EQ(Taken(), Strings{});
}

TEST_P(GateTest, ALostAnswerIsAskedForAgainAfterAWhile) {
  Add("http://a.example/");
  Settle();
  EXPECT_EQ(Requests().size(), 1U);
  Pass(1790);
  Settle();
  EXPECT_EQ(Requests().size(), 0U);
  Pass(3600);
  Settle();
  EXPECT_EQ(Requests(), Strings{"http://a.example/robots.txt"});
  EXPECT_EQ(gate_->waiting(), 1U);
}

TEST_P(GateTest, UrlsOfAnUnreachableOriginWaitAndAreGivenUpAfterThreeAnswers) {
  Add("http://a.example/");
  for (int i = 1; i <= 3; ++i) {
    Settle();
    ASSERT_EQ(Requests(), Strings{"http://a.example/robots.txt"}) << i;
    Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kDisallowAll));
    Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kDisallowAll));  // twice the same: counts once
    Settle();
    if (i == 3) break;
    EXPECT_EQ(Taken(), Strings{});
    EXPECT_EQ(gate_->waiting_on_host(), 1U);
    Pass(3500);
    Settle();
    EXPECT_EQ(Requests(), Strings{});
    Pass(101);
  }
  EXPECT_EQ(Taken(), Strings{"unreachable http://a.example/"});
  EXPECT_EQ(gate_->counts().denied_unreachable, 1U);
  EXPECT_EQ(gate_->waiting(), 0U);
}

// While a giant host keeps the frontier busy it is not hungry; the URLs of other hosts must still come out.
TEST_P(GateTest, WithoutHungerAFewAnswersDoNotWaitForMany) {
  Add("http://a.example/x");
  Add("http://b.example/x");
  Settle();
  ASSERT_EQ(Requests().size(), 2U);
  const auto calm = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      now_.ns += 10 * kMs;
      ASSERT_TRUE(gate_->Pump(events_, 1000, now_));
      ASSERT_TRUE(gate_->StartRounds(now_, /*hungry=*/false));
    }
  };
  Answer("http://a.example/", Plain(RobotsAnswer::Kind::kAllowAll));
  calm(300);
  Answer("http://b.example/", Plain(RobotsAnswer::Kind::kAllowAll));
  calm(300);
  EXPECT_EQ(gate_->waiting(), 0U);
  EXPECT_EQ(gate_->counts().allowed, 2U);
}

TEST_P(GateTest, AnOriginThatComesBackLetsItsUrlsPass) {
  Add("http://a.example/");
  Settle();
  Answer(Requests()[0], Plain(RobotsAnswer::Kind::kDisallowAll));
  Settle();
  Pass(3601);
  Settle();
  Answer(Requests()[0], Rules({"/no"}));
  Settle();
  EXPECT_EQ(Taken(), Strings{"allowed http://a.example/"});
}

TEST_P(GateTest, RedirectsCountForTheFirstOriginAndEndAfterFive) {
  Add("http://a.example/");
  Settle();
  std::string request = Requests()[0];
  uint8_t hops = 0;
  for (int i = 1; i <= 5; ++i) {
    Answer(request, Plain(RobotsAnswer::Kind::kFollow, "https://b" + std::to_string(i) + ".example/r"), hops);
    ASSERT_EQ(events_.requests.size(), 1U);
    hops = events_.hops.back();
    request = Requests()[0];
    EXPECT_EQ(hops, i);
    EXPECT_EQ(request, "https://b" + std::to_string(i) + ".example/r#http://a.example");
    EXPECT_EQ(RobotsTarget(request), "https://b" + std::to_string(i) + ".example/r");
    EXPECT_EQ(HostOf(request), "b" + std::to_string(i) + ".example");
    Commit();
    Open();  // the request needs nothing but itself
  }
  Answer(request, Plain(RobotsAnswer::Kind::kFollow, "https://c.example/r"), hops);
  Settle();
  EXPECT_EQ(Requests(), Strings{});
  EXPECT_EQ(Taken(), Strings{"allowed http://a.example/"});
}

TEST_P(GateTest, AtFetchTheNewestCopyDecides) {
  Add("http://a.example/x");
  Settle();
  Answer(Requests()[0], Rules({"/private"}));
  Settle();
  UrlRecord record;
  record.url = "http://a.example/x";
  record.robots = events_.refs.at(0);
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), Verdict::kAllowed);
  EXPECT_EQ(gate_->AtFetch(record, kStart + 24 * 3600), Verdict::kStale);
  EXPECT_EQ(gate_->rules_reads(), 0U);
  record.url = "http://a.example/private";
  record.robots = {};
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), GetParam() ? Verdict::kDenied : Verdict::kStale);
  record.url = "http://a.example/x";
  record.robots = events_.refs.at(0);
  Answer("http://a.example/robots.txt", Rules({"/x"}));
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), GetParam() ? Verdict::kDenied : Verdict::kAllowed);
  Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kDisallowAll));
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), GetParam() ? Verdict::kStale : Verdict::kAllowed);
  record.kind = UrlKind::kRobots;
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), Verdict::kAllowed);
}

// The rules that let a URL pass are not read again, even where RAM has nothing of them.
TEST_P(GateTest, AtFetchNothingIsReadToSayAgainWhatWasSaidBefore) {
  Add("http://a.example/x");
  Add("http://b.example/x");
  Settle();
  RobotsRulesBuilder slow;
  slow.Add("/private", false);
  slow.SetCrawlDelay(7000);
  RobotsAnswer answer = Rules({});
  answer.rules = std::move(slow).Build();
  Answer("http://a.example/robots.txt", answer);
  Answer("http://b.example/robots.txt", Rules({"/private"}));
  Settle();
  ASSERT_EQ(events_.refs.size(), 2U);
  UrlRecord record;
  record.url = "http://a.example/x";
  record.robots = events_.refs.at(0);
  EXPECT_EQ(gate_->CrawlDelayMs(record, kStart + 10), 7000U);
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), Verdict::kAllowed);
  UrlRecord other;
  other.url = "http://b.example/x";
  other.robots = events_.refs.at(1);
  EXPECT_EQ(gate_->CrawlDelayMs(other, kStart + 10), std::nullopt);
  EXPECT_EQ(gate_->rules_reads(), 0U) << "they came a moment ago";

  Commit();
  Open();
  EXPECT_EQ(gate_->AtFetch(record, kStart + 10), Verdict::kAllowed);
  EXPECT_EQ(gate_->AtFetch(other, kStart + 10), Verdict::kAllowed);
  EXPECT_EQ(gate_->rules_reads(), 0U);
  EXPECT_EQ(gate_->AtFetch(record, kStart + 24 * 3600), Verdict::kStale);
  // RAM has forgotten the delay: the first time it is read, and counted.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gate_->CrawlDelayMs(record, kStart + 10), 7000U);
    EXPECT_EQ(gate_->CrawlDelayMs(other, kStart + 10), std::nullopt);
    EXPECT_EQ(gate_->rules_reads_at_fetch(), 2U);
  }
  EXPECT_EQ(gate_->rules_reads(), 2U);
}

TEST_P(GateTest, AllIsThereAfterAReopening) {
  Add("http://a.example/x");
  Add("http://b.example/x");
  Settle();
  EXPECT_EQ(Requests().size(), 2U);
  Answer("http://a.example/robots.txt", Rules({"/x"}));
  Add("http://c.example/");
  Commit();
  Open();
  EXPECT_EQ(gate_->waiting(), 3U);
  Settle();
  EXPECT_EQ(Taken(), Strings{"denied http://a.example/x"});
  EXPECT_EQ(Requests(), Strings{"http://c.example/robots.txt"});  // b's request was made before
}

// The check was made before the answer came, and what RAM knew of the answer is gone.
TEST_P(GateTest, AnAnswerBehindACheckIsFoundAfterAReopening) {
  Add("http://a.example/x");
  Settle();
  EXPECT_EQ(Requests().size(), 1U);
  Commit();
  Open();
  ASSERT_TRUE(gate_->StartRounds(now_, true));
  ASSERT_TRUE(gate_->Pump(events_, 1000, now_));  // the URL goes from the queue to RobotsCache
  Answer("http://a.example/robots.txt", Plain(RobotsAnswer::Kind::kAllowAll));
  Commit();
  Open();
  Settle();
  Pass(20);
  Settle();
  EXPECT_EQ(Taken(), Strings{"allowed http://a.example/x"});
  EXPECT_EQ(Requests(), Strings{});
}

TEST_P(GateTest, DamagedRulesAreAskedForAgain) {
  Add("http://a.example/x");
  Settle();
  Answer(Requests()[0], Rules({"/x"}));
  Settle();
  EXPECT_EQ(Taken(), Strings{"denied http://a.example/x"});
  Commit();
  env_.Corrupt("state/robots_rules-000001.rules", kFileHeaderSize + kBlockHeaderSize + 30, "?");
  Open();
  Pass(3600);  // or it is one and the same request
  Add("http://a.example/y");
  Settle();
  EXPECT_EQ(Requests(), Strings{"http://a.example/robots.txt"});
  EXPECT_GT(gate_->rules().damaged(), 0U);
  Answer("http://a.example/robots.txt", Rules({"/x"}));
  Settle();
  EXPECT_EQ(Taken(), Strings{"allowed http://a.example/y"});
}

TEST_P(GateTest, ANameThatNoResolverCouldTakeIsUnreachable) {
  const std::string url = "http://" + std::string(2000, 'a') + "/";
  Add(url);
  EXPECT_EQ(Taken(), Strings{"unreachable " + url});
  EXPECT_EQ(gate_->waiting(), 0U);
}

TEST_P(GateTest, BytesThatAreNoRulesAreRefused) {
  RobotsAnswer answer = Rules({"/"});
  answer.rules[5] ^= 1;
  EXPECT_FALSE(gate_->OnRobots("http://a.example/robots.txt", 0, answer, events_, now_));
}

TEST_P(GateTest, TimersSayWhenSomethingIsDue) {
  EXPECT_EQ(gate_->NextRoundTime(now_, true), Gate::kNever);
  Add("http://a.example/");
  EXPECT_LE(gate_->NextRoundTime(now_, true), now_.ns);
  EXPECT_EQ(gate_->NextRoundTime(now_, false), now_.ns + 500 * kMs);  // patience
  Settle();
  EXPECT_GT(gate_->NextRoundTime(now_, true), now_.ns + 1'700'000 * kMs);  // the request is made again
  EXPECT_LE(gate_->NextRoundTime(now_, true), now_.ns + 1'800'000 * kMs);
  Answer(Requests()[0], Plain(RobotsAnswer::Kind::kDisallowAll));
  Settle();
  EXPECT_GT(gate_->NextRoundTime(now_, true), now_.ns + 3'590'000 * kMs);  // the host is tried again
  EXPECT_LE(gate_->NextRoundTime(now_, true), now_.ns + 3'600'000 * kMs);
}

TEST_P(GateTest, AWrongCountOfChecksIsCorrupt) {
  Add("http://a.example/x");
  Add("http://b.example/x");
  ASSERT_TRUE(gate_->StartRounds(now_, true).value());
  Commit();
  ASSERT_EQ(gate_->in_cache(), 2U);
  gate_.reset();
  const std::vector<ManifestSection> sections = manifest_->sections();
  for (const uint64_t in_cache : {0, 1, 3}) {
    SCOPED_TRACE(in_cache);
    std::vector<ManifestSection> changed = sections;
    for (ManifestSection& section : changed) {
      if (section.kind != Gate::kKind) continue;
      section.numbers["in_cache"] = in_cache;
      section.numbers["entered"] = in_cache;
    }
    auto env = env_.CrashedCopy(CrashMode::kKeepAll);
    ASSERT_TRUE(Manifest::Read(*env, kDir).value().WriteNext(changed));
    const Manifest manifest = Manifest::Open(*env, kDir).value();
    GateOptions options;
    options.memory = GateOptions::kMinMemory;
    options.use_known_origins = GetParam();
    auto gate = Gate::Open(*env, manifest, executor_, options);
    Status status = gate ? Status() : std::unexpected(gate.error());
    if (status) {
      const auto pumped = (*gate)->Pump(events_, 1000, now_);
      if (!pumped) status = std::unexpected(pumped.error());
    }
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().ToString();
    EXPECT_NE(status.error().message().find("in_cache"), std::string::npos);
  }
}

// The DRUMs may keep next to nothing on disk: there is no room again and again, what Room promises is taken, and Pump
// makes room.
TEST(GateBoundsTest, WhatHasRoomIsTakenAndPumpMakesRoom) {
  MemEnv env;
  InlineExecutor executor;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  GateOptions options;
  options.memory = GateOptions::kMinMemory;
  options.use_known_origins = false;
  options.disk = 4;
  auto gate = Gate::Open(env, manifest, executor, options).value();
  Events events;
  GateNow now{.ns = 0, .unix_s = kStart};
  constexpr uint64_t kUrls = 60'000;
  uint64_t refused = 0;
  uint64_t room = gate->Room();
  ASSERT_GE(room, gate->EmptyRoom());
  for (uint64_t i = 0; i < kUrls; ++i, --room) {
    const std::string url = "http://h" + std::to_string(i % 7) + ".example/" + std::to_string(i);
    UrlRecord record;
    record.url = url;
    if (room == 0) room = gate->Room();
    while (room == 0) {
      ++refused;
      ASSERT_GT(gate->Pump(events, 1000, now).value(), 0U);
      room = gate->Room();
    }
    ASSERT_TRUE(gate->Add(record, events, now));
    ASSERT_EQ(gate->waiting(), i + 1);
  }
  EXPECT_GT(refused, 2U);
  for (int step = 0; step < 1000 && gate->waiting() > 0; ++step) {
    now.ns += 1'000 * kMs;
    ASSERT_TRUE(gate->StartRounds(now, true));
    ASSERT_TRUE(gate->Pump(events, kUrls, now));
    for (const std::string& request : std::exchange(events.requests, {})) {
      ASSERT_TRUE(gate->OnRobots(request, 0, {.kind = RobotsAnswer::Kind::kAllowAll}, events, now));
    }
  }
  EXPECT_EQ(gate->waiting(), 0U);
  EXPECT_EQ(events.refs.size(), kUrls);
  EXPECT_EQ(std::set<std::string>(events.all.begin(), events.all.end()).size(), kUrls);
}

TEST(GateOptionsTest, WhatCannotBeIsSaid) {
  MemEnv env;
  InlineExecutor executor;
  const Manifest manifest = Manifest::Open(env, kDir).value();
  const auto opens = [&](auto change) {
    GateOptions options;
    options.memory = GateOptions::kMinMemory;
    change(options);
    return Gate::Open(env, manifest, executor, options).has_value();
  };
  EXPECT_TRUE(opens([](GateOptions&) {}));
  EXPECT_FALSE(opens([](GateOptions& o) { o.memory -= 1; }));
  EXPECT_FALSE(opens([](GateOptions& o) { o.unreachable_tries = 0; }));
  EXPECT_FALSE(opens([](GateOptions& o) { o.unreachable_tries = 8; }));
  EXPECT_FALSE(opens([](GateOptions& o) { o.request_timeout_s = o.unreachable_ttl_s + 1; }));
}

TEST(RobotsValueTest, GoldenBytesAndCombination) {
  const RobotsValue value = EncodeRobotsRef({.position = 0x0605'0403'0201, .expires = 0x0a09'0807});
  EXPECT_EQ(std::string(value.begin(), value.end()), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a");
  EXPECT_EQ(DecodeRobotsRef(value.data()), (RobotsRef{.position = 0x0605'0403'0201, .expires = 0x0a09'0807}));
  const RobotsRef first{.position = 1, .expires = 1000};
  EXPECT_EQ(CombineRobots(first, {.position = 1, .expires = 1050}, 100, 500).position, 1U);  // the same time
  EXPECT_EQ(CombineRobots(first, {.position = 1, .expires = 1100}, 100, 500).position, 2U);
  EXPECT_EQ(CombineRobots(first, {.position = 1, .expires = 1601}, 100, 500).position, 1U);  // long ago
  EXPECT_EQ(CombineRobots({.position = 7, .expires = 1000}, {.position = 1, .expires = 1100}, 100, 500).position, 7U);
  EXPECT_EQ(CombineRobots(first, {.position = 99, .expires = 1100}, 100, 500).position, 99U);
  EXPECT_EQ(CombineRobots({.position = 99, .expires = 9}, first, 100, 500), first);
}

}  // namespace
}  // namespace portolan
