// Any bytes as a block list: a list or an error with the file's name; a name is in the list if and only if a line of it
// says so.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rules/block_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  BlockList::Builder builder(1000);
  if (const Status status = builder.Add(text, "fuzz.txt"); !status) {
    CHECK(status.error().message().starts_with("fuzz.txt:"), "'{}'", status.error().message());
    return 0;
  }
  const auto list = builder.Finish();
  for (const std::string_view host : {"example.org", "www.example.org", "ads.example", "a.b.ads.example", "org",
                                      "xn--bcher-kva.example", "127.0.0.1", "[::1]", "localhost"}) {
    CHECK(list->Has(host) == BlockList::LineThatBlocks(text, host).has_value(), "{}", host);
  }
  return 0;
}
