#include "url/link.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/hash.h"
#include "io/rng.h"
#include "url/bad_port.h"
#include "url/fast_path.h"
#include "url/parser.h"

namespace portolan {
namespace {

using Row = std::pair<std::string, std::string>;  // base, href

Link Resolve(std::string_view href, std::string_view base, LinkOutcome expected, const LinkOptions& options = {}) {
  Link link;
  const auto parsed = Url::Parse(base);
  EXPECT_TRUE(parsed) << base;
  const LinkOutcome outcome = parsed ? ResolveLink(href, *parsed, options, link) : LinkOutcome::kInvalid;
  EXPECT_EQ(LinkOutcomeName(outcome), LinkOutcomeName(expected)) << href;
  return link;
}

TEST(LinkTest, CrawlableLinkHasCanonicalFormAndHashes) {
  const Link link = Resolve("../%7Eu/x?q=1#f", "https://Example.com/a/b/c", LinkOutcome::kCrawlable);
  EXPECT_EQ(link.url.href(), "https://example.com/a/~u/x?q=1");
  EXPECT_EQ(link.hash, Hash64("https://example.com/a/~u/x?q=1"));
  EXPECT_EQ(link.host_hash, Hash64("example.com"));
}

TEST(LinkTest, OtherSchemesAreNamedWhateverFollows) {
  for (const char* href : {"mailto:a@b", "javascript:void(0)", "JAVASCRIPT:x", " java\nscript:x", "data:text/html,<p>",
                           "ftp://[bad", "tel:+1", "httpx://a/", "file:///etc/passwd", "h:x"}) {
    Resolve(href, "http://a/b", LinkOutcome::kOtherScheme);
  }
  Resolve("x", "file:///a/b", LinkOutcome::kOtherScheme);
  Resolve("http:x", "http://a/b", LinkOutcome::kCrawlable);
  Resolve("a/b:c", "http://a/b", LinkOutcome::kCrawlable);
}

TEST(LinkTest, InvalidLinksSayWhy) {
  EXPECT_EQ(Resolve("http://[", "http://a/b", LinkOutcome::kInvalid).status, UrlStatus::kHostIpv6);
  EXPECT_EQ(Resolve("//a:b/", "http://a/b", LinkOutcome::kInvalid).status, UrlStatus::kPortInvalid);
  EXPECT_EQ(Resolve("x", "about:blank", LinkOutcome::kInvalid).status, UrlStatus::kNoScheme);
}

TEST(LinkTest, TooLongCountsTheCanonicalForm) {
  const std::string at_limit = "http://a/" + std::string(8000 - 9, 'x');
  Resolve(at_limit, "http://b/", LinkOutcome::kCrawlable);
  Resolve(at_limit + "#fragment", "http://b/", LinkOutcome::kCrawlable);
  Resolve(at_limit + "x", "http://b/", LinkOutcome::kTooLong);
  Resolve("http://a/" + std::string(3000, ' ') + "x", "http://b/", LinkOutcome::kTooLong);
}

TEST(LinkTest, PortsThatBrowsersRefuseAreNamed) {
  EXPECT_EQ(LinkOutcomeName(LinkOutcome::kBadPort), "bad-port");
  for (const char* href : {"http://a:25/", "https://a:22/x", "//a:6667/", "http://a:0/", "http://[::1]:0021/",
                           "HTTP://A:10080", "http://é:25/"}) {
    Resolve(href, "http://b/", LinkOutcome::kBadPort);
  }
  Resolve("x", "http://b:25/", LinkOutcome::kBadPort);
  for (const char* href : {"http://a:80/", "https://a:80/", "http://a:443/", "http://a:24/", "http://a:26/",
                           "http://a:8080/", "http://a:6664/", "http://a:6670/", "http://a:65535/", "//a"}) {
    Resolve(href, "http://b/", LinkOutcome::kCrawlable);
  }
}

TEST(LinkTest, HostsThatTheDnsCannotHoldAreNamed) {
  for (const std::string& host : {std::string(64, 'a') + ".com", std::string("a..b"), std::string(".a"),
                                  std::string("a.b.."), std::string(".")}) {
    Resolve("http://" + host + "/", "http://b/", LinkOutcome::kHostNotInDns);
  }
  for (const std::string& host :
       {std::string(63, 'a') + ".com", std::string("a."), std::string("a_b.c-d"), std::string("127.1"),
        std::string("[::1]"), std::string(62, 'a') + "." + std::string(63, 'b')}) {
    Resolve("http://" + host + "/", "http://b/", LinkOutcome::kCrawlable);
  }
}

TEST(LinkTest, AbsoluteTextNeedsNoBase) {
  Link link;
  EXPECT_EQ(ResolveAbsolute(" HTTP://a:80 ", {}, link), LinkOutcome::kCrawlable);
  EXPECT_EQ(link.url.href(), "http://a/");
  EXPECT_EQ(ResolveAbsolute("/path", {}, link), LinkOutcome::kInvalid);
  EXPECT_EQ(ResolveAbsolute("gopher://a/", {}, link), LinkOutcome::kOtherScheme);
}

// Latin-1 between < and >, which are no part of it.
class Latin1 : public QueryEncoder {
 public:
  uint32_t Encode(uint32_t code_point, std::string& bytes) override {
    if (!inside_) bytes += '<';
    inside_ = true;
    if (code_point > 0xff) return code_point;
    bytes += static_cast<char>(code_point);
    return 0;
  }
  void End(std::string& bytes) override {
    bytes += '>';
    inside_ = false;
    ++queries;
  }
  int queries = 0;

 private:
  bool inside_ = false;
};

TEST(LinkTest, QueryIsInTheEncodingOfItsPageAndNothingElseIs) {
  Latin1 latin1;
  const LinkOptions options{.rules = CanonicalRules::None(), .query_encoder = &latin1};
  const auto href = [&](std::string_view text, std::string_view base = "http://a/b?c") {
    return std::string(Resolve(text, base, LinkOutcome::kCrawlable, options).url.href());
  };
  EXPECT_EQ(href("/é?é' =é#é"), "http://a/%C3%A9?%3C%E9%27%20=%E9%3E#%C3%A9");
  EXPECT_EQ(href("http://é@é.x/?é"), "http://%C3%A9@xn--9ca.x/?%3C%E9%3E");
  EXPECT_EQ(href("?€&\xf0\x9f\x98\x80"), "http://a/b?%3C%26%238364%3B&%26%23128512%3B%3E");
  EXPECT_EQ(href("?\xff\xe2\x82x"), "http://a/b?%3C%26%2365533%3B%26%2365533%3Bx%3E");
  EXPECT_EQ(latin1.queries, 4);
  // Printable ASCII is the same in every encoding, so the encoder is not called.
  EXPECT_EQ(href("?a b'#é"), "http://a/b?a%20b%27#%C3%A9");
  EXPECT_EQ(href("é"), "http://a/%C3%A9");
  EXPECT_EQ(href("#x", "http://a/b?é"), "http://a/b?%C3%A9#x");
  EXPECT_EQ(latin1.queries, 4);
}

TEST(LinkTest, QueriesThatAreAlwaysUtf8) {
  Latin1 latin1;
  Url url;
  for (const std::string start : {"ws://a/?", "wss://a/?", "foo://a/?", "mailto:x?"}) {
    EXPECT_EQ(url.Assign(start + "é", nullptr, &latin1), UrlStatus::kOk);
    EXPECT_EQ(url.href(), start + "%C3%A9");
  }
  EXPECT_EQ(latin1.queries, 0);
  EXPECT_EQ(url.Assign("file:///x?é", nullptr, &latin1), UrlStatus::kOk);
  EXPECT_EQ(url.href(), "file:///x?%3C%E9%3E");
  EXPECT_EQ(url.Assign("https://a/?é", nullptr, nullptr), UrlStatus::kOk);
  EXPECT_EQ(url.href(), "https://a/?%C3%A9");
}

// What ResolveLink promises to be the same as, with the state machine and without the fast path.
LinkOutcome SlowResolve(std::string_view href, const Url& base, const LinkOptions& options, Link& link) {
  UrlParser parser(link.url, &base);
  link.status = parser.Run(href, true);
  if (link.status != UrlStatus::kOk) return LinkOutcome::kInvalid;
  if (!Canonicalize(link.url, options.rules)) return LinkOutcome::kOtherScheme;
  if (link.url.size() > options.max_length) return LinkOutcome::kTooLong;
  if (link.url.host_kind() == HostKind::kDomain && !FitsDns(link.url.hostname())) return LinkOutcome::kHostNotInDns;
  if (IsBadPort(link.url.port())) return LinkOutcome::kBadPort;
  link.hash = Hash64(link.url.href());
  link.host_hash = Hash64(link.url.hostname());
  return LinkOutcome::kCrawlable;
}

// Both ways, with and without the fragment. The text is copied to a heap buffer of its size for the sanitizers.
class Comparison {
 public:
  void Compare(std::string_view href_text, const Url& base) {
    const std::unique_ptr<char[]> exact(new char[href_text.size()]);
    std::copy(href_text.begin(), href_text.end(), exact.get());
    const std::string_view href(exact.get(), href_text.size());
    for (const bool with_fragment : {true, false}) {
      const UrlStatus slow = UrlParser(slow_.url, &base).Run(href, with_fragment);
      if (UrlFastPath::Resolve(href, &base, with_fragment, fast_.url)) {
        ++fast_answers_;
        ASSERT_EQ(slow, UrlStatus::kOk) << href << " on " << base.href() << " gives " << fast_.url.href();
        ASSERT_TRUE(fast_.url.IdenticalTo(slow_.url))
            << href << " on " << base.href() << ": " << fast_.url.href() << ", not " << slow_.url.href();
        ASSERT_TRUE(fast_.url.CheckOffsets()) << href << " on " << base.href();
      }
      ++answers_;
    }
    const LinkOutcome outcome = ResolveLink(href, base, options_, fast_);
    const LinkOutcome expected = SlowResolve(href, base, options_, slow_);
    if (outcome == LinkOutcome::kOtherScheme && expected == LinkOutcome::kInvalid) return;  // named before it is parsed
    ASSERT_EQ(outcome, expected) << href << " on " << base.href();
    if (outcome != LinkOutcome::kCrawlable) return;
    ASSERT_TRUE(fast_.url.IdenticalTo(slow_.url)) << href << " on " << base.href();
    ASSERT_EQ(fast_.hash, slow_.hash);
    ASSERT_EQ(fast_.host_hash, slow_.host_hash);
  }
  double FastShare() const { return static_cast<double>(fast_answers_) / static_cast<double>(answers_); }

 private:
  LinkOptions options_;
  Link fast_;
  Link slow_;
  size_t fast_answers_ = 0;
  size_t answers_ = 0;
};

std::vector<Row> RealHrefs() {
  std::vector<Row> rows;
  gzFile file = gzopen("../shared/data/urls/href_resolution.jsonl.gz", "rb");
  if (file == nullptr) return rows;
  std::string text;
  char block[1 << 16];
  for (int got = 0; (got = gzread(file, block, sizeof block)) > 0;) text.append(block, static_cast<size_t>(got));
  gzclose(file);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto row = nlohmann::json::parse(text.substr(at, end - at));
    rows.emplace_back(row[0].get<std::string>(), row[1].get<std::string>());
    at = end + 1;
  }
  return rows;
}

TEST(LinkTest, FastPathEqualsStateMachineOnRealLinks) {
  const auto rows = RealHrefs();
  if (rows.empty()) GTEST_SKIP() << "no ../shared/data/urls";
  Comparison comparison;
  Url base;
  for (const auto& [base_text, href] : rows) {
    if (base.href() != base_text) base.Assign(base_text);
    comparison.Compare(href, base);
    if (HasFatalFailure()) return;
  }
  // The fast path must also be the usual one.
  std::printf("fast path: %.1f %% of %zu links\n", 100 * comparison.FastShare(), rows.size());
  EXPECT_GT(comparison.FastShare(), 0.9);
}

std::string Mutated(std::string text, Rng& rng) {
  static const std::string_view kPieces[] = {
      "/",  "//", "\\",    ".",        "..",   "%2e",   "%2E",  "%",        ":",    "@",       "?", "#", " ",
      "\t", "\n", "http:", "https://", "a",    "A",     "0",    "1.",       "0x",   "[",       "]", "|", "^",
      "'",  "\"", "<",     "`",        "{",    "\x7f",  "\x01", "\xc3\xa9", "\xff", "xn--",    "-", "_", "~",
      "&",  ";",  "80",    ":80",      ":443", "file:", "/.",   "./",       "../",  "/%2e%2E/"};
  for (uint64_t edits = 1 + rng.Below(3); edits > 0; --edits) {
    const size_t at = rng.Below(text.size() + 1);
    const std::string_view piece = kPieces[rng.Below(std::size(kPieces))];
    switch (rng.Below(4)) {
      case 0:
        text.erase(at, 1 + rng.Below(3));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(rng.Below(256));
        break;
      default:
        text.insert(at, piece);
    }
  }
  return text;
}

TEST(LinkTest, FastPathEqualsStateMachineOnMutations) {
  std::vector<Row> rows = RealHrefs();
  rows.insert(rows.end(), {{"http://a/b", "https://a.b/c?d#e"},
                           {"https://a/", "x"},
                           {"http://a/b?c#d", ""},
                           {"http://u:p@a:81/b/", "//h/x"},
                           {"http://1.2.3.4/", "/"},
                           {"file:///C:/x", "y"}});
  Rng rng(11);
  Comparison comparison;
  Url base;
  for (int i = 0; i < 400'000; ++i) {
    const Row& row = rows[rng.Below(rows.size())];
    if (i % 8 == 0) {
      const std::string text = rng.Below(4) == 0 ? Mutated(row.first, rng) : row.first;
      if (base.Assign(text) != UrlStatus::kOk) base.Assign("http://a/b");
    }
    comparison.Compare(Mutated(row.second, rng), base);
    if (HasFatalFailure()) return;
  }
}

// Short texts of the bytes that matter, all of them: what random mutation may miss.
TEST(LinkTest, FastPathEqualsStateMachineOnAllShortTexts) {
  constexpr std::string_view kBytes = "a0/.:?#%2e\\ -";
  Comparison comparison;
  const Url bases[] = {*Url::Parse("http://h/b/c?q#f"), *Url::Parse("https://h"), *Url::Parse("http://u@1.2.3.4:8/x/")};
  for (size_t length = 0; length <= 4; ++length) {
    size_t count = 1;
    for (size_t i = 0; i < length; ++i) count *= kBytes.size();
    for (size_t number = 0; number < count; ++number) {
      std::string text;
      for (size_t i = 0, n = number; i < length; ++i, n /= kBytes.size()) text += kBytes[n % kBytes.size()];
      comparison.Compare(text, bases[number % 3]);
      comparison.Compare("http://h" + text, bases[0]);
      comparison.Compare("//h/" + text, bases[1]);
      if (HasFatalFailure()) return;
    }
  }
}

// Each text stands against a page that must not be touched, before and behind it.
class GuardedPage {
 public:
  GuardedPage() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = static_cast<char*>(mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_READ | PROT_WRITE);
  }
  ~GuardedPage() { munmap(memory_, 3 * page_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  std::string_view AtEnd(std::string_view text) {
    char* const to = memory_ + 2 * page_ - text.size();
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  std::string_view AtBegin(std::string_view text) {
    std::memcpy(memory_ + page_, text.data(), text.size());
    return {memory_ + page_, text.size()};
  }

 private:
  size_t page_;
  char* memory_;
};

TEST(LinkTest, NothingIsReadOutsideTheText) {
  GuardedPage page;
  Rng rng(3);
  const Url base = *Url::Parse("https://user@example.com:444/a/b/c?d#e");
  Link link;
  for (const std::string_view text : {"https://example.com/a/b?c=d#e",
                                      "http://example.com",
                                      "https://",
                                      "http:/",
                                      "h",
                                      "/a/%2",
                                      "/%2e",
                                      "a/..",
                                      "%",
                                      "#",
                                      "?%4",
                                      "//h:8",
                                      "//[::1]",
                                      "http://1.2.3",
                                      "\xe2\x82",
                                      "mailto:x",
                                      "//x%4",
                                      " \t ",
                                      "../../.",
                                      "http://\xc3\xa9.x/"}) {
    std::string mutated(text);
    for (int i = 0; i < 500; ++i) {
      for (size_t cut = 0; cut <= mutated.size(); ++cut) {
        ResolveLink(page.AtEnd(mutated.substr(0, cut)), base, {}, link);
        ResolveLink(page.AtBegin(mutated.substr(cut)), base, {}, link);
      }
      mutated = Mutated(std::string(text), rng);
    }
  }
  EXPECT_EQ(ResolveLink(page.AtEnd("/x"), base, {}, link), LinkOutcome::kCrawlable);
}

}  // namespace
}  // namespace portolan
