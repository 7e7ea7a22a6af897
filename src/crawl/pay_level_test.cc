#include "crawl/pay_level.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace portolan {
namespace {

TEST(PayLevelDomainsTest, HostsOfADomainShareItsKey) {
  auto domains = PayLevelDomains::Create(HashKey::Known());
  ASSERT_TRUE(domains.has_value());
  const auto key = [&](std::string_view host) {
    return domains->Key("http://" + std::string(host) + ":81/a", Hash64(host));
  };
  EXPECT_EQ(key("a.example.co.uk"), key("b.c.example.co.uk"));
  EXPECT_NE(key("a.example.co.uk"), key("a.other.co.uk"));
  EXPECT_NE(key("alice.github.io"), key("bob.github.io"));
  EXPECT_EQ(domains->Find("http://b.c.example.co.uk/", Hash64("b.c.example.co.uk")).name_size, 13U);
  EXPECT_EQ(domains->Name("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(domains->Name("[2001:db8::1]"), "[2001:db8::1]");
  EXPECT_EQ(domains->Name("com"), "com");
}

TEST(PayLevelDomainsTest, ForgettingChangesNoAnswer) {
  auto domains = PayLevelDomains::Create(HashKey::Known());
  ASSERT_TRUE(domains.has_value());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 30'000; ++i) {
      const std::string domain = "d" + std::to_string(i % 10'000) + ".test";
      const std::string host = "h" + std::to_string(i) + "." + domain;
      ASSERT_EQ(domains->Key("http://" + host + "/", Hash64(host)), Hash64(domain));
    }
  }
}

}  // namespace
}  // namespace portolan
