#include "crawl/seed_names.h"

#include <gtest/gtest.h>

#include <string>

namespace portolan {
namespace {

SeedNames NamesOf(ScopeMode mode, std::initializer_list<std::string_view> seeds) {
  SeedNames names = SeedNames::Create(mode, HashKey({1, 2, 3, 4})).value();
  for (const std::string_view seed : seeds) names.Add(seed);
  names.Finish();
  return names;
}

TEST(SeedNamesTest, DomainsAndHosts) {
  const SeedNames domains = NamesOf(ScopeMode::kDomain, {"https://www.example.co.uk:81/a", "http://192.0.2.1/"});
  EXPECT_TRUE(domains.Has("example.co.uk") && domains.Has("192.0.2.1"));
  EXPECT_FALSE(domains.Has("www.example.co.uk") || domains.Has("co.uk"));
  const SeedNames hosts = NamesOf(ScopeMode::kHost, {"https://www.example.co.uk:81/a"});
  EXPECT_TRUE(hosts.Has("www.example.co.uk"));
  EXPECT_FALSE(hosts.Has("example.co.uk"));
}

TEST(SeedNamesTest, DirectoriesGoToTheLastSlashBeforeTheQuery) {
  const SeedNames names = NamesOf(ScopeMode::kPrefix, {"https://a.example/b/c/d?e=/f/", "https://z.example/"});
  EXPECT_TRUE(names.HasDirectoryOf("https://a.example/b/c/"));
  EXPECT_TRUE(names.HasDirectoryOf("https://a.example/b/c/x/y/z?q"));
  EXPECT_FALSE(names.HasDirectoryOf("https://a.example/b/x"));
  EXPECT_FALSE(names.HasDirectoryOf("https://a.example/b/c"));
  EXPECT_FALSE(names.HasDirectoryOf("https://other.example/?https://a.example/b/c/"));
  EXPECT_TRUE(names.HasDirectoryOf("https://z.example/anything"));
  EXPECT_TRUE(names.HasDirectoryOf("https://z.example/" + std::string(100'000, '/')));
}

TEST(SeedNamesTest, NamesThatAreSharedAreThereOnce) {
  SeedNames names = SeedNames::Create(ScopeMode::kHost, HashKey::Known()).value();
  size_t most = 0;
  for (int i = 0; i < 200'000; ++i) {
    names.Add("http://h" + std::to_string(i % 5000) + ".example/" + std::to_string(i));
    most = std::max(most, names.size());
  }
  names.Finish();
  EXPECT_EQ(names.size(), 5000U);
  EXPECT_LE(most, 10'000U);
}

}  // namespace
}  // namespace portolan
