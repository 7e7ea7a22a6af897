// Visits after the first in the virtual web: what is made from the truth is what the bytes say.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "flow/url_record.h"
#include "robots/sitemap.h"
#include "sim/virtual/virtual_web.h"

namespace portolan::sim {
namespace {

constexpr int64_t kDay = 86'400 * kSecond;

struct Collector : FetchEvents {
  void OnPage(PageResult&& result) override { pages.push_back(std::move(result)); }
  void OnResolved(Resolution&&) override {}
  void OnResponse(FetchResponse&& response) override { responses.push_back(std::move(response)); }
  std::vector<PageResult> pages;
  std::vector<FetchResponse> responses;
};

WorldParams LivingParams() {
  WorldParams params = *LoadProfile("small");
  for (const char* setting :
       {"domains=20",        "pages=1200",           "sitemaps=1",       "change_days=4",    "boilerplate=0.5",
        "born=0.3",          "born_days=20",         "dying=0.3",        "life_days=8",      "etag_random=0.15",
        "modified_now=0.15", "modified_future=0.15", "stuck_304=0.15",   "unasked_304=0.05", "max_age=0.5",
        "lastmod_lying=0.3", "lastmod_absent=0.2",   "lastmod_time=0.5", "changefreq=0.5",   "validators=0.8",
        "https=0.2",         "sitemap_entries=20"}) {
    EXPECT_TRUE(SetParam(params, setting)) << setting;
  }
  return params;
}

class VisitsTest : public testing::Test {
 protected:
  FetchTask TaskOf(const Place& place, UrlKind kind = UrlKind::kPage) {
    const DnsAnswer answer = world_->Resolve(world_->HostName(place.host));
    const std::string url = world_->UrlOf(place);
    return {.id = ++id_,
            .kind = kind,
            .url = url,
            .address = Address::V4(answer.v4.front()),
            .host = HostKey(url, HashKey::Known())};
  }
  PageResult Truth(FetchTask task, double days) {
    VirtualTime time(At(days));
    Collector collector;
    VirtualWeb web(*world_, time, collector, &hits_, {.visits = true});
    web.Fetch(std::move(task));
    while (time.Step()) {
    }
    return std::move(collector.pages.at(0));
  }
  FetchResponse Bytes(FetchTask task, double days) {
    VirtualTime time(At(days));
    Collector collector;
    VirtualWeb web(*world_, time, collector, nullptr, {.render = true});
    web.Fetch(std::move(task));
    while (time.Step()) {
    }
    return std::move(collector.responses.at(0));
  }
  int64_t At(double days) const {
    return static_cast<int64_t>(world_->params().epoch_s) * kSecond +
           static_cast<int64_t>(days * static_cast<double>(kDay));
  }

  struct Conditionals : HitSink {
    void OnHit(const Hit& hit) override { conditional += hit.conditional ? 1 : 0; }
    void OnOpen(int64_t, uint64_t, std::string_view, uint16_t) override {}
    void OnClose(int64_t, uint64_t) override {}
    void OnDns(int64_t, std::string_view, std::string_view, int) override {}
    uint64_t conditional = 0;
  };
  std::unique_ptr<World> world_ = *World::Create(LivingParams(), 5);
  Conditionals hits_;
  uint64_t id_ = 0;
};

TEST_F(VisitsTest, TheTruthIsWhatTheBytesSay) {
  uint64_t not_modified = 0;
  uint64_t gone = 0;
  uint64_t same = 0;
  uint64_t unasked = 0;
  uint64_t conditional = 0;
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    if (!world_->DnsWorks(place.host) || !world_->TlsWorks(place.host)) continue;
    const PageResult first = Truth(TaskOf(place), 6);
    ASSERT_NE(first.visit, nullptr);
    FetchTask task = TaskOf(place);
    task.last = std::make_shared<const LastVisit>(AfterVisit(first, {.url = task.url, .address = {}}));
    conditional += task.conditional() ? 1 : 0;
    const FetchResponse bytes = Bytes(task, 8);
    const PageResult truth = Truth(task, 8);
    ASSERT_EQ(truth.status, bytes.status) << task.url;
    EXPECT_EQ(truth.outcome == FetchOutcome::kUnaskedNotModified, bytes.status == 304 && !task.conditional());
    const auto has = [&](std::string_view name, const std::string& value) {
      return bytes.response_head.find(std::string(name) + ": " + value + "\r\n") != std::string::npos;
    };
    if (truth.status == 200) {
      const Validators& next = truth.visit->validators;
      EXPECT_TRUE(next.etag.empty() ? bytes.response_head.find("ETag:") == std::string::npos : has("ETag", next.etag));
      EXPECT_TRUE(next.last_modified.empty() || has("Last-Modified", next.last_modified));
      const bool equal = Bytes(TaskOf(place), 6).body == bytes.body;
      EXPECT_EQ(truth.visit->signals.change, first.status != 200 ? PayloadChange::kUnknown
                                             : equal             ? PayloadChange::kSame
                                                                 : PayloadChange::kOther)
          << task.url;
      same += equal ? 1 : 0;
    }
    EXPECT_EQ(truth.visit->signals.fresh_for_s.has_value(),
              bytes.response_head.find("Cache-Control") != std::string::npos);
    not_modified += truth.not_modified() ? 1 : 0;
    gone += truth.gone() && first.status == 200 ? 1 : 0;
    unasked += truth.outcome == FetchOutcome::kUnaskedNotModified ? 1 : 0;
  }
  EXPECT_GT(not_modified, 50U);
  EXPECT_GT(gone, 10U);
  EXPECT_GT(same, 50U) << "servers without true validators";
  EXPECT_GT(unasked, 5U);
  EXPECT_EQ(hits_.conditional, conditional);
}

TEST_F(VisitsTest, LiarsAreNamedInTheSignals) {
  std::set<uint16_t> flags;
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    if (!world_->DnsWorks(place.host) || !world_->TlsWorks(place.host)) continue;
    const PageResult first = Truth(TaskOf(place), 6);
    FetchTask task = TaskOf(place);
    task.last = std::make_shared<const LastVisit>(AfterVisit(first, {.url = task.url, .address = {}}));
    const PageResult again = Truth(task, 6.001);
    for (int bit = 0; bit < 16; ++bit) {
      if ((again.visit->signals.flags >> bit & 1) != 0) flags.insert(static_cast<uint16_t>(1 << bit));
    }
  }
  for (const SignalFlag flag : {kSignalEtag, kSignalNowDate, kSignalFutureDate, kSignalEtagMoved, kSignalDateMoved}) {
    EXPECT_TRUE(flags.contains(flag)) << flag;
  }
}

TEST_F(VisitsTest, SitemapsNameThePagesOfTheirFilesWithTheSameHints) {
  uint64_t named = 0;
  uint64_t hinted = 0;
  uint64_t indexes = 0;
  for (uint32_t domain = 0; domain < world_->Domains(); ++domain) {
    for (uint64_t part = 0; part < 3; ++part) {
      const Place place{{domain, 0}, PlaceClass::kSitemap, part};
      if (world_->FindUrl(world_->UrlOf(place)) != place) continue;
      if (!world_->DnsWorks(place.host) || !world_->TlsWorks(place.host)) continue;
      const PageResult truth = Truth(TaskOf(place, UrlKind::kSitemap), 8);
      std::vector<std::string> urls;
      std::vector<LinkHint> hints;
      SitemapParser parser({}, [&](SitemapEntry& entry) {
        LinkHint hint{.link = static_cast<uint32_t>(urls.size()),
                      .modified_s = static_cast<uint32_t>(entry.modified.value_or(0))};
        if (entry.change_frequency != ChangeFrequency::kNone) hint.every_s = 1;
        if (hint.modified_s != 0 || hint.every_s != 0) hints.push_back(hint);
        indexes += entry.role == SitemapEntry::Role::kSitemap ? 1 : 0;
        urls.push_back(entry.url);
        return true;
      });
      parser.Feed(Bytes(TaskOf(place, UrlKind::kSitemap), 8).body);
      ASSERT_EQ(parser.Finish(), SitemapOutcome::kWhole);
      std::vector<std::string> found;
      for (const FoundLink& link : truth.links.links) found.emplace_back(truth.links.UrlOf(link));
      EXPECT_EQ(found, urls);
      ASSERT_EQ(truth.visit->hints.size(), hints.size());
      for (size_t i = 0; i < hints.size(); ++i) {
        EXPECT_EQ(truth.visit->hints[i].link, hints[i].link);
        EXPECT_EQ(truth.visit->hints[i].modified_s, hints[i].modified_s);
        EXPECT_EQ(truth.visit->hints[i].every_s != 0, hints[i].every_s != 0);
      }
      named += urls.size();
      hinted += hints.size();
    }
  }
  EXPECT_GT(named, 200U);
  EXPECT_GT(hinted, 100U);
  EXPECT_LT(hinted, named);
  EXPECT_GT(indexes, 1U);
}

}  // namespace
}  // namespace portolan::sim
