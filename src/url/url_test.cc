#include "url/url.h"

#include <gtest/gtest.h>

#include <string>

#include "url/parser.h"

namespace portolan {
namespace {

UrlStatus StatusOf(std::string_view input) {
  Url url;
  const UrlStatus status = url.Assign(input);
  EXPECT_TRUE(url.CheckOffsets());
  EXPECT_EQ(status == UrlStatus::kOk, !url.empty());
  return status;
}

std::string Resolved(std::string_view input, std::string_view base) {
  const auto parsed_base = Url::Parse(base);
  if (!parsed_base) return "no base";
  const auto url = Url::Parse(input, &*parsed_base);
  if (!url) return "fails";
  EXPECT_TRUE(url->CheckOffsets());
  return std::string(url->href());
}

TEST(UrlTest, EveryComponentOfTheDrawing) {
  const auto url = Url::Parse("https://user:pass@example.com:1234/foo/bar?baz#quux");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme(), "https");
  EXPECT_EQ(url->protocol(), "https:");
  EXPECT_EQ(url->username(), "user");
  EXPECT_EQ(url->password(), "pass");
  EXPECT_EQ(url->hostname(), "example.com");
  EXPECT_EQ(url->host(), "example.com:1234");
  EXPECT_EQ(url->port_text(), "1234");
  EXPECT_EQ(url->port(), 1234U);
  EXPECT_EQ(url->path(), "/foo/bar");
  EXPECT_EQ(url->query(), "baz");
  EXPECT_EQ(url->search(), "?baz");
  EXPECT_EQ(url->fragment(), "quux");
  EXPECT_EQ(url->hash(), "#quux");
  EXPECT_EQ(url->path_and_query(), "/foo/bar?baz");
  EXPECT_EQ(url->scheme_kind(), UrlScheme::kHttps);
  EXPECT_EQ(url->host_kind(), HostKind::kDomain);
  EXPECT_TRUE(url->CheckOffsets());
}

TEST(UrlTest, EmptyComponentsThatAreThereDifferFromMissingOnes) {
  const auto with = Url::Parse("http://a/?#");
  const auto without = Url::Parse("http://a/");
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->href(), "http://a/?#");
  EXPECT_TRUE(with->has_query() && with->has_fragment());
  EXPECT_FALSE(without->has_query() || without->has_fragment());
  EXPECT_EQ(with->query(), without->query());
  EXPECT_EQ(with->search(), "");
}

TEST(UrlTest, FailuresAreNamed) {
  EXPECT_EQ(StatusOf("relative"), UrlStatus::kNoScheme);
  EXPECT_EQ(StatusOf(""), UrlStatus::kNoScheme);
  EXPECT_EQ(StatusOf("http://"), UrlStatus::kHostMissing);
  EXPECT_EQ(StatusOf("http://user@/"), UrlStatus::kHostMissing);
  EXPECT_EQ(StatusOf("http://a b/"), UrlStatus::kHostForbidden);
  EXPECT_EQ(StatusOf("http://a%00b/"), UrlStatus::kHostForbidden);
  EXPECT_EQ(StatusOf("http://\xef\xbf\xbd/"), UrlStatus::kHostIdna);
  EXPECT_EQ(StatusOf("http://\xc2\xad/"), UrlStatus::kHostIdna);  // a soft hyphen and nothing else
  EXPECT_EQ(StatusOf("http://%ff/"), UrlStatus::kHostIdna);
  EXPECT_EQ(StatusOf("http://1.2.3.256/"), UrlStatus::kHostIpv4);
  EXPECT_EQ(StatusOf("http://[::1/"), UrlStatus::kHostIpv6);
  EXPECT_EQ(StatusOf("http://a:65536/"), UrlStatus::kPortInvalid);
  EXPECT_EQ(StatusOf("http://a:8x/"), UrlStatus::kPortInvalid);
}

TEST(UrlTest, BoundsAreNamedToo) {
  EXPECT_EQ(StatusOf("http://a/" + std::string(Url::kMaxInput, 'b')), UrlStatus::kTooLong);
  EXPECT_EQ(StatusOf("http://\xc3\xa9" + std::string(Url::kMaxIdnaHost, 'b') + "/"), UrlStatus::kTooLong);
  EXPECT_EQ(StatusOf("http://" + std::string(Url::kMaxIdnaHost * 2, 'b') + "/"), UrlStatus::kOk);
}

TEST(UrlTest, LongInputsTakeLinearTime) {
  // Each of these once made some URL parser quadratic; a quadratic one would need hours here.
  const std::string dots = [] {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += "a/../";
    return text;
  }();
  EXPECT_EQ(StatusOf("http://h/" + dots), UrlStatus::kOk);
  EXPECT_EQ(StatusOf("http://" + std::string(4'000'000, '@') + "h/"), UrlStatus::kOk);
  EXPECT_EQ(StatusOf("http://h/" + std::string(4'000'000, '%')), UrlStatus::kOk);
  EXPECT_EQ(StatusOf("http:" + std::string(4'000'000, '/') + "h"), UrlStatus::kOk);
  EXPECT_EQ(StatusOf("x:" + std::string(4'000'000, ' ') + "y"), UrlStatus::kOk);
  EXPECT_EQ(StatusOf("http://" + std::string(4'000'000, '1')), UrlStatus::kHostIpv4);
}

TEST(UrlTest, BrokenUtf8BecomesReplacementCharacters) {
  const auto path_of = [](std::string_view path) {
    const auto url = Url::Parse("http://a/" + std::string(path));
    return url ? std::string(url->path()) : "fails";
  };
  EXPECT_EQ(path_of("\xff"), "/%EF%BF%BD");
  EXPECT_EQ(path_of("\x80\x80"), "/%EF%BF%BD%EF%BF%BD");
  EXPECT_EQ(path_of("\xe2\x82"), "/%EF%BF%BD");  // a sequence cut short is one
  EXPECT_EQ(path_of("\xe2\x82x"), "/%EF%BF%BDx");
  EXPECT_EQ(path_of("\xf0\x9f\x92"), "/%EF%BF%BD");
  EXPECT_EQ(path_of("\xe0\x80\x80"), "/%EF%BF%BD%EF%BF%BD%EF%BF%BD");  // overlong: no byte of it begins anything
  EXPECT_EQ(path_of("\xed\xa0\x80"), "/%EF%BF%BD%EF%BF%BD%EF%BF%BD");  // a surrogate
  EXPECT_EQ(path_of("\xf4\x90\x80\x80"), "/%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD");
  EXPECT_EQ(path_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9"), "/%C3%A9%E2%82%AC%F0%9F%92%A9");
}

TEST(UrlTest, RelativeReferencesOfRfc3986) {
  // Section 5.4, on http://a/b/c/d;p?q; "http:g" resolves as for browsers.
  const std::pair<const char*, const char*> cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/../x", "http://a/b/c/g#s/../x"},
      {"http:g", "http://a/b/c/g"},
  };
  for (const auto& [input, expected] : cases) EXPECT_EQ(Resolved(input, "http://a/b/c/d;p?q"), expected) << input;
}

TEST(UrlTest, PathThatLooksLikeAnAuthorityIsKeptApart) {
  const auto url = Url::Parse("web+demo:/.//not-a-host/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->href(), "web+demo:/.//not-a-host/");
  EXPECT_EQ(url->path(), "//not-a-host/");
  EXPECT_FALSE(url->has_authority());
  EXPECT_EQ(Resolved("x", "web+demo:/.//not-a-host/"), "web+demo:/.//not-a-host/x");
  EXPECT_EQ(Resolved("?q", "web+demo:/.//not-a-host/"), "web+demo:/.//not-a-host/?q");
  EXPECT_EQ(Resolved("#f", "web+demo:/.//not-a-host/"), "web+demo:/.//not-a-host/#f");
  EXPECT_EQ(Resolved("../../x", "web+demo:/.//not-a-host/"), "web+demo:/x");
}

TEST(UrlTest, FragmentCanBeLeftOut) {
  Url url;
  EXPECT_EQ(url.AssignWithoutFragment("http://a/b?c#d"), UrlStatus::kOk);
  EXPECT_EQ(url.href(), "http://a/b?c");
  const Url base = url;
  EXPECT_EQ(url.AssignWithoutFragment("#\x01 \xff", &base), UrlStatus::kOk);
  EXPECT_EQ(url.href(), "http://a/b?c");
  EXPECT_TRUE(url.CheckOffsets());
}

TEST(UrlTest, AnObjectUsedAgainForgetsWhatItHeld) {
  Url url;
  ASSERT_EQ(url.Assign("http://u:p@a:81/b?c#d"), UrlStatus::kOk);
  ASSERT_EQ(url.Assign("mailto:x"), UrlStatus::kOk);
  EXPECT_TRUE(url.IdenticalTo(*Url::Parse("mailto:x")));
  ASSERT_EQ(url.Assign("http://["), UrlStatus::kHostIpv6);
  EXPECT_TRUE(url.IdenticalTo(Url()));
  EXPECT_EQ(url.href(), "");
  EXPECT_EQ(url.protocol(), "");
}

TEST(UrlTest, CopiesAndMovesStandAlone) {
  Url a = *Url::Parse("http://a/1");
  Url b = a;
  ASSERT_EQ(a.Assign("http://other/22"), UrlStatus::kOk);
  EXPECT_EQ(b.href(), "http://a/1");
  const Url c = std::move(b);
  EXPECT_TRUE(b.IdenticalTo(Url()));  // NOLINT: a moved-from URL is empty
  EXPECT_EQ(c.href(), "http://a/1");
  EXPECT_EQ(c.hostname(), "a");
  EXPECT_TRUE(c.CheckOffsets());
}

TEST(UrlTest, PortsAreKnownBesideTheirText) {
  EXPECT_EQ(Url::Parse("http://a/")->effective_port(), 80U);
  EXPECT_EQ(Url::Parse("https://a:443/")->port(), Url::kNoPort);
  EXPECT_EQ(Url::Parse("https://a:0443/")->href(), "https://a/");
  EXPECT_EQ(Url::Parse("https://a:80/")->effective_port(), 80U);
  EXPECT_EQ(Url::Parse("http://a:0/")->port_text(), "0");
  EXPECT_EQ(Url::Parse("foo://a/")->effective_port(), Url::kNoPort);
}

TEST(UrlTest, StatusNamesAreDistinct) {
  EXPECT_EQ(UrlStatusName(UrlStatus::kOk), "ok");
  EXPECT_EQ(UrlStatusName(UrlStatus::kHostIdna), "host-idna");
  EXPECT_EQ(UrlStatusName(UrlStatus::kTooLong), "too-long");
}

}  // namespace
}  // namespace portolan
