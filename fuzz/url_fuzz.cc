// Any bytes as a base and a link, parted by the first line end; the first byte chooses the canonical rules.
//
// Held: offsets are those of the drawing; a serialised URL parses to itself; the fast path agrees with the state
// machine; a canonical form is its own canonical form and parses to itself; a link's outcome and hash are those of its
// parts; SURT keys are one word; a domain is a suffix of its host; an encoder changes nothing but the query.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "url/canonical.h"
#include "url/domain.h"
#include "url/fast_path.h"
#include "url/link.h"
#include "url/parser.h"
#include "url/surt.h"
#include "url/url.h"

namespace portolan {
namespace {

void CheckUrl(const Url& url) {
  CHECK(url.CheckOffsets(), "{}", url.href());
  Url again;
  CHECK(UrlParser(again, nullptr).Run(url.href(), true) == UrlStatus::kOk, "{}", url.href());
  CHECK(again.IdenticalTo(url), "{} parses to {}", url.href(), again.href());
}

void CheckFastPath(std::string_view text, const Url* base) {
  for (const bool with_fragment : {false, true}) {
    Url fast;
    if (!UrlFastPath::Resolve(text, base, with_fragment, fast)) continue;
    Url slow;
    CHECK(UrlParser(slow, base).Run(text, with_fragment) == UrlStatus::kOk);
    CHECK(fast.IdenticalTo(slow), "{} is not {}", fast.href(), slow.href());
  }
}

void CheckCanonical(const Url& url, CanonicalRules rules) {
  Url canonical = url;
  if (!Canonicalize(canonical, rules)) {
    CHECK(canonical.IdenticalTo(url));
    return;
  }
  CheckUrl(canonical);
  Url twice = canonical;
  CHECK(Canonicalize(twice, rules));
  CHECK(twice.IdenticalTo(canonical), "{} and then {}", canonical.href(), twice.href());
}

void CheckLink(std::string_view text, const Url& base, const LinkOptions& options) {
  Link link;
  const LinkOutcome outcome = ResolveLink(text, base, options, link);
  Url url;
  const UrlStatus status = UrlParser(url, &base).Run(text, true);
  if (outcome != LinkOutcome::kOtherScheme) CHECK((outcome == LinkOutcome::kInvalid) == (status != UrlStatus::kOk));
  if (outcome != LinkOutcome::kCrawlable) return;
  CHECK(Canonicalize(url, options.rules));
  CHECK(link.url.IdenticalTo(url), "{} is not {}", link.url.href(), url.href());
  CHECK(link.hash == Hash64(url.href()) && link.host_hash == Hash64(url.hostname()));
}

// Writes every other character, with bytes from everywhere, and has a state.
class OddEncoder : public QueryEncoder {
 public:
  uint32_t Encode(uint32_t code_point, std::string& bytes) override {
    CHECK(code_point < 0xd800 || (code_point > 0xdfff && code_point < 0x110000));
    if (code_point < 0x80) {
      bytes += static_cast<char>(code_point);
    } else if (code_point % 2 == 0) {
      return code_point;
    } else {
      bytes += static_cast<char>(code_point >> 1);
      bytes += static_cast<char>(code_point >> 8);
      open_ = true;
    }
    return 0;
  }
  void End(std::string& bytes) override {
    if (open_) bytes += "#'\x1b";
    open_ = false;
  }

 private:
  bool open_ = false;
};

void CheckQueryEncoder(std::string_view text, const Url& base) {
  OddEncoder encoder;
  Url plain;
  Url encoded;
  const UrlStatus status = encoded.Assign(text, &base, &encoder);
  CHECK(status == plain.Assign(text, &base));
  if (status != UrlStatus::kOk) return;
  CheckUrl(encoded);
  CHECK(encoded.has_query() == plain.has_query() && encoded.hash() == plain.hash());
  CHECK(encoded.href().substr(0, encoded.size() - encoded.search().size() - encoded.hash().size()) ==
        plain.href().substr(0, plain.size() - plain.search().size() - plain.hash().size()));
}

void CheckKeys(const Url& url) {
  std::string key;
  AppendSurtKey(url, key);
  for (const char c : key) CHECK(static_cast<uint8_t>(c) > ' ' && static_cast<uint8_t>(c) < 0x7f, "{}", key);
  static const auto suffixes = PublicSuffixes::Builtin();
  for (const auto choice : {SuffixChoice::kIcann, SuffixChoice::kIcannAndPrivate}) {
    const std::string_view domain = suffixes->PayLevelDomain(url, choice);
    CHECK(domain.empty() == url.hostname().empty());
    CHECK(url.hostname().find(domain) != std::string_view::npos);
  }
}

}  // namespace
}  // namespace portolan

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  if (size < 2) return 0;
  LinkOptions options;
  options.rules = CanonicalRules::FromBits(data[0] | (data[1] & 3U) << 8);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string_view base_text = text.substr(0, line);
  const std::string_view href = line == text.size() ? text : text.substr(line + 1);

  Url base;
  CheckFastPath(base_text, nullptr);
  if (base.Assign(base_text) != UrlStatus::kOk) {
    CHECK(base.IdenticalTo(Url()));
    CHECK(base.Assign("https://user@host.example:81/a/b?c#d") == UrlStatus::kOk);
  }
  CheckUrl(base);
  CheckCanonical(base, options.rules);
  CheckKeys(base);

  CheckFastPath(href, &base);
  CheckLink(href, base, options);
  CheckQueryEncoder(href, base);
  Url url;
  if (url.Assign(href, &base) == UrlStatus::kOk) {
    CheckUrl(url);
    CheckCanonical(url, options.rules);
    CheckKeys(url);
  }
  return 0;
}
