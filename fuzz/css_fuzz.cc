// Any bytes as a style sheet: URLs without blanks around them, none that are never fetched, no more bytes than the
// sheet had (three of U+FFFD for a NUL), the same ones each time; and every plain "url(x)" that stands alone is found.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "html/css_links.h"
#include "html/link_values.h"

namespace {

std::vector<std::string> Read(std::string_view css) {
  const std::vector<char> exact(css.begin(), css.end());
  portolan::StyleLinkReader reader({exact.data(), exact.size()});
  std::vector<std::string> urls;
  size_t bytes = 0;
  while (const auto link = reader.Next()) {
    CHECK(!link->url.empty() && link->url == portolan::TrimHtmlSpace(link->url));
    CHECK(link->url.front() != '#' && !portolan::StartsWithIgnoringCase(link->url, "data:"));
    bytes += link->url.size();
    urls.emplace_back(link->url);
  }
  CHECK(!reader.Next());
  CHECK(bytes <= 3 * css.size());
  return urls;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view css(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> urls = Read(css);
  CHECK(urls == Read(css));
  // Before everything, a URL does not change what follows it.
  const std::string after = "a{b:url(x)}" + std::string(css);
  const std::vector<std::string> more = Read(after);
  CHECK(more.size() == urls.size() + 1 && more[0] == "x");
  CHECK(std::vector<std::string>(more.begin() + 1, more.end()) == urls);

  const portolan::CharsetDecision decision = portolan::SniffStyleCharset(css, "");
  CHECK(decision.bom_bytes <= css.size());
  return 0;
}
