#include "url/domain.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace portolan {
namespace {

using Json = nlohmann::json;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string PayLevelDomain(std::string_view text, SuffixChoice choice) {
  static const auto suffixes = PublicSuffixes::Builtin();
  const auto url = Url::Parse(text);
  EXPECT_TRUE(url) << text;
  return url ? std::string(suffixes->PayLevelDomain(*url, choice)) : "";
}

TEST(DomainTest, PayLevelDomainIsWhatSomebodyRegistered) {
  EXPECT_EQ(PayLevelDomain("http://a.b.example.co.uk/", SuffixChoice::kIcannAndPrivate), "example.co.uk");
  EXPECT_EQ(PayLevelDomain("http://example.com./", SuffixChoice::kIcannAndPrivate), "example.com");
  EXPECT_EQ(PayLevelDomain("http://www.\xe9\xa3\x9f\xe7\x8b\xae.com.cn/", SuffixChoice::kIcann), "xn--85x722f.com.cn");
}

TEST(DomainTest, PrivateSuffixesAreAChoice) {
  EXPECT_EQ(PayLevelDomain("http://x.alice.github.io/", SuffixChoice::kIcannAndPrivate), "alice.github.io");
  EXPECT_EQ(PayLevelDomain("http://x.alice.github.io/", SuffixChoice::kIcann), "github.io");
}

TEST(DomainTest, HostsWithoutADomainAreTheirOwn) {
  for (const auto choice : {SuffixChoice::kIcann, SuffixChoice::kIcannAndPrivate}) {
    EXPECT_EQ(PayLevelDomain("http://1.2.3.4/", choice), "1.2.3.4");
    EXPECT_EQ(PayLevelDomain("http://[::1]:80/", choice), "[::1]");
    EXPECT_EQ(PayLevelDomain("http://com/", choice), "com");
    EXPECT_EQ(PayLevelDomain("http://co.uk./", choice), "co.uk");
    EXPECT_EQ(PayLevelDomain("http://localhost/", choice), "localhost");
    EXPECT_EQ(PayLevelDomain("http://.a.com/", choice), ".a.com");
  }
  EXPECT_EQ(PayLevelDomain("http://" + std::string(300, 'a') + ".com/", SuffixChoice::kIcann),
            std::string(300, 'a') + ".com");
}

TEST(DomainTest, AListThatIsNoneIsRefused) {
  EXPECT_FALSE(PublicSuffixes::FromText(""));
  EXPECT_FALSE(PublicSuffixes::FromText("// nothing but a comment\n"));
}

// The facts' hosts as the URL parser would hand them over: ASCII, lower case. Empty where it would not.
std::string HostOf(const Json& host) {
  if (!host.is_string()) return "";
  const auto url = Url::Parse("http://" + host.get<std::string>() + "/");
  return url ? std::string(url->hostname()) : "";
}

// An expected domain may be written in Unicode.
std::string AsciiOf(const Json& domain) { return domain.is_null() ? "" : HostOf(domain); }

class ListTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string list = Read("../shared/data/psl/public_suffix_list.dat");
    if (list.empty()) GTEST_SKIP() << "no ../shared/data/psl";
    auto suffixes = PublicSuffixes::FromText(list);
    ASSERT_TRUE(suffixes) << suffixes.error().ToString();
    suffixes_.emplace(*std::move(suffixes));
  }
  std::optional<PublicSuffixes> suffixes_;
};

TEST_F(ListTest, PublicSuffixListsOwnFacts) {
  const Json facts = Json::parse(Read("../shared/data/psl/psl_facts.json"))["facts"];
  int passed = 0;
  for (const Json& fact : facts) {
    const std::string host = HostOf(fact["host"]);
    const std::string got(suffixes_->RegistrableDomain(host, SuffixChoice::kIcannAndPrivate));
    const std::string expected = AsciiOf(fact["registrable_domain"]);
    passed += got == expected;
    EXPECT_EQ(got, expected) << fact.dump();
  }
  std::printf("conformance psl %d/%zu\n", passed, facts.size());
  EXPECT_EQ(facts.size(), 78U);
}

// crawler-commons answers three questions, each with its own idea of what to do where there is no domain.
std::string Answer(const PublicSuffixes& suffixes, const Json& fact) {
  const auto function = fact["fn"].get<std::string>();
  std::string host = HostOf(fact["host"]);
  if (host.empty()) host = fact["host"].get<std::string>();  // hosts that the URL parser refuses
  if (function.starts_with("getEffectiveTLD")) {
    return std::string(suffixes.PublicSuffix(host, SuffixChoice::kIcannAndPrivate));
  }
  if (function == "getPLD") {
    const auto url = Url::Parse("http://" + host + "/");
    return url ? std::string(suffixes.PayLevelDomain(*url, SuffixChoice::kIcann)) : "";
  }
  const bool icann = fact.value("exclude_private", Json()) == true;
  const std::string domain(
      suffixes.RegistrableDomain(host, icann ? SuffixChoice::kIcann : SuffixChoice::kIcannAndPrivate));
  const bool lenient = function == "getAssignedDomain" && fact.value("strict", Json()).is_null();
  return domain.empty() && lenient ? host : domain;
}

TEST_F(ListTest, CrawlerCommonsFacts) {
  const Json facts = Json::parse(Read("../shared/data/psl/crawler_commons_domain_facts.json"))["facts"];
  int passed = 0;
  int departures = 0;
  for (const Json& fact : facts) {
    const auto host = fact["host"].get<std::string>();
    const std::string got = Answer(*suffixes_, fact);
    // Facts that contradict the list's algorithm; here it is the algorithm that must be met.
    if (fact["fn"] == "getEffectiveTLD(public suffix)" && host == "www.city.kawasaki.jp") {
      // An exception rule names the domain; the suffix is the rule without its first label.
      EXPECT_EQ(got, "kawasaki.jp");
      ++departures;
      continue;
    }
    if (host.ends_with("example.local")) {
      // No rule for "local", so "*" prevails, as it does in the same facts for "example.example".
      EXPECT_EQ(got, "example.local");
      ++departures;
      continue;
    }
    const std::string expected = AsciiOf(fact["expected"]);
    passed += got == expected;
    EXPECT_EQ(got, expected) << fact.dump();
  }
  std::printf("conformance psl-crawler-commons %d/%zu\n", passed, facts.size() - static_cast<size_t>(departures));
  EXPECT_EQ(departures, 4);
  EXPECT_EQ(facts.size(), 152U);
}

}  // namespace
}  // namespace portolan
