// What the judge says about copies and new pages of a web that lives.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/oracle/judge.h"

namespace portolan::sim {
namespace {

constexpr int64_t kS = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kS;

class JudgeFreshnessTest : public testing::Test {
 protected:
  static std::unique_ptr<World> Make(std::initializer_list<const char*> settings) {
    WorldParams params = *LoadProfile("small");
    for (const char* setting : settings) EXPECT_TRUE(SetParam(params, setting)) << setting;
    return *World::Create(params, 3);
  }
  int64_t At(double days) const {
    return static_cast<int64_t>(world_->params().epoch_s) * kS + static_cast<int64_t>(days * static_cast<double>(kDay));
  }
  void Ask(Judge& judge, const Place& place, double days, int status = 200, bool conditional = false) const {
    const std::string url = world_->UrlOf(place);
    const std::string host = world_->HostName(place.host);
    judge.OnHit({.unix_ns = At(days),
                 .end_ns = At(days) + 1,
                 .connection = 1,
                 .address = "127.1.0.1",
                 .host = host,
                 .tls = world_->HostIsTls(place.host),
                 .conditional = conditional,
                 .method = "GET",
                 .path_and_query = std::string_view(url).substr(world_->Origin(place.host).size()),
                 .status = status});
  }
  Place Find(const std::function<bool(const Place&)>& good) const {
    for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
      if (good(world_->FromDense(page))) return world_->FromDense(page);
    }
    ADD_FAILURE() << "no such page";
    return {};
  }

  std::unique_ptr<World> world_;
};

TEST_F(JudgeFreshnessTest, FreshnessIsWeightedByImportance) {
  world_ = Make({"change_days=3"});
  Judge judge(*world_, {});
  const auto changes = [&](bool wanted) {
    return Find([&](const Place& place) {
      return (world_->Version(place, At(10)) != world_->Version(place, At(12))) == wanted;
    });
  };
  const Place fresh = changes(false);
  const Place stale = changes(true);
  Ask(judge, fresh, 10);
  Ask(judge, stale, 10);
  const Freshness result = judge.MeasureFreshness(At(12));
  EXPECT_EQ(result.copies, 2U);
  EXPECT_EQ(result.fresh, 1U);
  const double sum = world_->Importance(fresh) + world_->Importance(stale);
  EXPECT_DOUBLE_EQ(result.WeightedShare(), world_->Importance(fresh) / sum);
  EXPECT_GT(result.mean_age_s, 0);
}

TEST_F(JudgeFreshnessTest, ChangesAroundTheTextDoNotCount) {
  world_ = Make({"change_days=0", "boilerplate=1", "boilerplate_days=0.1"});
  Judge judge(*world_, {});
  const Place place = world_->FromDense(0);
  ASSERT_NE(world_->BytesVersion(place, At(10)), world_->BytesVersion(place, At(20)));
  Ask(judge, place, 10);
  EXPECT_EQ(judge.MeasureFreshness(At(20)).fresh, 1U);
}

TEST_F(JudgeFreshnessTest, ADeadPageIsStaleUntilItIsAskedForAgain) {
  world_ = Make({"change_days=0", "dying=0.9", "life_days=5"});
  Judge judge(*world_, {});
  const Place place =
      Find([&](const Place& one) { return world_->DeathNs(one) > At(1) && world_->DeathNs(one) < At(9); });
  Ask(judge, place, 1);
  const Freshness dead = judge.MeasureFreshness(At(10));
  EXPECT_EQ(dead.copies, 1U);
  EXPECT_EQ(dead.fresh, 0U);
  EXPECT_NEAR(dead.mean_age_s, static_cast<double>(At(10) - world_->DeathNs(place)) * 1e-9, 1);
  Ask(judge, place, 10, 410);
  EXPECT_EQ(judge.MeasureFreshness(At(11)).copies, 0U) << "it is known to be gone";
}

TEST_F(JudgeFreshnessTest, Only304sThatAreTrueRenewACopy) {
  world_ = Make({"change_days=3", "unasked_304=0.5"});
  Judge judge(*world_, {});
  const Place place = Find([&](const Place& one) {
    return !world_->AnswersUnasked(one) && world_->Version(one, At(10)) == world_->Version(one, At(11)) &&
           world_->Version(one, At(11)) != world_->Version(one, At(13));
  });
  Ask(judge, place, 10);
  Ask(judge, place, 11, 304, true);
  EXPECT_EQ(judge.pages().had_ns(world_->DenseNumber(place.host, place.number)), At(11));
  Ask(judge, place, 13, 304, true);
  EXPECT_EQ(judge.pages().had_ns(world_->DenseNumber(place.host, place.number)), At(11)) << "the page has changed";
  EXPECT_EQ(judge.MeasureFreshness(At(13)).fresh, 0U);
  Ask(judge, Find([&](const Place& one) { return world_->AnswersUnasked(one); }), 13, 304);
  EXPECT_EQ(judge.MeasureFreshness(At(13)).copies, 1U);
  EXPECT_EQ(judge.account().conditional, 2U);
  EXPECT_EQ(judge.account().not_modified, 2U);
}

TEST_F(JudgeFreshnessTest, DiscoveryCountsFromBirthAndThoseNotFound) {
  world_ = Make({"pages=400", "born=0.5", "born_days=10"});
  Judge judge(*world_, {});
  Ask(judge, world_->FromDense(0), 2);
  uint64_t born = 0;
  for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
    const Place place = world_->FromDense(page);
    const int64_t birth = world_->BirthNs(place);
    if (birth <= At(2) || birth > At(8)) continue;
    const double days = static_cast<double>(birth - At(0)) / static_cast<double>(kDay);
    if (++born % 4 != 0) Ask(judge, place, days + 0.5);
  }
  const Account account = judge.Finish(At(9));
  EXPECT_GT(account.discovery.found, 50U);
  EXPECT_GT(account.discovery.born, account.discovery.found) << "of days 8 and 9, and one in four";
  EXPECT_NEAR(account.discovery.median_s, 43'200, 2);
  EXPECT_EQ(account.discovery.p90_s, -1) << "one in ten was not found";
  const auto json = nlohmann::json::parse(AccountJson(account));
  EXPECT_EQ(json["discovery"]["found"], account.discovery.found);
  EXPECT_NE(AccountTable(account).find("born since, found"), std::string::npos);
}

TEST_F(JudgeFreshnessTest, TheMeanIsOverTheSamplesOfATime) {
  Account account;
  account.freshness = {{.unix_ns = 1, .weight = 1, .fresh_weight = 0},
                       {.unix_ns = 2, .weight = 2, .fresh_weight = 1},
                       {.unix_ns = 3, .weight = 1, .fresh_weight = 1}};
  EXPECT_DOUBLE_EQ(MeanWeightedFreshness(account, 0), 0.5);
  EXPECT_DOUBLE_EQ(MeanWeightedFreshness(account, 2), 0.75);
  EXPECT_EQ(MeanWeightedFreshness(account, 4), 0);
}

}  // namespace
}  // namespace portolan::sim
