#include "serve/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace portolan {
namespace {

TEST(ListenAddressTest, TakesAddressesOfThisMachineOnly) {
  const auto v4 = ListenAddress::Parse("127.0.0.1:8017").value();
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, 8017);
  EXPECT_EQ(ListenAddress::Parse("localhost:0").value().host, "127.0.0.1");
  EXPECT_EQ(ListenAddress::Parse("[::1]:1").value().UrlHost(), "[::1]");
  EXPECT_EQ(ListenAddress::Parse("127.1.2.3:1").value().UrlHost(), "127.1.2.3");
  for (const char* other : {"0.0.0.0:1", "[::]:1", "192.168.0.1:1", "8.8.8.8:1", "[2001:db8::1]:1"}) {
    const auto address = ListenAddress::Parse(other);
    ASSERT_FALSE(address) << other;
    EXPECT_THAT(address.error().message(), testing::HasSubstr("no access control")) << other;
  }
  for (const char* wrong : {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80",
                            "[::1]", "[127.0.0.1]:80", "example.org:80", "127.0.0.1:-1", "[:80"}) {
    EXPECT_FALSE(ListenAddress::Parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace portolan
