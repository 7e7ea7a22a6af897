// What a visit after the first does to content-seen, the log and the counts. The results say that there was a visit
// before; the shard sees each URL once.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "crawl/crossing.h"
#include "crawl/shard.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr char kPage[] = "http://a.test/";
using Payload = std::array<char, 20>;

Payload PayloadOf(char fill) {
  Payload payload;
  payload.fill(fill);
  return payload;
}

// One shard with one page, whose answer the test decides.
class OnePage : public FetchPort, public OutputPort, public ExchangePort {
 public:
  explicit OnePage(uint32_t shards = 1) {
    options_.shards = shards;
    options_.shard = shards == 1 ? 0 : PayLevelOwner(shards);
    options_.content_seen = true;
    options_.archived = false;
    options_.content.memory = ContentSeenOptions::kMinMemory;
    options_.frontier.politeness.ip_delay_ns = options_.frontier.politeness.host_delay_ns = 1;
    options_.frontier.politeness.delay_factor = 0;
    options_.scope.seeds = {kPage};
    options_.scope.mode = ScopeMode::kHost;
    Open();
    EXPECT_TRUE(shard->AddSeed(kPage, now));
  }

  void Open() {
    manifest_.emplace(Manifest::Open(env_, "state").value());
    const ShardPorts ports{*this, *this, options_.shards == 1 ? nullptr : this};
    shard = Shard::Open(env_, *manifest_, executor_, ports, options_, now).value();
  }
  void Restart() {
    const std::vector<Checkpointable*> all = shard->Checkpointables();
    ASSERT_TRUE(manifest_->Commit(all));
    shard.reset();
    Open();
  }

  void Fetch(FetchTask&& task) override { tasks_.push_back(std::move(task)); }
  void Resolve(ResolveTask&& task) override { names_.push_back(std::move(task)); }
  void Write(PageResult& result, FetchLine&& about) override {
    if (result.kind == UrlKind::kPage) lines.push_back(std::move(about));
  }
  bool HasRoom(uint32_t /*to*/) const override { return true; }
  void Send(uint32_t /*to*/, std::string_view message) override { sent.emplace_back(message); }
  void Raise(uint32_t /*to*/, uint64_t /*pld*/) override {}
  void Tell(uint32_t to, const AddressNotice& notice) override {
    if (notice.kind == AddressNotice::Kind::kWanted) {
      granted_.push_back({to,
                          {.kind = AddressNotice::Kind::kGranted,
                           .address = notice.address,
                           .session = notice.session,
                           .asked_ns = notice.asked_ns}});
    }
  }

  // Fetches the page.
  void Visit(const std::function<void(PageResult&)>& answer, size_t fetches = 1) {
    for (int step = 0; step < 2000 && lines.size() < fetches; ++step) {
      ASSERT_TRUE(shard->OnTick(now));
      for (; !granted_.empty(); granted_.pop_front()) shard->OnAddressNotice(granted_.front(), now);
      for (; !names_.empty(); names_.pop_front()) {
        ASSERT_TRUE(shard->OnResolved(
            {.host = names_.front().host, .addresses = {Address::V4(0xc0000201)}, .ttl_s = 3600}, now));
      }
      for (; !tasks_.empty(); tasks_.pop_front()) {
        PageResult result;
        if (tasks_.front().kind == UrlKind::kPage) lasts.push_back(tasks_.front().last);
        result.id = tasks_.front().id;
        result.kind = tasks_.front().kind;
        result.status = result.kind == UrlKind::kRobots ? 404 : 200;
        result.times = {now.now_ns, now.now_ns, now.now_ns, now.now_ns, now.unix_ns};
        if (result.kind == UrlKind::kRobots) {
          result.robots = RobotsAnswer{.kind = RobotsAnswer::Kind::kAllowAll};
        } else {
          answer(result);
        }
        ASSERT_TRUE(shard->HasRoomFor(result));
        ASSERT_TRUE(shard->OnPage(std::move(result), now));
      }
      now.now_ns += kSecond / 10;
      now.unix_ns += kSecond / 10;
    }
    ASSERT_EQ(lines.size(), fetches);
  }

  // Another shard reports a capture of the payload, or takes it back. True: it was captured before, and the shard says
  // so.
  bool Arrives(const Payload& payload, std::string_view url, bool removal = false) {
    std::string capture;
    std::string message;
    EncodeFirstCapture({.payload = PayloadKeyOf(payload, options_.key), .url = url, .removal = removal}, capture);
    EncodePayloadCrossing(capture, true, message);
    const size_t before = sent.size() + lines.size();
    EXPECT_TRUE(shard->OnArrival(message, now));
    return sent.size() + lines.size() > before;
  }

  MemEnv env_;
  std::optional<Manifest> manifest_;
  InlineExecutor executor_;
  ShardOptions options_;
  Moment now{kSecond, 1'000'000 * kSecond};
  std::unique_ptr<Shard> shard;
  std::vector<FetchLine> lines;
  std::vector<std::shared_ptr<const LastVisit>> lasts;  // of the tasks
  std::vector<std::string> sent;

 private:
  static uint32_t PayLevelOwner(uint32_t shards) {
    PayLevelDomains domains = PayLevelDomains::Create(HashKey::Known()).value();
    return ShardOfDomain(domains.Key(kPage, HostKey(kPage, HashKey::Known())), shards);
  }
  std::deque<FetchTask> tasks_;
  std::deque<ResolveTask> names_;
  std::deque<AddressMail> granted_;
};

// The answer to a second visit.
void Again(PageResult& result, PayloadChange change, const LastVisit& last) {
  result.visit = std::make_unique<Visit>();
  result.visit->last = std::make_shared<const LastVisit>(last);
  result.visit->signals.change = change;
}

LastVisit Last(char fill) {
  LastVisit last;
  last.payload_sha1 = PayloadOf(fill);
  last.captured_unix_ms = 123'456;
  return last;
}

TEST(ShardRevisitsTest, APayloadThatIsGoneFromItsPageIsForgotten) {
  OnePage crawl;
  ASSERT_FALSE(crawl.Arrives(PayloadOf('o'), kPage));
  crawl.Visit([](PageResult& result) {
    Again(result, PayloadChange::kOther, Last('o'));
    result.payload_sha1 = PayloadOf('n');
  });
  EXPECT_EQ(crawl.lines[0].change, PayloadChange::kOther);
  EXPECT_TRUE(crawl.lines[0].visited);
  EXPECT_EQ(crawl.shard->counts().revisits, 1U);
  EXPECT_EQ(crawl.shard->counts().duplicates, 0U);
  crawl.Restart();
  EXPECT_FALSE(crawl.Arrives(PayloadOf('o'), "http://b.test/")) << "the next capture is a first one again";
  EXPECT_TRUE(crawl.Arrives(PayloadOf('n'), "http://c.test/")) << "the new payload is known";
}

TEST(ShardRevisitsTest, AnotherPageKeepsTheCaptureThatItMade) {
  OnePage crawl;
  ASSERT_FALSE(crawl.Arrives(PayloadOf('o'), "http://first.test/"));
  crawl.Visit([](PageResult& result) {
    Again(result, PayloadChange::kOther, Last('o'));
    result.payload_sha1 = PayloadOf('n');
  });
  EXPECT_TRUE(crawl.Arrives(PayloadOf('o'), "http://b.test/"));
}

TEST(ShardRevisitsTest, AGonePageIsNamedAndForgotten) {
  OnePage crawl;
  ASSERT_FALSE(crawl.Arrives(PayloadOf('o'), kPage));
  crawl.Visit([](PageResult& result) {
    Again(result, PayloadChange::kOther, Last('o'));
    result.status = 410;
  });
  EXPECT_TRUE(crawl.lines[0].gone);
  EXPECT_EQ(crawl.shard->counts().gone, 1U);
  EXPECT_FALSE(crawl.Arrives(PayloadOf('o'), "http://b.test/"));
}

TEST(ShardRevisitsTest, TheSamePayloadIsARevisitOfItsCaptureAndNoDuplicate) {
  OnePage crawl;
  ASSERT_FALSE(crawl.Arrives(PayloadOf('o'), "http://first.test/"));
  crawl.Visit([](PageResult& result) {
    Again(result, PayloadChange::kSame, Last('o'));
    result.visit->signals.flags = kSignalConditional;
    result.payload_sha1 = PayloadOf('o');
    result.archive.revisit = "prepared";
    const std::string url = "http://a.test/known";
    result.links.Add(url, Hash64(url), HostKey(url, HashKey::Known()), 0);
  });
  const FetchLine& line = crawl.lines[0];
  EXPECT_TRUE(line.revisit);
  EXPECT_EQ(line.duplicate_of, kPage);
  EXPECT_EQ(line.duplicate_unix_ms, 123'456);
  const CrawlCounts& counts = crawl.shard->counts();
  EXPECT_EQ(counts.duplicates, 0U);
  EXPECT_EQ(counts.unchanged, 1U);
  EXPECT_EQ(counts.conditional, 1U);
  EXPECT_EQ(counts.offered, 0U) << "its links were offered before";
}

TEST(ShardRevisitsTest, WithoutACaptureTheSamePayloadIsStored) {
  OnePage crawl;
  crawl.Visit([](PageResult& result) {
    LastVisit last = Last('o');
    last.captured_unix_ms = 0;
    Again(result, PayloadChange::kSame, last);
    result.payload_sha1 = PayloadOf('o');
    result.archive.revisit = "prepared";
  });
  EXPECT_FALSE(crawl.lines[0].revisit);
}

TEST(ShardRevisitsTest, NotModifiedSaysSinceWhen) {
  OnePage crawl;
  crawl.Visit([](PageResult& result) {
    Again(result, PayloadChange::kNotModified, Last('o'));
    result.status = 304;
  });
  EXPECT_EQ(crawl.lines[0].duplicate_unix_ms, 123'456);
  EXPECT_FALSE(crawl.lines[0].revisit) << "its record is one already";
  EXPECT_EQ(crawl.shard->counts().done[static_cast<size_t>(CountAs::kNotModified)], 1U);
}

TEST(ShardRevisitsTest, WhatTheLastVisitLeftTravelsWithTheUrlToEachAttempt) {
  OnePage crawl;
  LastVisit last = Last('o');
  last.validators.etag = "\"v1\"";
  std::string encoded;
  AppendLastVisit(last, encoded);
  const std::string url = "http://a.test/known";
  std::string link;
  EncodeLinkCrossing(Hash64(url), EncodeUrlRecord({.last = encoded, .url = url}), link);
  ASSERT_TRUE(crawl.shard->OnArrival(link, crawl.now));
  int reset = 2;
  crawl.Visit(
      [&](PageResult& result) {
        if (crawl.lasts.back() != nullptr && reset-- > 0) result.outcome = FetchOutcome::kReset;
      },
      4);
  int revisits = 0;
  for (const auto& task_last : crawl.lasts) {
    if (task_last == nullptr) continue;
    ++revisits;
    EXPECT_EQ(*task_last, last);
  }
  EXPECT_EQ(crawl.lasts.size(), 4U);
  EXPECT_EQ(revisits, 3);
}

TEST(ShardRevisitsTest, TheOwnerOfAPayloadHearsThatItIsGone) {
  OnePage crawl(2);
  char elsewhere = 'a';
  const auto owner = [&](char fill) { return ShardOfDomain(PayloadKeyOf(PayloadOf(fill), crawl.options_.key).key, 2); };
  while (owner(elsewhere) == crawl.options_.shard) ++elsewhere;
  crawl.Visit([&](PageResult& result) {
    Again(result, PayloadChange::kOther, Last(elsewhere));
    result.status = 404;
  });
  ASSERT_EQ(crawl.sent.size(), 1U);
  const auto crossing = DecodeCrossing(crawl.sent[0]);
  ASSERT_TRUE(crossing && crossing->kind == Crossing::Kind::kPayload);
  const auto removal = DecodeFirstCapture(crossing->first);
  ASSERT_TRUE(removal && removal->removal);
  EXPECT_EQ(removal->url, kPage);

  char here = 'a';
  while (owner(here) != crawl.options_.shard) ++here;
  EXPECT_FALSE(crawl.Arrives(PayloadOf(here), "http://far.test/"));
  EXPECT_TRUE(crawl.Arrives(PayloadOf(here), "http://copy.test/"));
  EXPECT_FALSE(crawl.Arrives(PayloadOf(here), "http://far.test/", /*removal=*/true));
  EXPECT_FALSE(crawl.Arrives(PayloadOf(here), "http://copy.test/"));
}

}  // namespace
}  // namespace portolan
