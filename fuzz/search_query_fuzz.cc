// Any bytes as a question: a query or a refusal with a reason; what was read makes a plan of bounded size, which
// becomes a query of Xapian's and can be sent to a server.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "search/query_plan.h"
#include "search/snippet.h"
#include "search/xapian_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto query = UserQuery::Parse(text);
  if (!query) {
    CHECK(!query.error().message().empty());
    return 0;
  }
  const auto plan = QueryPlan::Make(*query, {"en", "de", "fr"}, {});
  if (!plan) {
    CHECK(plan.error().code() == ErrorCode::kInvalidArgument);
    return 0;
  }
  CHECK(plan->terms().size() <= 4 * kMaxPlanTerms);
  const std::string wire = WireQuery(*plan);
  CHECK(!wire.empty());
  const MarkedText snippet = MakeSnippet(text, plan->marks());
  CHECK(snippet.size() % 2 == 1);
  return 0;
}
