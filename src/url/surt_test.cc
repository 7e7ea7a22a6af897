#include "url/surt.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace portolan {
namespace {

TEST(SurtTest, KeysOfCdxFiles) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://www.archive.org/", "org,archive)/"},
      {"https://user:pw@WWW12.Archive.org:443/Goo/", "org,archive)/goo"},
      {"http://some.example.com:8080/", "com,example,some:8080)/"},
      {"http://a.b/goo/?", "b,a)/goo"},
      {"http://a.b/goo/?a=2&b&a=1", "b,a)/goo?a=1&a=2&b"},
      {"http://a.b/?a-b=1&a=2", "b,a)/?a=2&a-b=1"},
      {"http://a.b//two///slashes//", "b,a)/two/slashes"},
      {"http://a.b/x;jsessionid=1/y?PHPSESSID=2", "b,a)/x/y"},
      {"http://a.b/%2525252541", "b,a)/a"},
      {"http://a.b/%C3%A9%20%23", "b,a)/%c3%a9%20%23"},
      {"http://a.b/x/%252e%252e/y", "b,a)/y"},
      {"http://a.b./", "b,a)/"},
      {"http://www.com/", "com)/"},
      {"http://www2foo.com/", "com,www2foo)/"},
      {"http://1.2.3.4/x", "4,3,2,1)/x"},
      {"http://[2001:db8::1]:81/", "[2001:db8::1]:81)/"},
      {"dns:archive.org", "dns:archive.org"},
      {"warcinfo:foo.warc.gz", "warcinfo:foo.warc.gz"},
      {"whois://whois.isoc.org.il/shaveh.co.il", "il,org,isoc,whois)/shaveh.co.il"},
      {"http://[broken one", "http://[broken%20one"},
      {"", "-"},
  };
  for (const auto& [url, key] : cases) EXPECT_EQ(SurtKey(url), key) << url;
}

TEST(SurtTest, AKeyIsOneWord) {
  for (const char* text : {"a b", "http://a/ b?c d", "x:a b", "data:a b ?c", "\n", "mailto:\x01 y"}) {
    EXPECT_EQ(SurtKey(text).find_first_of(" \n\t"), std::string::npos) << SurtKey(text);
  }
}

TEST(SurtTest, DecodingOftenEscapedTextTakesLinearTime) {
  std::string text = "http://a.b/%";
  for (int i = 0; i < 1'000'000; ++i) text += "25";
  EXPECT_EQ(SurtKey(text), "b,a)/%25");
}

TEST(SurtTest, FullFormLoosensNothing) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://user:pass@foo.example.org:81/Path?b&a#frag", "http://(org,example,foo,:81)/Path?b&a#frag"},
      {"https://www.example.org/", "https://(org,example,www,)/"},
      {"http://10.1.2.3:81/", "http://(10.1.2.3:81)/"},
      {"http://[::1]/", "http://([::1])/"},
      {"screenshot:http://example.com/", "screenshot:http://example.com/"},
  };
  for (const auto& [text, expected] : cases) {
    std::string surt;
    AppendSurt(*Url::Parse(text), surt);
    EXPECT_EQ(surt, expected);
  }
}

TEST(SurtTest, UrlcanonsKeysOfTheInternetArchive) {
  std::ifstream file("../shared/data/url/urlcanon/surt.json");
  if (!file) GTEST_SKIP() << "no ../shared/data/url";
  const auto tests = nlohmann::json::parse(file);
  int passed = 0;
  int total = 0;
  for (const auto& [url, key] : tests["defaultIASurt"].items()) {
    ++total;
    passed += SurtKey(url) == key.get<std::string>();
    EXPECT_EQ(SurtKey(url), key.get<std::string>()) << url;
  }
  std::printf("conformance surt-cdx-keys %d/%d\n", passed, total);
  EXPECT_GE(total, 15);
}

}  // namespace
}  // namespace portolan
