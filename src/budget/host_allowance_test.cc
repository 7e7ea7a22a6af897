#include "budget/host_allowance.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

TEST(HostAllowanceTest, PricesGoByTheOrderInWhichHostsCame) {
  MemEnv env;
  const Manifest manifest = Manifest::Open(env, "store").value();
  auto allowance = HostAllowance::Open(env, manifest, {.base = 4, .per_budget = 1}).value();
  std::map<uint64_t, std::map<uint64_t, uint64_t>> model;  // pld, host: its number
  Rng rng(6);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t pld = Hash64(fmt::format("d{}", rng.Below(10)));
    const uint64_t host = Hash64(fmt::format("h{}", rng.Below(200)), pld);
    const auto budget = static_cast<uint32_t>(rng.Below(20));
    auto& hosts = model[pld];
    const uint64_t number = hosts.try_emplace(host, hosts.size()).first->second;
    ASSERT_EQ(allowance->Price(pld, host, budget), std::min<uint64_t>(16, 1 + number / (4 + budget)));
    ASSERT_EQ(allowance->Hosts(pld), hosts.size());
  }
}

TEST(HostAllowanceTest, AFarmGetsDearAndItsNeighbourDoesNot) {
  MemEnv env;
  auto manifest = Manifest::Open(env, "store").value();
  auto allowance = HostAllowance::Open(env, manifest, {.memory = 64 << 10}).value();
  const uint64_t farm = Hash64("farm.example");
  const uint64_t shop = Hash64("shop.example");
  uint32_t last = 1;
  for (uint64_t i = 0; i < 100'000; ++i) {  // many times what the table holds
    last = allowance->Price(farm, Mix64(i), 10);
    ASSERT_LE(last, HostAllowance::kMaxPrice);
    if (i % 10 == 0) {
      ASSERT_EQ(allowance->Price(shop, Mix64(~(i % 3)), 10), 1U) << i;
    }
  }
  EXPECT_EQ(last, 16U);
  EXPECT_EQ(allowance->Price(farm, Mix64(99'999), 10'000'000), 1U) << "a domain that earned its hosts";

  ASSERT_TRUE(manifest.Commit(allowance->Checkpointables()));
  manifest = Manifest::Open(env, "store").value();
  allowance = HostAllowance::Open(env, manifest, {.memory = 64 << 10}).value();
  EXPECT_EQ(allowance->Price(farm, Mix64(99'999), 10), 16U);
  EXPECT_EQ(allowance->Hosts(shop), 3U);
}

}  // namespace
}  // namespace portolan
