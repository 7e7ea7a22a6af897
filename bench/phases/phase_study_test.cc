#include "bench/phases/phase_study.h"

#include <gtest/gtest.h>

#include "sim/world/params.h"

namespace portolan::bench {
namespace {

StudyWeb SmallWeb() {
  sim::WorldParams params = sim::LoadProfile("web2007").value();
  for (const auto& [key, value] : {std::pair{"domains", "1000"}, {"pages", "20000"}, {"max_pages_per_host", "400"}}) {
    EXPECT_TRUE(sim::SetParam(params, key, value));
  }
  return StudyWeb::Read(*sim::World::Create(params, 1).value(), 20).value();
}

PhasePartition Phases(uint32_t nodes, uint32_t phases, int64_t period_s = 20) {
  return PhasePartition(
      {.nodes = nodes, .phases = phases, .period_ns = period_s * 1'000'000'000, .gap_ns = 1'000'000'000});
}

class PhaseStudyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { web_ = new StudyWeb(SmallWeb()); }
  static void TearDownTestSuite() { delete std::exchange(web_, nullptr); }

  static StudyWeb* web_;
};
StudyWeb* PhaseStudyTest::web_ = nullptr;

TEST_F(PhaseStudyTest, TheWebIsReadWhole) {
  uint64_t pages = 0;
  for (const StudyHost& host : web_->hosts) {
    EXPECT_EQ(host.first, pages);
    pages += host.pages;
  }
  EXPECT_EQ(pages, web_->pages.size());
  EXPECT_EQ(pages, 20'000U);
  EXPECT_GT(web_->links.size(), 10'000U);
}

// The thesis's figures 39 and 40: URLs are spread evenly, hosts are not, and the less so the more phases there are.
TEST_F(PhaseStudyTest, UrlsAreSpreadEvenlyAndPhasesAreNot) {
  for (const uint32_t parts : {4U, 10U}) {
    EXPECT_LT(PagesOverNodes(*web_, parts).hashed, 1.08);
    EXPECT_LT(PagesOverNodes(*web_, parts).sums, 1.1);
    EXPECT_GT(PagesOverPhases(*web_, parts).hashed, PagesOverNodes(*web_, parts).hashed);
    EXPECT_GT(PagesOverPhases(*web_, parts).sums, PagesOverNodes(*web_, parts).sums);
  }
  EXPECT_GT(PagesOverPhases(*web_, 40).hashed, PagesOverPhases(*web_, 4).hashed);
}

// The thesis's finding: as many phases as nodes are best.
TEST_F(PhaseStudyTest, AsManyPhasesAsNodesTakeTheLeastTime) {
  double before = 1;
  for (const uint32_t phases : {4U, 8U, 16U, 32U}) {
    const auto cost = CostOfPhases(*web_, Phases(4, phases), {});
    ASSERT_TRUE(cost) << cost.error().message();
    EXPECT_LT(cost->efficiency, before) << phases;
    before = cost->efficiency;
  }
}

TEST_F(PhaseStudyTest, DomainsKeepLinksAndHostsTogether) {
  const uint32_t nodes = 4;
  const DivisionCost domains = CostOfDomains(*web_, nodes, {});
  const DivisionCost phases = CostOfPhases(*web_, Phases(nodes, nodes), {}).value();
  EXPECT_NEAR(phases.crossing, 0.75, 0.05) << "many links have the same few targets";
  EXPECT_LT(domains.crossing, 0.3);
  EXPECT_EQ(domains.hosts_known, 0.25);
  EXPECT_GT(phases.hosts_known, 2 * domains.hosts_known);
  EXPECT_LE(phases.hosts_known, 1);
  EXPECT_LT(phases.node_balance, domains.node_balance);
  EXPECT_GT(phases.efficiency, 0);
  EXPECT_LE(phases.efficiency, 1);
  EXPECT_LE(domains.efficiency, 1);
}

// One node with one phase and no delay is busy until the end.
TEST_F(PhaseStudyTest, NothingIsLostWhereNothingIsDivided) {
  const StudySpeed speed{.pages_per_s = 10, .host_delay_s = 0};
  const PhasePartition one({.nodes = 1, .phases = 1, .period_ns = 60'000'000'000});
  EXPECT_NEAR(CostOfPhases(*web_, one, speed)->efficiency, 1, 1e-9);
  EXPECT_NEAR(CostOfDomains(*web_, 1, speed).efficiency, 1, 1e-9);
}

TEST_F(PhaseStudyTest, PeriodsThatAreTooShortAreAnError) {
  const PhasePartition partition({.nodes = 1, .phases = 1, .period_ns = 1000, .gap_ns = 999});
  EXPECT_FALSE(CostOfPhases(*web_, partition, {.pages_per_s = 1, .host_delay_s = 0}));
}

}  // namespace
}  // namespace portolan::bench
