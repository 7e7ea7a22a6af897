// What the search for duplicates reads: any bytes as a line of the crawl log, as a record of the file of pages, and as
// a record of near-duplicates' log. Each gives a page or nothing, and a record that is written again has the same
// bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "content/near_seen.h"
#include "follow/dup_pages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string again;
  if (const auto near = DecodeNearPage(bytes)) {
    EncodeNearPage(*near, again);
    CHECK(again == bytes);
  }
  if (const auto page = DecodeDupPage(bytes)) {
    EncodeDupPage(*page, again);
    CHECK(again == bytes);
  }
  std::string url;
  if (const auto page = DupPageOfLine(bytes, url)) {
    CHECK(page->url == url && (page->similarity != 0 || page->fingerprint != 0));
    EncodeDupPage(*page, again);
    CHECK(DecodeDupPage(again) == page);
  }
  return 0;
}
