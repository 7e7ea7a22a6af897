#include "fetch/seed_hosts.h"

#include <gtest/gtest.h>

#include <vector>

namespace portolan {
namespace {

SeedHosts Of(const std::vector<std::string>& seeds) { return SeedHosts::Create(seeds).value(); }

TEST(SeedHostsTest, OriginDomainAndOthersAreToldApart) {
  const SeedHosts hosts = Of({"https://www.example.co.uk/start"});
  EXPECT_EQ(hosts.Of("https://www.example.co.uk/"), Audience::kOrigin);
  EXPECT_EQ(hosts.Of("https://www.example.co.uk:8443/"), Audience::kDomain);
  EXPECT_EQ(hosts.Of("https://shop.example.co.uk/"), Audience::kDomain);
  EXPECT_EQ(hosts.Of("https://other.co.uk/"), Audience::kAnyone);
  EXPECT_EQ(hosts.Of("https://example.co.uk.evil.org/"), Audience::kAnyone);
  EXPECT_EQ(hosts.Of("https://notexample.co.uk/"), Audience::kAnyone);
}

TEST(SeedHostsTest, NothingOfAnEncryptedSeedGoesOutInTheClear) {
  const SeedHosts hosts = Of({"https://www.example.org/"});
  EXPECT_EQ(hosts.Of("http://www.example.org/"), Audience::kAnyone);
  EXPECT_EQ(hosts.Of("http://shop.example.org/"), Audience::kAnyone);
}

TEST(SeedHostsTest, PlainSeedIsFollowedToItsEncryptedSelf) {
  const SeedHosts hosts = Of({"http://www.example.org/", "http://other.test:8080/"});
  EXPECT_EQ(hosts.Of("http://www.example.org/a"), Audience::kOrigin);
  EXPECT_EQ(hosts.Of("https://www.example.org/a"), Audience::kOrigin);
  EXPECT_EQ(hosts.Of("http://shop.example.org/"), Audience::kDomain);
  EXPECT_EQ(hosts.Of("https://other.test/"), Audience::kDomain) << "who listens there is not known";
  EXPECT_EQ(hosts.Of("http://other.test:8080/x"), Audience::kOrigin);
}

TEST(SeedHostsTest, NeighboursOnASharedSuffixAndAddressesAreStrangers) {
  const SeedHosts hosts = Of({"https://alice.github.io/", "http://127.0.0.1:8080/", "http://[::1]/"});
  EXPECT_EQ(hosts.Of("https://bob.github.io/"), Audience::kAnyone);
  EXPECT_EQ(hosts.Of("http://127.0.0.1:8080/"), Audience::kOrigin);
  EXPECT_EQ(hosts.Of("http://127.0.0.1:8081/"), Audience::kDomain);
  EXPECT_EQ(hosts.Of("http://126.0.0.1:8080/"), Audience::kAnyone);
  EXPECT_EQ(hosts.Of("http://[::1]/x"), Audience::kOrigin);
  EXPECT_EQ(hosts.Of("http://[::2]/x"), Audience::kAnyone);
}

}  // namespace
}  // namespace portolan
