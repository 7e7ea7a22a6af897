// Any bytes as what a server of Xapian's protocol sends: each reader gives a value within its bounds, or an error.

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "search/xapian_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const QueryPlan plan = QueryPlan::Make(*UserQuery::Parse("white whale"), {"en"}, {}).value();
  if (const auto message = TakeWireMessage(bytes)) {
    CHECK(message->size <= size && message->body.size() <= message->size);
  } else {
    CHECK(message.error().code() == ErrorCode::kNotFound || message.error().code() == ErrorCode::kCorrupt);
  }
  if (const auto update = ParseWireUpdate(bytes)) CHECK(update->documents <= UINT32_MAX);
  if (const auto statistics = ParseWireStatistics(bytes, plan)) {
    for (const auto& [term, counts] : statistics->terms) {
      CHECK(counts.documents <= statistics->documents);
      CHECK(std::isfinite(statistics->Idf(term)) && statistics->Idf(term) > 0);
    }
  }
  if (const auto hits = ParseWireResults(bytes, 10, 100)) {
    CHECK(hits->hits.size() <= 10 && hits->matches >= hits->hits.size());
    for (const PartHit& hit : hits->hits) CHECK(std::isfinite(hit.score) && hit.docid > 0);
  }
  if (const auto term = ParseWireTerm(bytes, "Lde")) CHECK(term->first.size() <= size + 3);
  [[maybe_unused]] const auto value = ParseWireValue(bytes);
  CHECK(WireErrorText(bytes).size() <= 1300);
  return 0;
}
