// Any bytes as a sitemap or feed: entries within the limits, the same ones however the bytes are cut.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "robots/sitemap.h"

namespace {

struct Read {
  portolan::SitemapOutcome outcome;
  portolan::SitemapKind kind;
  std::vector<std::string> urls;
  bool operator==(const Read&) const = default;
};

Read Run(std::string_view bytes, size_t piece) {
  const portolan::SitemapLimits limits{.max_entries = 20, .max_bytes = 20'000, .max_depth = 10, .max_url = 100};
  Read read;
  portolan::SitemapParser parser(limits, [&](portolan::SitemapEntry& entry) {
    CHECK(!entry.url.empty() && entry.url.size() <= limits.max_url);
    CHECK(!entry.priority || (*entry.priority >= 0 && *entry.priority <= 1));
    read.urls.push_back(entry.url);
    return true;
  });
  for (size_t at = 0; at < bytes.size(); at += piece) parser.Feed(bytes.substr(at, piece));
  read.outcome = parser.Finish();
  read.kind = parser.kind();
  CHECK(read.outcome != portolan::SitemapOutcome::kGoing);
  CHECK(read.urls.size() == parser.entries() && read.urls.size() <= limits.max_entries);
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = Run(bytes, bytes.size() + 1);
  if (!bytes.starts_with("\x1f\x8b")) CHECK(whole == Run(bytes, 1));
  CHECK(whole.urls.size() >= Run(bytes, 13).urls.size() || bytes.starts_with("\x1f\x8b"));
  return 0;
}
